//! Inventories. Contract: "Inventory (read shape)"; `GET /v1/public/inventories`, a bare array, and
//! `GET /v1/public/inventories/{inventory_id}`.

use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::field::{Family, Field, JsonType, List, ListedField, Single};

pub const PATH: &str = "/v1/public/inventories";
pub const ONE_PATH: &str = "/v1/public/inventories/{inventory_id}";

/// An inventory as it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inventory {
    /// Date-times here and below are ISO 8601 in UTC.
    pub created_at: String,
    pub updated_at: String,
    pub id: Option<String>,
    /// The short name of the inventory, where `id` is the service's own.
    pub inventory_id: String,
    pub name: Option<String>,
    pub status: Option<String>,
    pub record_source: Option<String>,
    pub record_source_detail: Option<String>,
    pub inventory_status: Option<String>,
    pub currency: Option<String>,
    pub available: Option<i64>,
    pub committed: Option<i64>,
    pub unavailable: Option<i64>,
    pub initial_value: Option<i64>,
    pub total_inventory: Option<i64>,
    pub inventory_value: Option<Number>,
    pub unit_price: Option<Number>,
    pub warehouse_id: Option<String>,
    pub item_ids: Option<Vec<String>>,
    pub date: Option<String>,
}

/// The fields of [`Inventory`] as data.
pub const READ_FIELDS: &[Field] = &[
    Field::required("created_at", JsonType::String, "when the service first had it"),
    Field::required("updated_at", JsonType::String, "when anything of it last changed"),
    Field::nullable("id", JsonType::String, "the service's id"),
    Field::optional("inventory_id", JsonType::String, "the inventory's short name"),
    Field::nullable("name", JsonType::String, "what it is called"),
    Field::nullable("status", JsonType::String, "such as active"),
    Field::nullable("record_source", JsonType::String, "where it came from"),
    Field::nullable("record_source_detail", JsonType::String, "more of where it came from"),
    Field::nullable("inventory_status", JsonType::String, "such as in stock"),
    Field::nullable("currency", JsonType::String, "currency code of the values, such as EUR"),
    Field::nullable("available", JsonType::Integer, "units that can be sold"),
    Field::nullable("committed", JsonType::Integer, "units that are promised"),
    Field::nullable("unavailable", JsonType::Integer, "units that are there and can't be sold"),
    Field::nullable("initial_value", JsonType::Integer, "units that it began with"),
    Field::nullable("total_inventory", JsonType::Integer, "all units"),
    Field::nullable("inventory_value", JsonType::Number, "what all units are worth"),
    Field::nullable("unit_price", JsonType::Number, "what one unit is worth"),
    Field::nullable("warehouse_id", JsonType::String, "where it lies"),
    Field::nullable("item_ids", JsonType::Strings, "the items of which it is an inventory"),
    Field::nullable("date", JsonType::String, "the day that the figures are of"),
];

/// `GET /v1/public/inventories`: a bare array.
pub static LIST: List =
    List { name: "inventories", family: Family::Public, path: PATH, size: "limit", fields: LISTED_FIELDS };

/// `GET /v1/public/inventories/{inventory_id}`.
pub static SINGLE: Single = Single { name: "inventories", path: PATH, has_external_id: true, fields: LISTED_FIELDS };

const LISTED_FIELDS: &[ListedField] = &[
    ListedField::date_time("created_at"),
    ListedField::date_time("updated_at"),
    ListedField::plain("id"),
    ListedField::plain("inventory_id"),
    ListedField::plain("name"),
    ListedField::plain("status"),
    ListedField::plain("record_source"),
    ListedField::plain("record_source_detail"),
    ListedField::plain("inventory_status"),
    ListedField::plain("currency"),
    ListedField::plain("available"),
    ListedField::plain("committed"),
    ListedField::plain("unavailable"),
    ListedField::plain("initial_value"),
    ListedField::plain("total_inventory"),
    ListedField::plain("inventory_value"),
    ListedField::plain("unit_price"),
    ListedField::plain("warehouse_id"),
    ListedField::plain("item_ids"),
    ListedField::date_time("date"),
];

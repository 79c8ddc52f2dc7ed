//! Inventories. Contract: "Inventory (read shape)"; `GET /v1/public/inventories`, a bare array, and
//! `GET /v1/public/inventories/{inventory_id}`.

use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::schema::{Family, Field, JsonType, List, ListedField, Single};

pub const PATH: &str = "/v1/public/inventories";
pub const ONE_PATH: &str = "/v1/public/inventories/{inventory_id}";

/// An inventory in responses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inventory {
    /// Date-times are ISO 8601 in UTC.
    pub created_at: String,
    pub updated_at: String,
    pub id: Option<String>,
    /// The short name of the inventory; `id` is the service's.
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
    /// The caller's identifier. Not in the contract.
    pub external_id: Option<String>,
}

/// The fields of [`Inventory`] as data. The contract shows all but the last.
pub const READ_FIELDS: &[Field] = &[
    Field::required("created_at", JsonType::String, "time of creation"),
    Field::required("updated_at", JsonType::String, "time of the last change"),
    Field::nullable("id", JsonType::String, "the service's id"),
    Field::optional("inventory_id", JsonType::String, "the inventory's short name"),
    Field::nullable("name", JsonType::String, "name"),
    Field::nullable("status", JsonType::String, "such as active"),
    Field::nullable("record_source", JsonType::String, "origin"),
    Field::nullable("record_source_detail", JsonType::String, "details of the origin"),
    Field::nullable("inventory_status", JsonType::String, "such as in stock"),
    Field::nullable("currency", JsonType::String, "currency code of the values, such as EUR"),
    Field::nullable("available", JsonType::Integer, "units for sale"),
    Field::nullable("committed", JsonType::Integer, "reserved units"),
    Field::nullable("unavailable", JsonType::Integer, "units in stock that are not for sale"),
    Field::nullable("initial_value", JsonType::Integer, "initial number of units"),
    Field::nullable("total_inventory", JsonType::Integer, "all units"),
    Field::nullable("inventory_value", JsonType::Number, "value of all units"),
    Field::nullable("unit_price", JsonType::Number, "value of one unit"),
    Field::nullable("warehouse_id", JsonType::String, "id of the warehouse"),
    Field::nullable("item_ids", JsonType::Strings, "ids of the items in this inventory"),
    Field::nullable("date", JsonType::String, "date of the figures"),
    Field::nullable("external_id", JsonType::String, "your own identifier"),
];

/// `GET /v1/public/inventories`: a bare array.
pub static LIST: List = List {
    name: "inventories",
    family: Family::Public,
    path: PATH,
    size: "limit",
    fields: LISTED_FIELDS,
    known_by: &["inventory_id", "external_id", "name"],
};

/// `GET /v1/public/inventories/{inventory_id}`.
pub static SINGLE: Single = Single {
    name: "inventories",
    path: PATH,
    has_external_id: true,
    id_fields: &["id", "inventory_id"],
    fields: LISTED_FIELDS,
};

const LISTED_FIELDS: &[ListedField] = &[
    ListedField::date_time("created_at"),
    ListedField::date_time("updated_at"),
    ListedField::text("id"),
    ListedField::text("inventory_id"),
    ListedField::text("name"),
    ListedField::text("status"),
    ListedField::text("record_source"),
    ListedField::text("record_source_detail"),
    ListedField::text("inventory_status"),
    ListedField::text("currency"),
    ListedField::integer("available"),
    ListedField::integer("committed"),
    ListedField::integer("unavailable"),
    ListedField::integer("initial_value"),
    ListedField::integer("total_inventory"),
    ListedField::number("inventory_value"),
    ListedField::number("unit_price"),
    ListedField::text("warehouse_id"),
    ListedField::texts("item_ids"),
    ListedField::date_time("date"),
];

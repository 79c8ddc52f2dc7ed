//! Inventory transactions. Contract: "Inventory transaction"; `POST /v1/public/inventory-transactions`, and `GET` and `PUT` of a
//! single transaction. There is no list of transactions.

use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;

use super::reference;
use crate::schema::{Call, Field, Input, JsonType, ListedField, Method, Single};

pub const PATH: &str = "/v1/public/inventory-transactions";
pub const ONE_PATH: &str = "/v1/public/inventory-transactions/{transaction_id}";

/// Body of the `POST` and of the `PUT`.
pub const INPUT_FIELDS: &[Field] = &[
    Field::required("transactionType", JsonType::String, "such as in, out or adjust"),
    Field::nullable("inventoryId", JsonType::String, "the inventory, by the service's id"),
    Field::nullable("inventoryExternalId", JsonType::String, "the inventory, by your own identifier"),
    Field::nullable("amount", JsonType::Integer, "how many units, where transactionAmount does not say it"),
    Field::nullable("transactionAmount", JsonType::Integer, "how many units"),
    Field::nullable("transactionDate", JsonType::DateTime, "when it happened: an ISO 8601 date-time"),
    Field::nullable("status", JsonType::String, "such as done"),
    Field::nullable("inventoryType", JsonType::String, "which figure moves: available, committed or unavailable"),
    Field::nullable("useUnitValue", JsonType::Boolean, "whether price is of one unit and not of all"),
    Field::nullable("price", JsonType::Number, "of one unit or of all, see useUnitValue").money(),
];

/// An update if the sheet has an id, otherwise a create. Creates are not idempotent.
pub(crate) static INPUT: Input = Input {
    name: "inventory-transaction",
    plural: "inventory transactions",
    section: "Inventory transaction",
    body: INPUT_FIELDS,
    id: Some(Field::optional("transaction_id", JsonType::String, "the service's id of the transaction, to update it")),
    key: &["transaction_id"],
    create: Some(Call { method: Method::Post, path: PATH, repeatable: false }),
    update: Some(Call { method: Method::Put, path: ONE_PATH, repeatable: true }),
    answer_id: "transaction_id",
    references: reference::OF_TRANSACTIONS,
    needs_one_of: NEEDS_ONE_OF,
    quantities: &["transactionAmount", "amount"],
};

/// The counted units in a record of [`COUNT`].
pub const COUNTED: &str = "counted";
/// The units in a record of [`COUNT`] that should have been counted.
pub const EXPECTED: &str = "expected";
/// The moved units of a transaction.
pub const TRANSACTION_AMOUNT: &str = "transactionAmount";

const COUNT_FIELDS: &[Field] = &[
    Field::required("transactionType", JsonType::String, "such as adjust: a correction, up or down"),
    Field::nullable("inventoryId", JsonType::String, "the inventory, by the service's id"),
    Field::nullable("inventoryExternalId", JsonType::String, "the inventory, by your own identifier"),
    Field::required(COUNTED, JsonType::Integer, "how many units were counted"),
    Field::optional(EXPECTED, JsonType::Integer, "how many units should be there: compared with the service, not sent"),
    Field::nullable("transactionDate", JsonType::DateTime, "when it was counted: an ISO 8601 date-time"),
    Field::nullable("status", JsonType::String, "such as done"),
    Field::nullable("inventoryType", JsonType::String, "which figure was counted: available, committed or unavailable"),
    Field::nullable("useUnitValue", JsonType::Boolean, "whether price is of one unit and not of all"),
    Field::nullable("price", JsonType::Number, "of one unit or of all, see useUnitValue").money(),
];

/// A stock count, for templates: not a record of the service. Each counted inventory becomes a new transaction for the difference from
/// its stock in the service.
pub static COUNT: Input = Input {
    name: "stock-count",
    plural: "stock counts",
    section: INPUT.section,
    body: COUNT_FIELDS,
    id: None,
    key: NEEDS_ONE_OF,
    create: Some(Call { method: Method::Post, path: PATH, repeatable: false }),
    update: None,
    answer_id: INPUT.answer_id,
    references: reference::OF_TRANSACTIONS,
    needs_one_of: NEEDS_ONE_OF,
    quantities: &[COUNTED],
};

/// Fields that identify the inventory of a new transaction.
pub const NEEDS_ONE_OF: &[&str] = &["inventoryId", "inventoryExternalId"];

/// Response of the `POST` and of the `PUT`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TransactionResult {
    pub ok: bool,
    pub status: String,
    #[serde(default)]
    pub transaction_id: Option<String>,
    #[serde(default)]
    pub inventory_id: Option<String>,
    #[serde(default)]
    pub ctx_id: Option<String>,
}

/// A transaction in responses. Missing values are null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Transaction {
    /// Date-times are ISO 8601 in UTC.
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub updated_at: String,
    pub id: String,
    pub transaction_id: String,
    /// The inventory's short name.
    pub inventory_id: String,
    /// The inventory's id.
    pub inventory_uuid: String,
    pub inventory_type: Option<String>,
    pub transaction_type: String,
    pub status: Option<String>,
    #[schema(value_type = f64)]
    pub amount: Number,
    #[schema(value_type = f64)]
    pub transaction_amount: Number,
    pub use_unit_value: bool,
    #[schema(value_type = Option<f64>)]
    pub price: Option<Number>,
    #[schema(value_type = Option<f64>)]
    pub total_price: Option<Number>,
    #[schema(value_type = Option<f64>)]
    pub average_price: Option<Number>,
    #[schema(format = DateTime)]
    pub transaction_date: String,
    pub usage_status: String,
}

/// The fields of [`Transaction`] as data.
pub const READ_FIELDS: &[Field] = &[
    Field::required("created_at", JsonType::String, "time of creation"),
    Field::required("updated_at", JsonType::String, "time of the last change"),
    Field::required("id", JsonType::String, "the service's id"),
    Field::required("transaction_id", JsonType::String, "the same as id"),
    Field::required("inventory_id", JsonType::String, "the inventory's short name"),
    Field::required("inventory_uuid", JsonType::String, "the inventory's id"),
    Field::nullable("inventory_type", JsonType::String, "which figure moves"),
    Field::required("transaction_type", JsonType::String, "such as in, out or adjust"),
    Field::nullable("status", JsonType::String, "such as done"),
    Field::required("amount", JsonType::Number, "how many units"),
    Field::required("transaction_amount", JsonType::Integer, "how many units moved"),
    Field::required("use_unit_value", JsonType::Boolean, "whether price is of one unit and not of all"),
    Field::nullable("price", JsonType::Number, "of one unit or of all, see use_unit_value"),
    Field::nullable("total_price", JsonType::Number, "of all units"),
    Field::nullable("average_price", JsonType::Number, "of one unit"),
    Field::required("transaction_date", JsonType::String, "when it happened"),
    Field::required("usage_status", JsonType::String, "applied or not_applied"),
];

/// `GET /v1/public/inventory-transactions/{transaction_id}`.
pub static SINGLE: Single = Single {
    name: "transactions",
    path: PATH,
    has_external_id: false,
    id_fields: &["id", "transaction_id"],
    fields: &[
        ListedField::date_time("created_at"),
        ListedField::date_time("updated_at"),
        ListedField::text("id"),
        ListedField::text("transaction_id"),
        ListedField::text("inventory_id"),
        ListedField::text("inventory_uuid"),
        ListedField::text("inventory_type"),
        ListedField::text("transaction_type"),
        ListedField::text("status"),
        ListedField::number("amount"),
        ListedField::number("transaction_amount"),
        ListedField::boolean("use_unit_value"),
        ListedField::number("price"),
        ListedField::number("total_price"),
        ListedField::number("average_price"),
        ListedField::date_time("transaction_date"),
        ListedField::text("usage_status"),
    ],
};

//! Orders. Contract: "Order (read shape)", "Order update input"; `GET` and `PUT` under `/v1/public/orders`, and `GET
//! /v1/orders/`. The contract does not specify the entries of the two lists; they are orders in the read shape.

use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;

use super::reference;
use crate::schema::{Call, Family, Field, Input, JsonType, List, ListedField, Method, Single};

pub const PATH: &str = "/v1/public/orders";
pub const ONE_PATH: &str = "/v1/public/orders/{order_id}";
/// The list of the older family, with a trailing slash.
pub const OLDER_PATH: &str = "/v1/orders/";

/// Body of `PUT /v1/public/orders/{order_id}`. The contract does not specify the required fields; the service requires `order`.
pub const INPUT_FIELDS: &[Field] = &[
    Field::required("order", JsonType::Object(ORDER_FIELDS), "the changes; absent fields stay as they are"),
    Field::optional("createMissingItems", JsonType::Boolean, "whether items that do not exist are created"),
    Field::optional("triggerWorkflows", JsonType::Boolean, "whether the update triggers workflows"),
];

/// The path contains the id of the order, or its external id if the sheet has no id.
pub(crate) static INPUT: Input = Input {
    name: "order",
    plural: "orders",
    section: "Order update input",
    body: INPUT_FIELDS,
    id: Some(Field::optional("order_id", JsonType::String, "the service's id of the order")),
    key: &["order_id", "externalId"],
    create: None,
    update: Some(Call { method: Method::Put, path: ONE_PATH, repeatable: true }),
    answer_id: "order_id",
    references: reference::OF_ORDERS,
    needs_one_of: NEEDS_ONE_OF,
    quantities: &[],
};

/// Fields that identify the item of a line.
pub const NEEDS_ONE_OF: &[&str] = &["item_id", "itemExternalId"];

/// The `order` object of the update input.
const ORDER_FIELDS: &[Field] = &[
    Field::optional("externalId", JsonType::String, "your own identifier of the order"),
    Field::optional("items", JsonType::Objects(LINE_FIELDS), "the order's lines; they replace all lines that it had"),
    Field::optional("companyId", JsonType::String, "the company, by the service's id"),
    Field::optional("companyExternalId", JsonType::String, "the company, by your own identifier"),
    Field::optional("orderAt", JsonType::DateTime, "when it was ordered: an ISO 8601 date-time"),
    Field::optional("deliveryStatus", JsonType::String, "such as delivered"),
];

/// A line of an order.
const LINE_FIELDS: &[Field] = &[
    Field::optional("item_id", JsonType::String, "the item, by the service's id"),
    Field::optional("itemExternalId", JsonType::String, "the item, by your own identifier"),
    Field::optional("quantity", JsonType::Number, "how many"),
    Field::optional("price", JsonType::Number, "price of one, without tax").money(),
    Field::optional("tax", JsonType::Number, "the line's tax as an amount").money(),
    Field::optional("tax_rate", JsonType::Number, "the line's tax in percent, where there is no amount"),
];

/// An order in responses: `GET /v1/public/orders/{order_id}` and the lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    pub id: String,
    /// Date-times are ISO 8601 in UTC.
    pub order_at: String,
    pub created_at: String,
    pub updated_at: String,
    pub order_id: Option<i64>,
    pub status: Option<String>,
    pub delivery_status: Option<String>,
    pub total_price: Option<Number>,
    pub total_price_without_tax: Option<Number>,
    pub number_item: Option<i64>,
    pub currency: Option<String>,
    pub company_id: Option<String>,
    pub contact_id: Option<String>,
    /// The caller's identifier. Not in the contract.
    pub external_id: Option<String>,
}

/// The fields of [`Order`] as data. The contract shows all but the last.
pub const READ_FIELDS: &[Field] = &[
    Field::required("id", JsonType::String, "the service's id"),
    Field::required("order_at", JsonType::String, "time of the order"),
    Field::required("created_at", JsonType::String, "time of creation"),
    Field::required("updated_at", JsonType::String, "time of the last change"),
    Field::nullable("order_id", JsonType::Integer, "running number of the order"),
    Field::nullable("status", JsonType::String, "such as open"),
    Field::nullable("delivery_status", JsonType::String, "such as delivered"),
    Field::nullable("total_price", JsonType::Number, "with tax"),
    Field::nullable("total_price_without_tax", JsonType::Number, "without tax"),
    Field::nullable("number_item", JsonType::Integer, "number of lines"),
    Field::nullable("currency", JsonType::String, "currency code of the prices, such as EUR"),
    Field::nullable("company_id", JsonType::String, "id of the company"),
    Field::nullable("contact_id", JsonType::String, "id of the contact"),
    Field::nullable("external_id", JsonType::String, "your own identifier"),
];

/// A line of an order as our own service returns it with the order. Not in the contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderLine {
    pub item_id: String,
    #[serde(rename = "itemExternalId")]
    pub item_external_id: Option<String>,
    pub quantity: Number,
    pub price: Number,
    pub tax: Option<Number>,
    pub tax_rate: Option<Number>,
}

/// The fields that a single order has beyond [`READ_FIELDS`].
pub const SINGLE_FIELDS: &[Field] = &[Field::optional(
    "items",
    JsonType::Objects(READ_LINE_FIELDS),
    "the lines; absent if the service does not know them",
)];

/// The fields of [`OrderLine`] as data, with the names of the update input.
const READ_LINE_FIELDS: &[Field] = &[
    Field::required("item_id", JsonType::String, "the item, by the service's id"),
    Field::nullable("itemExternalId", JsonType::String, "the item, by your own identifier"),
    Field::required("quantity", JsonType::Number, "how many"),
    Field::required("price", JsonType::Number, "price of one, without tax"),
    Field::nullable("tax", JsonType::Number, "the line's tax as an amount"),
    Field::nullable("tax_rate", JsonType::Number, "the line's tax in percent"),
];

/// `GET /v1/public/orders`.
pub static LIST: List =
    List { name: "orders", family: Family::Public, path: PATH, size: "limit", fields: LISTED_FIELDS, known_by: &[] };

/// `GET /v1/orders/`.
pub static OLDER_LIST: List = List {
    name: "orders",
    family: Family::Legacy,
    path: OLDER_PATH,
    size: "amount",
    fields: LISTED_FIELDS,
    known_by: &[],
};

/// `GET /v1/public/orders/{order_id}`.
pub static SINGLE: Single =
    Single { name: "orders", path: PATH, has_external_id: true, id_fields: &["id", "order_id"], fields: LISTED_FIELDS };

const LISTED_FIELDS: &[ListedField] = &[
    ListedField::text("id"),
    ListedField::date_time("order_at"),
    ListedField::date_time("created_at"),
    ListedField::date_time("updated_at"),
    ListedField::text("order_id"),
    ListedField::text("status"),
    ListedField::text("delivery_status"),
    ListedField::number("total_price"),
    ListedField::number("total_price_without_tax"),
    ListedField::integer("number_item"),
    ListedField::text("currency"),
    ListedField::text("company_id"),
    ListedField::text("contact_id"),
];

/// Response of `PUT /v1/public/orders/{order_id}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OrderUpdateResult {
    pub ok: bool,
    pub results: Vec<OrderResult>,
    /// Empty if no workflows were triggered.
    pub job_id: String,
    pub ctx_id: String,
}

/// The result of updating an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OrderResult {
    /// Empty if the order has no external id.
    pub external_id: String,
    pub status: String,
    pub order_id: String,
    pub errors: Vec<String>,
}

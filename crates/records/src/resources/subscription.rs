//! Subscriptions. Contract: "Subscription and sales invoice record"; `POST /v1/subscriptions/create`. The response is
//! not specified there.

use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;

use super::reference;
use crate::schema::{Call, Field, Input, JsonType, Method};

pub const CREATE_PATH: &str = "/v1/subscriptions/create";

/// Body of `POST /v1/subscriptions/create`. The contract does not specify the required fields.
pub const INPUT_FIELDS: &[Field] = &[
    Field::required("cid", JsonType::String, "id of a contact or a company"),
    Field::optional("subscription_status", JsonType::String, "such as active"),
    Field::required("items", JsonType::Objects(BILLED_FIELDS), "the subscribed items"),
    Field::optional("currency", JsonType::String, "currency code, such as EUR"),
];

pub(crate) static INPUT: Input = Input {
    name: "subscription",
    plural: "subscriptions",
    section: "Subscription and sales invoice record",
    body: INPUT_FIELDS,
    id: None,
    key: &[],
    create: Some(Call { method: Method::Post, path: CREATE_PATH, repeatable: false }),
    update: None,
    answer_id: "id",
    references: reference::OF_BILLED,
    needs_one_of: &[],
    quantities: &[],
};

/// An entry of `items` in the inputs of subscriptions and invoices.
pub(super) const BILLED_FIELDS: &[Field] = &[
    Field::required("id", JsonType::String, "the item's id"),
    Field::required("amount", JsonType::Number, "how many"),
];

/// An entry of `items` in responses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BilledItem {
    pub id: String,
    #[schema(value_type = f64)]
    pub amount: Number,
}

/// Response of `POST /v1/subscriptions/create`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Subscription {
    pub ok: bool,
    /// Equal to `subscription_status`: contract, "Errors", point 2.
    pub status: String,
    pub id: String,
    pub cid: String,
    pub subscription_status: String,
    pub items: Vec<BilledItem>,
    pub currency: Option<String>,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub updated_at: String,
    pub ctx_id: String,
}

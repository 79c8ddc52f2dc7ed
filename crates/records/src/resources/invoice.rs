//! Sales invoice records. Contract: "Subscription and sales invoice record"; `POST /v1/invoices/create`. The response
//! is not specified there.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::reference;
use super::subscription::{BILLED_FIELDS, BilledItem};
use crate::schema::{Call, Field, Input, JsonType, Method};

pub const CREATE_PATH: &str = "/v1/invoices/create";

/// Body of `POST /v1/invoices/create`. The contract does not specify the required fields.
pub const INPUT_FIELDS: &[Field] = &[
    Field::required("cid", JsonType::String, "id of a contact or a company"),
    Field::optional("status", JsonType::String, "such as scheduled"),
    Field::required("items", JsonType::Objects(BILLED_FIELDS), "the invoiced items"),
    Field::optional("currency", JsonType::String, "currency code, such as EUR"),
];

pub(crate) static INPUT: Input = Input {
    name: "invoice",
    plural: "invoices",
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

/// Response of `POST /v1/invoices/create`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Invoice {
    pub ok: bool,
    pub status: String,
    pub id: String,
    pub cid: String,
    pub items: Vec<BilledItem>,
    pub currency: Option<String>,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub updated_at: String,
    pub ctx_id: String,
}

//! Items (products). Contract: "Item" in "Resources and their fields"; `GET` and `POST /v1/public/items`.

use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;

use super::field::{Family, Field, JsonType, List, ListedField};
use super::kind::{Call, Input, Method};

pub const PATH: &str = "/v1/public/items";
/// The older family's list; its entries are not shown in the contract and are the same.
pub const OLDER_PATH: &str = "/v1/items";

/// Body of `POST /v1/public/items`, an upsert by `externalId`. An absent field is left as it is, a null clears it.
pub const INPUT_FIELDS: &[Field] = &[
    Field::required("externalId", JsonType::String, "your own identifier, such as a SKU; the service matches by it"),
    Field::nullable("name", JsonType::String, "what the item is called"),
    Field::nullable("description", JsonType::String, "longer text"),
    Field::nullable("currency", JsonType::String, "currency code of the prices, such as EUR"),
    Field::nullable("price", JsonType::Number, "selling price"),
    Field::nullable("purchasePrice", JsonType::Number, "what you pay for it"),
    Field::nullable("tax", JsonType::Number, "tax, as your workspace uses it"),
    Field::nullable("status", JsonType::String, "such as active"),
];

pub static INPUT: Input = Input {
    name: "item",
    plural: "items",
    section: "Item",
    body: INPUT_FIELDS,
    id: None,
    key: &["externalId"],
    create: Some(Call { method: Method::Post, path: PATH, repeatable: true }),
    update: None,
    answer_id: "item_id",
};

/// Answer of `POST /v1/public/items`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ItemResult {
    pub ok: bool,
    pub status: String,
    pub external_id: String,
    #[serde(default)]
    pub item_id: Option<String>,
    #[serde(default)]
    pub ctx_id: Option<String>,
}

/// One entry of `data` in `GET /v1/public/items` as our own service answers it. Numbers keep the digits that were sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ItemListed {
    pub id: String,
    pub name: Option<String>,
    #[schema(value_type = Option<f64>)]
    pub price: Option<Number>,
    pub currency: Option<String>,
    pub status: Option<String>,
    #[schema(format = DateTime)]
    pub updated_at: String,
    /// This and what follows is beyond what the contract shows of the list: without it nobody could tell which item of an
    /// upload is which of the list.
    pub external_id: String,
    pub description: Option<String>,
    #[schema(value_type = Option<f64>)]
    pub purchase_price: Option<Number>,
    #[schema(value_type = Option<f64>)]
    pub tax: Option<Number>,
}

/// `GET /v1/public/items`. The entries need not hold the external id.
pub static LIST: List =
    List { name: "items", family: Family::Public, path: PATH, size: "limit", fields: LISTED_FIELDS };

/// `GET /v1/items`.
pub static OLDER_LIST: List =
    List { name: "items", family: Family::Legacy, path: OLDER_PATH, size: "amount", fields: LISTED_FIELDS };

const LISTED_FIELDS: &[ListedField] = &[
    ListedField::plain("id"),
    ListedField::plain("name"),
    ListedField::plain("price"),
    ListedField::plain("currency"),
    ListedField::plain("status"),
    ListedField::date_time("updated_at"),
];

//! Items (products). Contract: "Item" in "Resources and their fields"; `GET` and `POST /v1/public/items`.

use serde::{Deserialize, Serialize};
use serde_json::Number;
use utoipa::ToSchema;

use super::field::{Call, Family, Field, Input, JsonType, List, ListedField};

pub const PATH: &str = "/v1/public/items";
/// The older family's list; its entries are not shown in the contract and are the same.
pub const OLDER_PATH: &str = "/v1/items";

/// Body of `POST /v1/public/items`, an upsert by `externalId`. An absent field is left as it is, a null clears it.
pub static INPUT: Input = Input {
    name: "item",
    plural: "items",
    fields: &[
        Field {
            name: "externalId",
            json: JsonType::String,
            required: true,
            nullable: false,
            doc: "your own identifier, such as a SKU; the service matches by it",
        },
        Field { name: "name", json: JsonType::String, required: false, nullable: true, doc: "what the item is called" },
        Field { name: "description", json: JsonType::String, required: false, nullable: true, doc: "longer text" },
        Field {
            name: "currency",
            json: JsonType::String,
            required: false,
            nullable: true,
            doc: "currency code of the prices, such as EUR",
        },
        Field { name: "price", json: JsonType::Number, required: false, nullable: true, doc: "selling price" },
        Field {
            name: "purchasePrice",
            json: JsonType::Number,
            required: false,
            nullable: true,
            doc: "what you pay for it",
        },
        Field {
            name: "tax",
            json: JsonType::Number,
            required: false,
            nullable: true,
            doc: "tax, as your workspace uses it",
        },
        Field { name: "status", json: JsonType::String, required: false, nullable: true, doc: "such as active" },
    ],
    key: "externalId",
    call: Call { method: "POST", path: PATH, repeatable: true },
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

/// One entry of `data` in `GET /v1/public/items`. Numbers keep the digits that were sent.
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

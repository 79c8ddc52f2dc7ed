//! Items (products). Contract: "Item" in "Resources and their fields"; `GET` and `POST /v1/public/items`.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::schema::{Call, Family, Field, Input, JsonType, List, ListedField, Method, listed_name};

pub const PATH: &str = "/v1/public/items";
/// The list of the older family. The contract does not specify its entries; the service returns the same fields.
pub const OLDER_PATH: &str = "/v1/items";

/// Body of `POST /v1/public/items`, an upsert by `externalId`. Absent fields stay unchanged; null clears a field.
pub const INPUT_FIELDS: &[Field] = &[
    Field::required("externalId", JsonType::String, "your own identifier, such as a SKU, by which the service matches"),
    Field::nullable("name", JsonType::String, "what the item is called"),
    Field::nullable("description", JsonType::String, "longer text"),
    Field::nullable("currency", JsonType::String, "currency code of the prices, such as EUR"),
    Field::nullable("price", JsonType::Number, "selling price").money(),
    Field::nullable("purchasePrice", JsonType::Number, "what you pay for it").money(),
    Field::nullable("tax", JsonType::Number, "tax, as your workspace uses it").money(),
    Field::nullable("status", JsonType::String, "such as active"),
];

/// The input fields with another name in lists, and that name: `purchasePrice` is listed as `purchase_price`.
pub static RENAMED_IN_LISTS: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    let names = INPUT_FIELDS.iter().map(|field| (field.name, listed_name(field.name)));
    names.filter(|(input, listed)| input != listed).collect()
});

pub(crate) static INPUT: Input = Input {
    name: "item",
    plural: "items",
    section: "Item",
    body: INPUT_FIELDS,
    id: None,
    key: &["externalId"],
    create: Some(Call { method: Method::Post, path: PATH, repeatable: true }),
    update: None,
    answer_id: "item_id",
    references: &[],
    needs_one_of: &[],
    quantities: &[],
};

/// Response of `POST /v1/public/items`.
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

/// The fields of an entry of the lists of our own service. Numbers keep the digits as sent. The contract shows only the first six
/// fields; the others let a client match the entries with its own items.
pub const READ_FIELDS: &[Field] = &[
    Field::required("id", JsonType::String, "the service's id"),
    Field::nullable("name", JsonType::String, "name"),
    Field::nullable("price", JsonType::Number, "selling price"),
    Field::nullable("currency", JsonType::String, "currency code of the prices, such as EUR"),
    Field::nullable("status", JsonType::String, "such as active"),
    Field::required("updated_at", JsonType::String, "time of the last change"),
    Field::required("external_id", JsonType::String, "your own identifier"),
    Field::nullable("description", JsonType::String, "description"),
    Field::nullable("purchase_price", JsonType::Number, "purchase price"),
    Field::nullable("tax", JsonType::Number, "tax, as your workspace uses it"),
];

/// `GET /v1/public/items`. Other services may list items without external ids.
pub static LIST: List = List {
    name: "items",
    family: Family::Public,
    path: PATH,
    size: "limit",
    fields: LISTED_FIELDS,
    known_by: &["external_id"],
};

/// `GET /v1/items`.
pub static OLDER_LIST: List = List {
    name: "items",
    family: Family::Legacy,
    path: OLDER_PATH,
    size: "amount",
    fields: LISTED_FIELDS,
    known_by: &["external_id"],
};

const LISTED_FIELDS: &[ListedField] = &[
    ListedField::text("id"),
    ListedField::text("name"),
    ListedField::number("price"),
    ListedField::text("currency"),
    ListedField::text("status"),
    ListedField::date_time("updated_at"),
];

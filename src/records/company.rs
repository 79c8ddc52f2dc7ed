//! Companies. Contract: "Company and contact"; `GET /v1/public/companies`. The fields of a company are not shown there:
//! these are ours, and a company may have any others.

use super::field::{Family, Field, JsonType, List, ListedField};

pub const PATH: &str = "/v1/public/companies";

/// The fields that every entry of the list has, null where nothing is known.
pub const READ_FIELDS: &[Field] = &[
    Field::required("id", JsonType::String, "the service's id"),
    Field::nullable("external_id", JsonType::String, "your own identifier"),
    Field::nullable("name", JsonType::String, "what it is called"),
    Field::nullable("email", JsonType::String, "its address for mail"),
    Field::nullable("phone", JsonType::String, "its telephone number"),
    Field::nullable("status", JsonType::String, "such as active"),
    Field::required("created_at", JsonType::String, "when the service first had it"),
    Field::required("updated_at", JsonType::String, "when anything of it last changed"),
];

/// `GET /v1/public/companies`. What an entry holds is not shown in the contract, so that an export has the columns that it meets.
pub static LIST: List =
    List { name: "companies", family: Family::Public, path: PATH, size: "limit", fields: &[ListedField::plain("id")] };

//! Contacts. Contract: "Company and contact"; `GET /v1/contacts`. The fields are not specified there; contacts may have
//! any further fields.

use crate::schema::{Family, Field, JsonType, List, ListedField};

/// Contacts have only a list of the older family.
pub const PATH: &str = "/v1/contacts";

/// The fields of every entry of the list, null if unknown.
pub const READ_FIELDS: &[Field] = &[
    Field::required("id", JsonType::String, "the service's id"),
    Field::nullable("external_id", JsonType::String, "your own identifier"),
    Field::nullable("name", JsonType::String, "name"),
    Field::nullable("email", JsonType::String, "email address"),
    Field::nullable("phone", JsonType::String, "telephone number"),
    Field::nullable("company_id", JsonType::String, "id of the contact's company"),
    Field::nullable("status", JsonType::String, "such as active"),
    Field::required("created_at", JsonType::String, "time of creation"),
    Field::required("updated_at", JsonType::String, "time of the last change"),
];

/// `GET /v1/contacts`. The contract does not specify the other fields, so an export has a column for each field found.
pub static LIST: List = List {
    name: "contacts",
    family: Family::Legacy,
    path: PATH,
    size: "amount",
    fields: &[ListedField::text("id")],
    known_by: &["external_id", "number", "name"],
};

//! Contacts. Contract: "Company and contact"; `GET /v1/contacts`. The fields of a contact are not shown there: these are
//! ours, and a contact may have any others.

use super::field::{Family, Field, JsonType, List, ListedField};

/// The older family's list, which is the only one.
pub const PATH: &str = "/v1/contacts";

/// The fields that every entry of the list has, null where nothing is known.
pub const READ_FIELDS: &[Field] = &[
    Field::required("id", JsonType::String, "the service's id"),
    Field::nullable("external_id", JsonType::String, "your own identifier"),
    Field::nullable("name", JsonType::String, "what the person is called"),
    Field::nullable("email", JsonType::String, "the person's address for mail"),
    Field::nullable("phone", JsonType::String, "the person's telephone number"),
    Field::nullable("company_id", JsonType::String, "the company that the person works for"),
    Field::nullable("status", JsonType::String, "such as active"),
    Field::required("created_at", JsonType::String, "when the service first had it"),
    Field::required("updated_at", JsonType::String, "when anything of it last changed"),
];

/// `GET /v1/contacts`. What an entry holds is not shown in the contract, so that an export has the columns that it meets.
pub static LIST: List =
    List { name: "contacts", family: Family::Legacy, path: PATH, size: "amount", fields: &[ListedField::plain("id")] };

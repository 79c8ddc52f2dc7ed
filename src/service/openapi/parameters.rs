//! The parameters of operations, with the bounds that the handlers hold.

use serde_json::Value;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::{ObjectBuilder, Required, Type};

use super::super::paging::{DEFAULT_LIMIT, MAX_LIMIT};

/// The page of a list in the public family.
pub const PAGE: &[fn() -> Parameter] = &[page, || size("limit", DEFAULT_LIMIT)];
/// The page of a list in the older family.
pub const OLDER_PAGE: &[fn() -> Parameter] = &[page, || size("amount", DEFAULT_LIMIT)];
/// The page of a list without an envelope.
pub const BARE_PAGE: &[fn() -> Parameter] = &[page, || size("limit", MAX_LIMIT)];

pub const ORDER: &[fn() -> Parameter] = &[order_id];
pub const ORDER_OR_EXTERNAL: &[fn() -> Parameter] = &[order_id, external_id];
pub const INVENTORY: &[fn() -> Parameter] = &[inventory_id, external_id, accept_language];
pub const TRANSACTION: &[fn() -> Parameter] = &[transaction_id];

fn page() -> Parameter {
    from_one("page", "Which page, counted from 1; one past the end is empty".to_owned(), 1)
}

fn size(name: &str, default: u64) -> Parameter {
    from_one(name, format!("Entries on a page; more than {MAX_LIMIT} are taken for {MAX_LIMIT}"), default)
}

fn from_one(name: &str, description: String, default: u64) -> Parameter {
    let schema = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1_usize))
        .maximum(Some(usize::MAX))
        .default(Some(Value::from(default)));
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .description(Some(description))
        .schema(Some(schema))
        .build()
}

fn order_id() -> Parameter {
    in_path("order_id", "The order's id, or its number", "5001")
}

fn inventory_id() -> Parameter {
    in_path("inventory_id", "The inventory's id, or its short name", "INV-1")
}

fn transaction_id() -> Parameter {
    in_path("transaction_id", "The transaction's id", "019a3c00-0006-7000-8000-000000000001")
}

/// The examples are of the demo's records.
fn in_path(name: &str, description: &str, example: &str) -> Parameter {
    let schema = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1));
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .example(Some(Value::from(example)))
        .description(Some(description))
        .schema(Some(schema))
        .build()
}

fn external_id() -> Parameter {
    optional_text(
        "external_id",
        ParameterIn::Query,
        "Your own identifier; where it is given, the path's id does not count",
    )
}

fn accept_language() -> Parameter {
    optional_text("Accept-Language", ParameterIn::Header, "Changes nothing: nothing in the answer is in a language")
}

fn optional_text(name: &str, place: ParameterIn, description: &str) -> Parameter {
    let schema = ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Null]));
    ParameterBuilder::new().name(name).parameter_in(place).description(Some(description)).schema(Some(schema)).build()
}

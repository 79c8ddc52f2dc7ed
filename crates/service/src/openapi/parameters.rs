//! Parameters of operations.

use serde_json::Value;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::{ObjectBuilder, Required, Type};

use crate::idempotency;
use crate::request::{DEFAULT_LIMIT, MAX_LIMIT};

/// Lists of the public family.
pub(super) const PAGE: &[fn() -> Parameter] = &[page, || size("limit", DEFAULT_LIMIT)];
/// Lists of the older family.
pub(super) const OLDER_PAGE: &[fn() -> Parameter] = &[page, || size("amount", DEFAULT_LIMIT)];
/// Lists without an envelope.
pub(super) const BARE_PAGE: &[fn() -> Parameter] = &[page, || size("limit", MAX_LIMIT)];

pub(super) const ORDER: &[fn() -> Parameter] = &[order_id];
pub(super) const ORDER_OR_EXTERNAL: &[fn() -> Parameter] = &[order_id, external_id];
pub(super) const INVENTORY: &[fn() -> Parameter] = &[inventory_id, external_id, accept_language];
pub(super) const TRANSACTION: &[fn() -> Parameter] = &[transaction_id];

fn page() -> Parameter {
    from_one("page", "Page number, from 1; pages past the end are empty".to_owned(), 1)
}

fn size(name: &str, default: u64) -> Parameter {
    from_one(name, format!("Page size; the maximum is {MAX_LIMIT}, larger values are reduced to it"), default)
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
    in_path(
        "order_id",
        "Id or external id of the order; if one order has it as its id, another as its external id, the first",
        "SO-2026-0001",
    )
}

fn inventory_id() -> Parameter {
    in_path("inventory_id", "Id or short name of the inventory", "INV-1")
}

fn transaction_id() -> Parameter {
    in_path("transaction_id", "Id of the transaction", "019a3c00-0006-7000-8000-000000000001")
}

/// Returns a path parameter. The example is the id of a record of the demo.
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

/// The header of all writes.
pub(super) fn idempotency_key() -> Parameter {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(idempotency::MAX_LENGTH))
        .pattern(Some(r#"^([!#-\[\]-~]+|"[!#-\[\]-~]+")$"#));
    ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .description(Some(
            "Your own key of this request, such as a UUID: a repetition with the same key takes no effect, and gets the same response",
        ))
        .schema(Some(schema))
        .build()
}

fn external_id() -> Parameter {
    optional_text(
        "external_id",
        ParameterIn::Query,
        "Your own identifier; it alone selects the record, and the path is not read",
    )
}

fn accept_language() -> Parameter {
    optional_text("Accept-Language", ParameterIn::Header, "Ignored: responses contain no text in a language")
}

fn optional_text(name: &str, place: ParameterIn, description: &str) -> Parameter {
    let schema = ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Null]));
    ParameterBuilder::new().name(name).parameter_in(place).description(Some(description)).schema(Some(schema)).build()
}

//! The parameters of operations, with the bounds that the handlers hold.

use serde_json::Value;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::{ObjectBuilder, Type};

use super::super::paging::{DEFAULT_LIMIT, MAX_LIMIT};

/// The page of a list in the public family.
pub const PAGE: &[fn() -> Parameter] = &[page, limit];

fn page() -> Parameter {
    from_one("page", "Which page, counted from 1; one past the end is empty".to_owned(), 1)
}

fn limit() -> Parameter {
    from_one("limit", format!("Entries on a page; more than {MAX_LIMIT} are taken for {MAX_LIMIT}"), DEFAULT_LIMIT)
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

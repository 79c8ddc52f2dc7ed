//! Reading and validating requests: the JSON body, the parameters, and the rules for fields.

mod body;
mod parameters;
mod rules;
mod validation;

pub(super) use self::body::{JsonObject, discard, read_whole};
pub(super) use self::parameters::{DEFAULT_LIMIT, ExternalId, MAX_LIMIT, PageQuery, QueryParameters, RecordId};
pub(super) use self::rules::{
    BILLING_RULES, DEFAULT_MAX_LENGTH, ITEM_RULES, MAX_ENTRIES, ORDER_RULES, READ_RULES, Rules, TRANSACTION_RULES,
};
pub use self::validation::Errors;
pub(super) use self::validation::{
    add_error, check_text, not_known, take_flag, take_number, take_objects, take_text, validate, validate_partial,
};

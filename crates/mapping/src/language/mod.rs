//! Expressions in templates: `{{ Brand }} {{ Name | upper }}`, and conditions.
//!
//! Tokens are parsed into a tree by the precedence of operators, and evaluated over typed values: exact decimals, dates and texts.
//! Patterns and other constants are parsed once. A `Context` provides the values of a row. The examples of docs/expressions.md are run by a test.
//!
//! No existing crate serves (minijinja, rhai, evalexpr, cel, jaq, zen-expression): decimals are doubles or are rounded silently, the syntax
//! differs from the templates (`|`, `~`, `a if b else c`), errors have no byte ranges, a text cell does not have the number style of its column,
//! and evalexpr is AGPL.

mod arithmetic;
mod compare;
mod constant;
mod context;
mod error;
mod eval;
mod expression;
mod functions;
mod operand;
mod parse;
mod position;
mod row_value;
#[cfg(test)]
mod tests;
mod token;
mod tree;

pub use context::{Context, FixedCell};
pub use error::ExpressionError;
pub use expression::Expression;
pub use row_value::{quoted, row_value};

pub use crate::typed_value::Value;

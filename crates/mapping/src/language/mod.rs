//! Expressions in templates: `{{ Brand }} {{ Name | upper }}`, and conditions.
//!
//! Tokens are parsed into a tree, which is evaluated over typed values: exact decimals, dates and texts.

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
#[cfg(test)]
mod tests;
mod token;
mod tree;

pub use context::{Context, FixedCell};
pub use error::ExpressionError;
pub use expression::Expression;

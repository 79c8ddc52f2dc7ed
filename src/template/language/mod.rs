//! Expressions for texts from several columns: `{{ Brand }} {{ row["Item no."] | upper }}`.
//!
//! The language is a part of Jinja's expressions, described in docs/expressions.md. [`rewrite`] checks expressions and
//! translates them for minijinja; [`catalog`] declares the functions, and [`functions`] has their code. Values are texts;
//! arithmetic is exact.

mod catalog;
mod constant;
mod error;
mod expression;
mod functions;
mod rewrite;
mod token;

pub use error::ExpressionError;
pub use expression::Expression;

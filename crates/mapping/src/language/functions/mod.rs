//! The functions of expressions.

mod call;
mod catalog;
mod choice;
mod dates;
mod facts;
mod numbers;
mod texts;

pub(super) use call::Call;
pub(super) use catalog::{FUNCTIONS, Form, Function, by_alias, find};

//! The tables, and the transaction in which handlers change them.

mod answers;
pub(super) mod items;
pub(super) mod journal;
pub(super) mod records;
pub(super) mod tokens;
mod transaction;

pub(crate) use answers::KeptAnswer;
pub(crate) use transaction::{Transaction, Work};

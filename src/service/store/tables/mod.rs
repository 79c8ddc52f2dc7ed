//! The tables, and the transaction in which handlers change them.

mod answers;
pub(super) mod items;
pub(super) mod journal;
pub(super) mod records;
pub(super) mod tokens;
mod transaction;

pub(in crate::service) use answers::KeptAnswer;
pub(in crate::service) use transaction::{Transaction, Work};

//! The handlers: one file per resource, plus the lists and single records of all resources.

pub(super) mod billing;
pub(super) mod items;
pub(super) mod lists;
pub(super) mod orders;
pub(super) mod single;
pub(super) mod tokens;
pub(super) mod transactions;

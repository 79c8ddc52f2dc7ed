//! Removal of old runs, of plans that sent nothing, and of what is stored about single records.

mod erase;
mod prune;
mod unsent;

pub use erase::Erased;

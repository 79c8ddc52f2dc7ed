//! Removal of old runs, and of plans that sent nothing.

mod prune;
mod unsent;

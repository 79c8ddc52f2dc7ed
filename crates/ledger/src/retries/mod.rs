//! Retries: the state of each row after all runs of an upload, and the plan of the next run.

mod plan;
mod row_states;

pub use row_states::{HeldProblem, KnownRow, RowQuery, RowState, RowStates};

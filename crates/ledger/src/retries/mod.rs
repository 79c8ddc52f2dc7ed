//! Retries: the state of each row after all runs of an upload, and the plan of the next run.

mod held_mark;
mod plan;
mod row_states;

pub use held_mark::{BelowMark, HeldMark, JudgedBy, cell_hash};
pub use row_states::{HeldProblem, KnownRow, RowQuery, RowState, RowStates};

//! The result of a run: counts, problems, report, and next command.

mod ending;
pub mod next_command;
mod report;
mod unsent;

pub(super) use ending::{Ending, How, MAX_REFUSED, is_rehearsal};
pub use ending::{Finished, Withheld};
pub use report::{ReportRequest, report};
pub(super) use report::{choices, words};
pub(super) use unsent::check_has_plan;

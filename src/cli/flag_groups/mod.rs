//! Flags that several commands have: the input, the request rate, and the language of reports.

mod input;
mod pacing;
mod titles;

pub(super) use input::parameter;
pub use input::{Input, Mark, Reading};
pub use pacing::{Pacing, Sending};
pub use titles::Titles;

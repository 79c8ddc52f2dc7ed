//! Flags that several commands have: the input, the request rate, and the language of reports.

mod input;
mod pacing;
mod titles;

pub use input::{Input, Mark, OfSheet, Reading};
pub(super) use input::{parameter, question};
pub use pacing::{Pacing, Sending};
pub use titles::Titles;

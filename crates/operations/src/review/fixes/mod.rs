//! Fixes for all rows of a cause, and what the template remembers of them.

mod fix;
mod remember;

pub use fix::{CauseRows, Fix, FixChoice, FixPreview, MadeFix};
pub use remember::{NotRemembered, Sendable, sendable};

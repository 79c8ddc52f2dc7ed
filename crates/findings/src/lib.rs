//! The registry of findings: the codes of problems and warnings, with all that the program knows about each of them.
//!
//! Has no text: a message stands next to its cause in the crate that raises it, and the explanations of the codes in `language`. Knows no
//! spreadsheet and no run. Begin with the table in `code.rs`. A new code is one line there; a test then demands its explanation in each
//! language, from which `sheetport help CODE`, the titles in the browser page and docs/problems.md are made.

mod code;
mod command;
mod only;
mod skip_reason;

pub use code::{Asks, Code, Edit, FixKind, Group, Scope, SupplierView};
pub use command::Command;
pub use only::Only;
pub use skip_reason::SkipReason;

//! Code that several commands use: opening the input, showing progress, signals and the summary at the end.

pub mod console;
pub mod finish;
pub mod input;
pub mod opened;
pub mod signals;
pub mod summary;

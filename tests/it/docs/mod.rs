//! The documentation: its commands work, its variants for other shells run the same, its links lead somewhere, and its
//! pictures are made by the script.

mod book;
#[cfg(unix)]
mod commands;
mod inline;
mod links;
mod messages;
pub mod pages;
mod pictures;
mod shells;
#[cfg(unix)]
mod steps;

pub use commands::edit_workbook;

//! A file under review: its reading, template, edits and problems, and its current activity.

mod drafts;
mod look;
mod memory;
mod progress;
mod remembering;
mod revocable;
mod state;

pub(super) use look::{Look, gone};
pub(super) use memory::TemplateUndo;
pub(super) use progress::{Live, Sending};
pub(super) use state::{Columns, Session, State};

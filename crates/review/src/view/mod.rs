//! Responses as JSON for the page.

pub(super) mod changes;
mod file;
pub(super) mod run;

pub(super) use file::{
    MAX_COLUMNS, check, counts, difference, edits, finished, fix_choice, looking, moved, preview, problem, progress,
    review, row, service, text_of,
};

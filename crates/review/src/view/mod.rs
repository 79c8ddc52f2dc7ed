//! Responses as JSON for the page.

mod file;
pub(super) mod run;

pub(super) use file::{
    MAX_COLUMNS, check, counts, difference, edits, finished, fix_choice, preview, problem, progress, review, row,
    service, text_of,
};

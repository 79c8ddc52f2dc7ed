//! Responses as JSON for the page.

pub(super) mod changes;
mod difference;
mod file;
pub(super) mod run;
mod text;

pub(super) use difference::{difference, moved, problem};
pub(super) use file::{
    MAX_COLUMNS, check, counts, edits, finished, fix_choice, left_out_row, looking, preview, progress, refused_row,
    review, row, service, text_of,
};

//! The input of a proposal besides the rows of the sheet.

use super::previous_templates::PreviousTemplate;

/// Facts about the file, and the user's earlier templates.
#[derive(Clone, Debug, Default)]
pub struct Context<'a> {
    /// Name of the file, for comments.
    pub file: String,
    /// Name of the sheet, if the file has several.
    pub sheet: Option<String>,
    /// Options for reading the file, as keys of `[sheet]`.
    pub reading: &'a [(&'static str, String)],
    pub previous: &'a [PreviousTemplate],
    /// Whether a program has chosen the kind of record.
    pub is_kind_guess: bool,
}

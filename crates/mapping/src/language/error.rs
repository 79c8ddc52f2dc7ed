//! The error of expressions.

use std::ops::Range;

/// A syntax or evaluation error, with the byte range in the source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    pub message: String,
    pub range: Range<usize>,
}

/// The start of messages about blanks.
pub(super) const BLANK: &str = "a blank";

impl ExpressionError {
    /// Returns whether a blank was calculated or compared with `<` or `>`.
    pub fn is_about_blank(&self) -> bool {
        self.message.starts_with(BLANK)
    }

    pub(super) fn new(message: impl Into<String>, range: Range<usize>) -> ExpressionError {
        ExpressionError { message: message.into(), range }
    }
}

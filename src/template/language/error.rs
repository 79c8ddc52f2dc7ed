//! The error of expressions.

use std::ops::Range;

/// A syntax or evaluation error, with the byte range in the source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    pub message: String,
    pub range: Range<usize>,
}

impl ExpressionError {
    pub(super) fn new(message: impl Into<String>, range: Range<usize>) -> ExpressionError {
        ExpressionError { message: message.into(), range }
    }
}

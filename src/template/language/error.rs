//! The error of expressions.

use std::fmt;
use std::ops::Range;

/// A syntax or evaluation error, with the byte range in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    pub message: String,
    pub range: Range<usize>,
}

impl ExpressionError {
    pub(super) fn new(message: impl Into<String>, range: Range<usize>) -> ExpressionError {
        ExpressionError { message: message.into(), range }
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

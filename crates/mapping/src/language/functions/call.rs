//! The arguments of a function.

use super::super::constant::Constant;
use super::super::context::Context;
use super::super::operand::Operand;

/// A call, with all values evaluated.
pub(crate) struct Call<'v> {
    /// The values, beginning with the value before `|`, without the constant.
    pub(crate) values: Vec<Operand<'v>>,
    pub(crate) constant: Option<&'v Constant>,
    pub(crate) context: &'v dyn Context,
}

impl<'v> Call<'v> {
    /// Takes the first value. The parser guarantees one.
    pub(super) fn take(&mut self) -> Operand<'v> {
        if self.values.is_empty() { Operand::missing("a value is missing") } else { self.values.remove(0) }
    }

    /// Returns a value, counted from 0.
    pub(super) fn value(&self, index: usize) -> Result<&Operand<'v>, String> {
        self.values.get(index).ok_or_else(|| "an argument is missing".to_owned())
    }
}

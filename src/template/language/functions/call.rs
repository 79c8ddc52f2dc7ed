//! The arguments of a function.

use super::super::constant::Constant;
use super::super::context::Context;
use super::super::operand::Operand;

/// A call, with all values evaluated.
pub(in super::super) struct Call<'v> {
    /// The values, beginning with the value before `|`, without the constant.
    pub(in super::super) values: Vec<Operand<'v>>,
    pub(in super::super) constant: Option<&'v Constant>,
    pub(in super::super) context: &'v dyn Context,
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

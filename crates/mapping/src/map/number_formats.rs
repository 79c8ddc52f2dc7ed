//! What the number format of a workbook's cell displays in the place of its number.

use sheetport_sheet::Cell;
use sheetport_values::number::{self, literal};

use super::super::problem::Cause;

/// Returns the warning about a number with decimals as an identifier. Spreadsheet programs store 1.10 as 1.1, and display the
/// decimals of the number format.
pub(super) fn may_lack_zero(cell: Cell<'_>) -> Option<Cause> {
    match cell {
        Cell::Number(number) => (number.fract() != 0.0).then_some(Cause::MayLackZero),
        Cell::Rounded(number, decimals) if number.fract() == 0.0 => Some(Cause::OtherDecimals(decimals)),
        cell => hides_digits(cell),
    }
}

/// Returns the warning about a number in a text if its cell displays fewer digits.
pub(super) fn hides_digits(cell: Cell<'_>) -> Option<Cause> {
    let Cell::Rounded(number, decimals) = cell else { return None };
    (!shows_fraction(number, decimals) && number.fract() != 0.0).then_some(Cause::OtherDecimals(decimals))
}

/// Returns whether a number format displays all decimals of a fractional number, possibly with further zeros.
pub(super) fn shows_fraction(number: f64, decimals: u8) -> bool {
    number.fract() != 0.0
        && number::from_f64(number).is_ok_and(|number| number.normalize().scale() <= u32::from(decimals))
}

/// Returns the warning about a word displayed beside a number by its number format.
pub(super) fn word_beside(cell: Cell<'_>) -> Option<Cause> {
    let Cell::Formatted(number, shown) = cell else { return None };
    let beside = literal::beside(number::from_f64(number).ok()?, shown, false).ok()?;
    Some(Cause::WordInFormat(beside.word?.text))
}

//! Edits of a file of changes: a planned value that was set back to the old one.

use sheetport_sheet::Cell;
use sheetport_sheet::write::cut_text;
use sheetport_values::decimal;

use crate::respelled::is_respelled_text;
use sheetport_files::text_file::normalize_line_ends;

/// What a person has done to a planned value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    None,
    /// It has the value of the service again.
    SetBack,
    NewValue,
}

/// Compares the cell of a planned value with the plan. A program may have read the value as another type.
pub(super) fn edit(cell: &str, planned: &str, old: &str) -> Edit {
    let is_exact = |value: &str| is_exact(cell, value);
    let is_read_as = |value: &str| is_respelled_text(value, &Cell::Text(cell));
    if is_exact(planned) {
        Edit::None
    } else if is_exact(old) {
        Edit::SetBack
    } else if is_read_as(planned) {
        Edit::None
    } else if is_read_as(old) {
        Edit::SetBack
    } else {
        Edit::NewValue
    }
}

fn is_exact(cell: &str, value: &str) -> bool {
    let (shown, value) = (cell.trim(), value.trim());
    let is_number = |text: &str| decimal::canonical(text);
    // Texts that begin like a formula get an apostrophe, and a workbook has no room for long ones.
    normalize_line_ends(shown) == normalize_line_ends(value)
        || shown.strip_prefix('\'') == Some(value)
        || is_number(shown).is_some_and(|number| Some(number) == is_number(value))
        || cut_text(value).is_some_and(|cut| cut.trim() == shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_a_program_has_read_otherwise_are_not_edited() {
        let check = |shown: &str, planned: &str, old: &str, expected: Edit| {
            assert_eq!(edit(shown, planned, old), expected, "{shown} for {planned}, before {old}");
        };
        for (shown, planned) in [
            ("0.12", "0.12"),
            ("0.1200", "0.12"),
            ("0,12", "0.12"),
            ("42", "000042"),
            ("4.00638E+12", "4006381333948"),
            ("TRUE", "true"),
            ("2026-05-03", "2026-05-03"),
            ("03.05.2026", "2026-05-03"),
            ("a\nb", "a\r\nb"),
            ("'=1+1", "=1+1"),
            (" Bolt ", "Bolt"),
            ("", ""),
        ] {
            check(shown, planned, "something else", Edit::None);
        }
        check("12.99", "1299", "12.99", Edit::SetBack);
        check("12,99", "1299", "12.99", Edit::SetBack);
        check("", "5", "", Edit::SetBack);
        check("13.50", "1299", "12.99", Edit::NewValue);
        check("", "5", "4", Edit::NewValue);
        check("1.299", "1299", "1.299", Edit::SetBack);
    }
}

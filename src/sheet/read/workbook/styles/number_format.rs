//! The number formats with an effect on reading.

use super::leading_zeros::LeadingZeros;
use super::percent::Percent;
use crate::sheet::Cell;

/// Excel's limit on the length of a format.
const MAX_LEN: usize = 255;

#[derive(Clone, Debug, PartialEq)]
pub(in crate::sheet::read::workbook) enum NumberFormat {
    LeadingZeros(LeadingZeros),
    Percent(Percent),
}

impl NumberFormat {
    /// Parses a format. Returns `None` for formats without an effect on the meaning of a number.
    pub(crate) fn parse(code: &str) -> Option<NumberFormat> {
        if code.len() > MAX_LEN {
            return None;
        }
        let leading_zeros = LeadingZeros::parse(code).map(NumberFormat::LeadingZeros);
        leading_zeros.or_else(|| Percent::parse(code).map(NumberFormat::Percent))
    }

    /// Formats a number as a cell, using `text` as a buffer. Returns `None` if it is a plain number.
    pub(crate) fn cell<'t>(&self, number: f64, text: &'t mut String) -> Option<Cell<'t>> {
        match self {
            NumberFormat::LeadingZeros(format) => {
                *text = format.format(number)?;
                Some(Cell::Text(text))
            }
            NumberFormat::Percent(format) => format.applies_to(number).then_some(Cell::Percent(number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, number: f64, expected: Option<&str>) {
        let mut text = String::new();
        let cell = NumberFormat::parse(code)
            .and_then(|format| format.cell(number, &mut text).map(|cell| cell.shown().into_owned()));
        assert_eq!(cell.as_deref(), expected, "{code} {number}");
    }

    #[test]
    fn an_unquoted_percent_sign_makes_a_percentage() {
        for code in
            ["0%", "0.00%", "0.0##%", "#,##0.0 %", "0%;[Red]-0%", "00%", "%0", "0%_)", "[$-407]0,0%", "\"ca. \"0%"]
        {
            check(code, 0.195, Some("19.5%"));
            check(code, -0.195, Some("-19.5%"));
        }
        for code in ["0\\%", "0\"%\"", "0.00", "General", "0_%", "0*%", "@", "0\"% of\""] {
            check(code, 0.19, None);
        }
    }

    #[test]
    fn the_section_for_a_number_decides_whether_it_is_a_percentage() {
        check("[<1]0%;0.00", 0.5, Some("50%"));
        check("[<1]0%;0.00", 1.5, None);
        check("0%;0", -0.5, None);
        check("0.00;-0%", -0.5, Some("-50%"));
        check("[<>0]0%;0", 0.0, None);
        // A dash or word stands for a percentage, too.
        check("0%;-0%;\"-\"", 0.0, Some("0%"));
        check("0%;\"none\"", -0.5, Some("-50%"));
        // Text has its own section.
        check("0.00;0.00;0.00;@\"%\"", 0.5, None);
        check("0.00;0.00;0.00;@%", 0.5, None);
    }

    #[test]
    fn non_finite_numbers_are_not_percentages() {
        check("0%", f64::INFINITY, None);
        check("0%", f64::NAN, None);
    }
}

//! The number formats with an effect on reading.

use super::decimals::ShownDecimals;
use super::leading_zeros::LeadingZeros;
use super::literal::LiteralFormat;
use super::shown::{SYSTEM_FORMAT, ShownFormat, ShownText};
use super::unit::{Unit, UnitFormat};
use crate::Cell;

/// Excel's limit on the length of a format.
const MAX_LEN: usize = 255;

/// The built-in formats 42 and 44. Programs display them with the currency of the system, not with the dollar.
const SYSTEM_CURRENCY: [&str; 2] =
    ["_($* #,##0_);_($* (#,##0);_($* \"-\"_);_(@_)", "_($* #,##0.00_);_($* (#,##0.00);_($* \"-\"??_);_(@_)"];

/// The built-in formats with an effect, by number. Not defined in workbooks.
pub(crate) const BUILT_IN_FORMATS: [(u16, &str); 33] = [
    (1, "0"),
    (2, "0.00"),
    (3, "#,##0"),
    (4, "#,##0.00"),
    (5, SYSTEM_FORMAT),
    (6, SYSTEM_FORMAT),
    (7, SYSTEM_FORMAT),
    (8, SYSTEM_FORMAT),
    (9, "0%"),
    (10, "0.00%"),
    (11, "0.00E+00"),
    (12, "# ?/?"),
    (13, "# ??/??"),
    (14, "mm-dd-yy"),
    (15, "d-mmm-yy"),
    (16, "d-mmm"),
    (17, "mmm-yy"),
    (18, "h:mm AM/PM"),
    (19, "h:mm:ss AM/PM"),
    (20, "h:mm"),
    (21, "h:mm:ss"),
    (22, "m/d/yy h:mm"),
    (37, "#,##0_);(#,##0)"),
    (38, "#,##0_);[Red](#,##0)"),
    (39, "#,##0.00_);(#,##0.00)"),
    (40, "#,##0.00_);[Red](#,##0.00)"),
    (41, "_(* #,##0_);_(* (#,##0);_(* \"-\"_);_(@_)"),
    (42, SYSTEM_FORMAT),
    (43, "_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)"),
    (44, SYSTEM_FORMAT),
    (45, "mm:ss"),
    (46, "[h]:mm:ss"),
    (47, "mm:ss.0"),
];

/// The effects of a format, in order of precedence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NumberFormat {
    leading_zeros: Option<LeadingZeros>,
    unit: Option<UnitFormat>,
    literal: Option<LiteralFormat>,
    decimals: Option<ShownDecimals>,
    pub(super) shown: Option<ShownFormat>,
}

impl NumberFormat {
    /// Parses a format. Returns `None` for formats without an effect on the cell of a number or date.
    pub(crate) fn parse(code: &str) -> Option<NumberFormat> {
        if code.len() > MAX_LEN {
            return None;
        }
        let shown = ShownFormat::parse(code);
        let format = if SYSTEM_CURRENCY.contains(&code) {
            NumberFormat { leading_zeros: None, unit: None, literal: None, decimals: None, shown }
        } else {
            NumberFormat {
                leading_zeros: LeadingZeros::parse(code),
                unit: UnitFormat::parse(code),
                literal: LiteralFormat::parse(code),
                decimals: ShownDecimals::parse(code),
                shown,
            }
        };
        (format.has_values() || format.shown.is_some()).then_some(format)
    }

    /// Returns whether the format affects the values of numbers, not only their displayed text.
    pub(super) fn has_values(&self) -> bool {
        self.leading_zeros.is_some() || self.unit.is_some() || self.literal.is_some() || self.decimals.is_some()
    }

    /// Returns the format without its number of decimals, or `None` if it has no other effect.
    pub(super) fn without_decimals(self) -> Option<NumberFormat> {
        let format = NumberFormat { decimals: None, shown: None, ..self };
        format.has_values().then_some(format)
    }

    /// Formats a number as a cell, using `text` as a buffer. Returns `None` if exactly its digits are displayed.
    pub(crate) fn cell<'t>(&self, number: f64, text: &'t mut String) -> Option<Cell<'t>> {
        if let Some(shown) = self.leading_zeros.as_ref().and_then(|format| format.format(number)) {
            *text = shown;
            return Some(Cell::Text(text));
        }
        match self.unit.as_ref().and_then(|format| format.unit_of(number)) {
            Some(Unit::Percent) => return Some(Cell::Percent(number)),
            Some(Unit::Money(currency)) => return Some(Cell::Money(number, currency)),
            None => {}
        }
        if let Some(shown) = self.literal.as_ref().and_then(|format| format.format(number)) {
            *text = shown;
            return Some(Cell::Formatted(number, text));
        }
        Some(Cell::Rounded(number, self.decimals.as_ref()?.of(number)?))
    }

    /// Returns the displayed text of a cell that stores `number`, or `None` if equal to the text of its value.
    pub(crate) fn shown(&self, cell: &Cell<'_>, number: f64) -> Option<ShownText> {
        self.shown.as_ref()?.show(cell, number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, number: f64, expected: Option<&str>) {
        let mut text = String::new();
        let cell = NumberFormat::parse(code).and_then(|format| format.cell(number, &mut text));
        let shown = cell.filter(|cell| !matches!(cell, Cell::Rounded(..))).map(|cell| cell.shown().into_owned());
        assert_eq!(shown.as_deref(), expected, "{code} {number}");
    }

    #[test]
    fn an_unquoted_percent_sign_makes_a_percentage() {
        for code in
            ["0%", "0.00%", "0.0##%", "#,##0.0 %", "0%;[Red]-0%", "00%", "%0", "0%_)", "[$-407]0,0%", "\"ca. \"0%"]
        {
            check(code, 0.195, Some("19.5%"));
            check(code, -0.195, Some("-19.5%"));
        }
        for code in ["0.00", "General", "0_%", "0*%", "@"] {
            check(code, 0.19, None);
        }
        check("0\"%\"", 19.0, Some("19%"));
    }

    #[test]
    fn the_section_for_a_number_decides_whether_it_is_a_percentage() {
        check("[<1]0%;0.00", 0.5, Some("50%"));
        check("[<1]0%;0.00", 1.5, None);
        check("0%;0", -0.5, None);
        check("0.00;-0%", -0.5, Some("-50%"));
        check("[<>0]0%;0", 0.0, None);
        // A dash stands for a percentage, too.
        check("0%;-0%;\"-\"", 0.0, Some("0%"));
        check("0%;\"none\"", -0.5, Some("none"));
        // Text has its own section.
        check("0.00;0.00;0.00;@\"%\"", 0.5, None);
        check("0.00;0.00;0.00;@%", 0.5, None);
    }

    #[test]
    fn a_currency_in_the_format_makes_money() {
        for (code, shown) in [
            ("[$€-407]#,##0.00", "-5.5 €"),
            ("#,##0.00\\ [$€-1]", "-5.5 €"),
            ("#,##0.00 \"€\"", "-5.5 €"),
            ("$#,##0.00_);($#,##0.00)", "-5.5 $"),
            ("\"USD\" 0.00", "-5.5 USD"),
            ("[$USD] #,##0.00", "-5.5 USD"),
            ("_-* #,##0.00\\ €_-;\\-* #,##0.00\\ €_-;_-* \"-\"??\\ €_-;_-@_-", "-5.5 €"),
            ("#,##0.00 [$CHF];[Red]-#,##0.00 [$CHF]", "-5.5 CHF"),
            ("#,##0.00 \\k\\r", "-5.5 kr"),
            ("General\\ €", "-5.5 €"),
        ] {
            check(code, -5.5, Some(shown));
        }
        for code in ["[$-407]0.00", "#,##0.00"] {
            check(code, -5.5, None);
        }
        check("0.00 \"per 100\"", -5.5, Some("-5.50 per 100"));
        SYSTEM_CURRENCY.iter().for_each(|code| check(code, -5.5, None));
    }

    #[test]
    fn non_finite_numbers_are_not_percentages() {
        check("0%", f64::INFINITY, None);
        check("0%", f64::NAN, None);
    }
}

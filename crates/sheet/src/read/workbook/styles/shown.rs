//! The displayed text of a cell, as in a CSV saved from the workbook.

use sheetport_values::decimal;

use super::date_text::{DateText, Written};
use super::pattern::{self, Pattern, Writing};
use super::section::{Section, Sections};
use crate::Cell;

/// A format that depends on the computer.
pub(crate) const SYSTEM_FORMAT: &str = "[$-F800]";

/// Formats that depend on the computer: the built-in formats 14 and 22, as named by calamine, and the formats 42 and 44 for
/// money.
const SYSTEM: [&str; 4] = [
    "mm-dd-yy",
    "m/d/yy h:mm",
    "_($* #,##0_);_($* (#,##0);_($* \"-\"_);_(@_)",
    "_($* #,##0.00_);_($* (#,##0.00);_($* \"-\"??_);_(@_)",
];
/// Marks of such formats: of dates, of times, and a currency without a name.
const SYSTEM_MARKS: [&str; 3] = [SYSTEM_FORMAT, "[$-F400]", "[$]"];
/// Built-in formats that calamine names without the space beside the bracket of negative numbers.
const WITHOUT_SPACE: [(&str, &str); 4] = [
    ("#,##0 ;(#,##0)", "#,##0_);(#,##0)"),
    ("#,##0 ;[Red](#,##0)", "#,##0_);[Red](#,##0)"),
    ("#,##0.00;(#,##0.00)", "#,##0.00_);(#,##0.00)"),
    ("#,##0.00;[Red](#,##0.00)", "#,##0.00_);[Red](#,##0.00)"),
];

/// A format with an effect on texts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ShownFormat(Sections<Content>);

/// The displayed text of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShownText {
    /// Empty if nothing is displayed, or if unknown.
    pub(crate) text: String,
    /// Whether all programs display this text, on computers in every language.
    pub(crate) is_certain: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Content {
    Number {
        pattern: Pattern,
        /// Whether nothing but digits is shown.
        is_bare: bool,
    },
    Date(DateText),
    /// A fraction, an exponent, or a format of the computer.
    Unknown,
}

impl ShownFormat {
    /// Parses a format. Returns `None` for texts and for formats that display exactly the digits of a number.
    pub(super) fn parse(code: &str) -> Option<ShownFormat> {
        if SYSTEM.contains(&code) || SYSTEM_MARKS.iter().any(|mark| code.contains(mark)) {
            let unknown = |_: &str| Section { condition: None, content: Some(Content::Unknown) };
            return Sections::parse("", unknown).map(ShownFormat);
        }
        let code = WITHOUT_SPACE.iter().find(|(name, _)| *name == code).map_or(code, |(_, code)| code);
        if code.is_empty() || code == "@" || code.eq_ignore_ascii_case("general") {
            return None;
        }
        let content = |code: &str| {
            let Section { condition, content } = pattern::section(code);
            let content = match content {
                Some(pattern) => Content::Number { is_bare: pattern.is_bare(), pattern },
                None => DateText::parse(code).map_or(Content::Unknown, Content::Date),
            };
            Section { condition, content: Some(content) }
        };
        Sections::parse(code, content).map(ShownFormat)
    }

    /// Returns the displayed text of a cell that stores `number`, or `None` if equal to the text of its value.
    pub(super) fn show(&self, cell: &Cell<'_>, number: f64) -> Option<ShownText> {
        const UNKNOWN: ShownText = ShownText { text: String::new(), is_certain: false };
        // Excel shows TRUE with every format, LibreOffice 1.
        if matches!(cell, Cell::Boolean(_)) {
            return Some(UNKNOWN);
        }
        let is_date = !matches!(cell, Cell::Number(_) | Cell::Rounded(..) | Cell::Percent(_) | Cell::Money(..));
        match self.0.of(number)? {
            Content::Unknown => Some(UNKNOWN),
            Content::Date(text) if is_date => Some(match text.show(cell, number) {
                Written::Certain(text) => ShownText { text, is_certain: true },
                Written::InEnglish(text) => ShownText { text, is_certain: false },
                Written::Unknown => UNKNOWN,
            }),
            // Excel shows # for negative dates.
            Content::Date(_) => None,
            Content::Number { pattern, is_bare } => {
                let exact = decimal::from_f64(number).ok()?;
                let is_grouped = pattern.groups(exact.abs());
                if *is_bare && !is_grouped && pattern.shows_all(exact) {
                    return None;
                }
                let sign = if number < 0.0 && !self.0.has_own_section(number) { "-" } else { "" };
                let text = sign.to_owned() + &pattern.show(exact.abs(), Writing::Shown)?;
                Some(ShownText { text, is_certain: !is_grouped })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::NumberFormat;
    use super::*;
    use crate::read::workbook::dates;

    /// Returns what is shown, if that is not the value's text, and whether it is certain.
    fn shown(code: &str, number: f64) -> Option<(String, bool)> {
        let format = NumberFormat::parse(code)?;
        let mut text = String::new();
        let date = dates::from_serial(number, false);
        let is_date = matches!(format.shown.as_ref()?.0.of(1.0)?, Content::Date(_)) || code.starts_with("mm-");
        let cell = if is_date { date } else { format.cell(number, &mut text).unwrap_or(Cell::Number(number)) };
        format.shown(&cell, number).map(|shown| (shown.text, shown.is_certain))
    }

    #[track_caller]
    fn check(code: &str, number: f64, expected: &str, is_certain: bool) {
        assert_eq!(shown(code, number), Some((expected.to_owned(), is_certain)), "{code} {number}");
    }

    #[test]
    fn texts_around_numbers_are_shown_with_their_spaces() {
        check("\"EUR\" 0.00", 1234.5, "EUR 1234.50", true);
        check("[$€-407] 0.00", -5.5, "-€ 5.50", true);
        check("0.00 [$€-407];[Red]-0.00 [$€-407]", -5.5, "-5.50 €", true);
        check("#,##0.00_);(#,##0.00)", 12.5, "12.50 ", true);
        check("#,##0.00;(#,##0.00)", 12.5, "12.50 ", true);
        check("_-* #,##0.00_-;\\-* #,##0.00_-;_-* \"-\"??_-;_-@_-", 0.0, " -   ", true);
        check("?0.0?", 1234.5, "1234.5 ", true);
        check("# ##0.00", 1234.5, "1 234.50", true);
        check("0.00;-0.00;\"none\"", 0.0, "none", true);
        check("#,##0;-#,##0;", 0.0, "", true);
    }

    #[test]
    fn group_separators_depend_on_the_language_of_the_computer() {
        check("#,##0.00", 1234.5, "1,234.50", false);
        check("#,##0", -1_234_567.0, "-1,234,567", false);
        check("$#,##0.00_);($#,##0.00)", -1234.5, "($1,234.50)", false);
        check("\"R-\"#,##0", 5001.0, "R-5,001", false);
        check("00,000", 42.0, "00,042", true);
        check("#,##0", 999.6, "1,000", false);
        assert_eq!(shown("#,##0.00", 999.5), None);
    }

    #[test]
    fn hidden_digits_are_not_shown() {
        check("0.00", 1.005, "1.01", true);
        check("0", 1.5, "2", true);
        check("0%", 0.195, "20%", true);
        check("0.00%", 0.19, "19.00%", true);
        check("[$€-2] 0.00", 0.125, "€ 0.13", true);
        check("0.0,,\" M\"", 12_540_000.0, "12.5 M", true);
    }

    #[test]
    fn plain_numbers_are_shown_by_their_value() {
        for code in ["General", "0", "0.00", "#,##0.00", "0.0##", "[Red]0.00", "@", "[$-407]0.00", ""] {
            assert_eq!(shown(code, 12.0), None, "{code}");
        }
    }

    #[test]
    fn formats_of_the_computer_fractions_and_exponents_are_not_known() {
        for code in ["mm-dd-yy", SYSTEM[2], SYSTEM[3], "# ?/?", "0.00E+00", "[$-F800]dddd, mmmm dd, yyyy"] {
            check(code, 46_082.5, "", false);
        }
    }

    #[test]
    fn booleans_with_the_format_of_a_number_depend_on_the_program() {
        let show = |code| NumberFormat::parse(code).and_then(|format| format.shown(&Cell::Boolean(true), 1.0));
        assert_eq!(show("0"), Some(ShownText { text: String::new(), is_certain: false }));
        assert_eq!(show("General"), None);
    }

    #[test]
    fn dates_are_shown_by_their_format() {
        check("dd/mm/yyyy;@", 46_082.0, "01/03/2026", true);
        check("d-mmm", 46_082.0, "1-Mar", false);
        assert_eq!(shown("yyyy-mm-dd", -5.0), None);
    }
}

//! Formats that display a number with other text or as another number: `"R-"0`, `0.00" cents"`, `(###) ###-####`, `0,` and
//! `0;-0;"sold out"`.
//!
//! Group separators, spaces and brackets around a number do not change its meaning, and are ignored.

use sheetport_values::decimal;

use super::pattern::{self, Pattern, Writing};
use super::section::Sections;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LiteralFormat(Sections<Pattern>);

impl LiteralFormat {
    /// Returns `None` for formats without such text.
    pub(super) fn parse(code: &str) -> Option<LiteralFormat> {
        if code.is_empty() {
            return None;
        }
        let literal = |pattern: Pattern| Some(pattern).filter(Pattern::matters);
        Sections::parse(code, |code| pattern::section(code).and_then(literal)).map(LiteralFormat)
    }

    /// Returns the displayed text, with a decimal point and without group separators, or `None` if it equals the plain number.
    pub(super) fn format(&self, number: f64) -> Option<String> {
        let shown = self.0.of(number)?.show(decimal::from_f64(number).ok()?.abs(), Writing::Bare)?;
        Some(if number < 0.0 && !self.0.has_own_section(number) { format!("-{shown}") } else { shown })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, number: f64, expected: Option<&str>) {
        let shown = LiteralFormat::parse(code).and_then(|format| format.format(number));
        assert_eq!(shown.as_deref(), expected, "{code} {number}");
    }

    #[test]
    fn literals_around_a_number_are_shown_with_it() {
        check("\"R-\"0", 5001.0, Some("R-5001"));
        check("\"R-\"#,##0", 5001.0, Some("R-5001"));
        check("\\R\\-0", 5001.0, Some("R-5001"));
        check("#0\"-A\"", 7.0, Some("7-A"));
        check("\"0\"0", 42.0, Some("042"));
        check("\"#\"0", 42.0, Some("#42"));
        check("0.00\" cents\"", 1299.0, Some("1299.00 cents"));
        check("#,##0.0##\\ \\k\\g", 1234.5, Some("1234.5 kg"));
        check("0.00\" / 100\"", 12.5, Some("12.50 / 100"));
        check("0\"%\"", 19.0, Some("19%"));
        check("[$T€-407] 0.0", 1.25, Some("T€ 1.3"));
        check("General\" kg\"", 2.5, Some("2.5 kg"));
        check("\"ca. \"General_)", 0.125, Some("ca. 0.125"));
        check("000\" kg\"", 7.0, Some("007 kg"));
        check(".00\" m\"", 12.5, Some("12.50 m"));
        check("0\" kg\"", 1e300, None);
    }

    #[test]
    fn literals_between_digits_are_shown_unless_they_separate_groups() {
        check("[<=9999999]###-####;(###) ###-####", 5_551_234.0, Some("555-1234"));
        check("[<=9999999]###-####;(###) ###-####", 2_065_551_234.0, Some("(206) 555-1234"));
        check("#\"/\"00", 2601.0, Some("26/01"));
        for code in ["#\\ ##0", "# ##0.00", "#'##0", "#\"\u{a0}\"##0", "#\".\"##0"] {
            check(code, 1234.0, None);
        }
    }

    #[test]
    fn scaled_numbers_are_displayed_scaled() {
        check("0,", 5000.0, Some("5"));
        check("0.00,", 12_990.0, Some("12.99"));
        check("#,##0.0,,\" M\"", 12_500_000.0, Some("12.5 M"));
        check("#,##0", 5000.0, None);
    }

    #[test]
    fn words_instead_of_a_number_are_shown() {
        check("0.00;-0.00;\"on request\"", 0.0, Some("on request"));
        check("0.00;-0.00;\"on request\"", 1.0, None);
        check("0.00;-0.00;", 0.0, Some(""));
        check(";;;", 12.9, Some(""));
        check("0;-0;;@", 0.0, Some(""));
        check("\"yes\";;\"no\"", 1.0, Some("yes"));
        check("[=0]\"sold out\";0", 0.0, Some("sold out"));
        check("[>9]\"many\";0\" pcs\"", 5.0, Some("5 pcs"));
        check("0.00;-0.00;\"-\"", 0.0, None);
    }

    #[test]
    fn negative_numbers_have_a_sign_or_a_section() {
        check("0\" kg\"", -5.0, Some("-5 kg"));
        check("[>=0]0\" kg\";(0\" kg\")", -5.0, Some("(5 kg)"));
        check("0\" kg\";(0\" kg\")", -5.0, Some("(5 kg)"));
        check("0\" kg\"", 1e-20, Some("0 kg"));
    }

    #[test]
    fn plain_numbers_dates_fractions_and_percentages_have_no_literals() {
        let codes = [
            "General",
            "0",
            "0.00",
            "#,##0.00",
            "_-* #,##0.00_-;\\-* #,##0.00_-;_-* \"-\"??_-;_-@_-",
            "#,##0_);[Red](#,##0)",
            "(0.00)",
            "- 0",
            "0%",
            "0.00E+00",
            "# ?/?",
            "# ??/100",
            "dd\" of \"mmmm",
            "[h]:mm\" h\"",
            "hh\" o'clock\"",
            "@\" x\"",
            "",
        ];
        for code in codes {
            assert_eq!(LiteralFormat::parse(code), None, "{code}");
        }
    }
}

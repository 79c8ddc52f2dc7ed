//! The number of decimals displayed by a plain number format: two for `#,##0.00`, one to three for `0.0##`.

use sheetport_values::decimal;

use super::pattern::{self, Pattern};
use super::section::Sections;

/// The minimum and maximum number of decimals of each section with plain numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ShownDecimals(Sections<(u32, u32)>);

impl ShownDecimals {
    /// Parses a format. Returns `None` without a section for plain numbers.
    pub(super) fn parse(code: &str) -> Option<ShownDecimals> {
        let decimals = |pattern: Pattern| pattern.decimals();
        Sections::parse(code, |code| pattern::section(code).and_then(decimals)).map(ShownDecimals)
    }

    /// Returns the number of displayed decimals, or `None` if equal to the decimals of the number.
    pub(super) fn of(&self, number: f64) -> Option<u8> {
        let (fewest, most) = *self.0.of(number)?;
        let has = decimal::from_f64(number).ok()?.normalize().scale();
        let shown = has.clamp(fewest, most);
        (shown != has).then(|| u8::try_from(shown).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, number: f64, expected: Option<u8>) {
        assert_eq!(ShownDecimals::parse(code).and_then(|format| format.of(number)), expected, "{code} {number}");
    }

    #[test]
    fn decimals_are_known_if_they_differ_from_those_of_the_number() {
        check("0.00", 1.1, Some(2));
        check("0.00", 5.0, Some(2));
        check("#,##0.00", 1234.5, Some(2));
        check("#,##0.00", 1234.56, None);
        check("0.00", 1.105, Some(2));
        check("0", 1.5, Some(0));
        check("0", 5.0, None);
        check("0.0##", 1.0, Some(1));
        check("0.0##", 1.25, None);
        check("0.0##", 1.23456, Some(3));
        check("#.##", 1.5, None);
        check("_-* #,##0.00_-;\\-* #,##0.00_-;_-* \"-\"??_-;_-@_-", -7.5, Some(2));
        check("0.00;[Red]-0.000", -1.5, Some(3));
        check("[<1]0.000;0.0", 2.25, Some(1));
    }

    #[test]
    fn other_formats_show_no_plain_numbers() {
        for code in
            ["General", "", "@", "0%", "0.00E+00", "# ?/?", "yyyy-mm-dd", "0.00\" kg\"", "0.00,", "[h]:mm", ";;;"]
        {
            check(code, 1.5, None);
        }
        check("0.00;-0.00;\"-\"", 0.0, None);
        check("0.00", f64::NAN, None);
        check("0.00", 1e300, None);
    }
}

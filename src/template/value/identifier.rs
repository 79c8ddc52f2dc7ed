//! Identifiers damaged by a spreadsheet program: turned into a date, shortened to a power of ten, or rounded.

use std::sync::LazyLock;

use regex::Regex;

/// The kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// `4,00638E+12`: most digits are lost.
    Exponent,
    /// `12. Mrz` or `Mar-12`.
    Date,
    /// A number of more digits than a workbook can store.
    Rounded,
}

static EXPONENT: LazyLock<Regex> = LazyLock::new(|| regex(r"^\d([.,]\d+)?E\+\d{1,3}$"));
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let months = "jan|feb|mar|mär|mrz|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez";
    regex(&format!(r"(?i)^(\d{{1,2}}[.-] ?({months})|({months})[- ]\d{{2}}|\d{{1,2}}-({months})-\d{{2,4}})$"))
});

/// Detects damage in a text.
pub(crate) fn damage(text: &str) -> Option<Damage> {
    let text = text.trim();
    // Most identifiers are digits only; both patterns need a letter and are short.
    if text.len() > 16 || text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    if EXPONENT.is_match(text) {
        Some(Damage::Exponent)
    } else if DATE.is_match(text) {
        Some(Damage::Date)
    } else {
        None
    }
}

/// Converts an identifier from a workbook's number. Fails for numbers long enough to have been rounded.
pub(crate) fn from_f64(number: f64) -> Result<String, Damage> {
    if number.abs() >= 1e15 {
        return Err(Damage::Rounded);
    }
    Ok(number.to_string())
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant that a test compiles")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_identifiers_are_recognized() {
        for (text, expected) in [
            ("4,00638E+12", Some(Damage::Exponent)),
            ("1E+05", Some(Damage::Exponent)),
            ("12. Mrz", Some(Damage::Date)),
            ("3-Mar", Some(Damage::Date)),
            ("Sep-02", Some(Damage::Date)),
            ("004711", None),
            ("4006381333931", None),
            ("DEC-10500", None),
            ("M8x40", None),
            ("1E05", None),
            ("MAR-123", None),
        ] {
            assert_eq!(damage(text), expected, "{text}");
        }
        assert_eq!(from_f64(4711.0).as_deref(), Ok("4711"));
        assert_eq!(from_f64(4006381333931.0).as_deref(), Ok("4006381333931"));
        assert_eq!(from_f64(1.2345678901234568e17), Err(Damage::Rounded));
    }
}

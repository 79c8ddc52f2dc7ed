//! Identifiers that a spreadsheet program has damaged: turned into dates, into powers of ten, or rounded.

use std::sync::LazyLock;

use regex::Regex;

/// What happened to an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// `4,00638E+12`: the digits past the sixth or so are gone.
    Exponent,
    /// `12. Mrz` or `Mar-12`.
    Date,
    /// A number of more digits than a workbook's number can hold.
    Rounded,
}

static EXPONENT: LazyLock<Regex> = LazyLock::new(|| regex(r"^\d([.,]\d+)?E\+\d{1,3}$"));
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let months = "jan|feb|mar|mär|mrz|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez";
    regex(&format!(r"(?i)^(\d{{1,2}}[.-] ?({months})|({months})[- ]\d{{2}}|\d{{1,2}}-({months})-\d{{2,4}})$"))
});

/// The damage that `text` shows, if any.
pub fn damage(text: &str) -> Option<Damage> {
    let text = text.trim();
    // Both patterns need a digit and a letter, which most identifiers that are all digits rule out at once.
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

/// The text of an identifier that a workbook holds as a number.
pub fn from_double(number: f64) -> Result<String, Damage> {
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
    fn damage_is_told_from_honest_identifiers() {
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
        assert_eq!(from_double(4711.0).as_deref(), Ok("4711"));
        assert_eq!(from_double(4006381333931.0).as_deref(), Ok("4006381333931"));
        assert_eq!(from_double(1.2345678901234568e17), Err(Damage::Rounded));
    }
}

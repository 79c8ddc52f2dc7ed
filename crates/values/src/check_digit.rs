//! Check digits of article numbers, books and bank accounts.

use std::fmt;

/// The lengths of IBANs by country: `DE22`.
const IBAN_LENGTHS: &str = include_str!("iban.txt");

/// A kind of number with a check digit.
#[derive(Debug, PartialEq, Eq)]
pub struct Scheme {
    /// The value of `check` in templates.
    pub name: &'static str,
    /// The name with its article in messages.
    title: &'static str,
    /// Allowed lengths; empty if the country decides.
    lengths: &'static [usize],
    /// Beginnings of the number; empty if any is allowed.
    prefixes: &'static [&'static str],
    /// Whether hyphens are written between the parts.
    has_hyphens: bool,
    algorithm: Algorithm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    /// Weights of 3 and 1 from the right, modulo 10.
    Gs1,
    /// Every second digit from the right is doubled, modulo 10.
    Luhn,
    /// Weights of 2, 3, 4, … from the right, modulo 11; X stands for 10.
    Isbn10,
    /// ISO 7064 modulo 97, with the check digits after the country.
    Iban,
}

/// All schemes.
pub const SCHEMES: &[Scheme] = &[
    Scheme { name: "ean13", title: "an EAN-13", ..gs1(&[13]) },
    Scheme { name: "ean8", title: "an EAN-8", ..gs1(&[8]) },
    Scheme { name: "upc", title: "a UPC", ..gs1(&[12]) },
    Scheme { name: "gtin", title: "a GTIN", ..gs1(&[8, 12, 13, 14]) },
    Scheme { name: "sscc", title: "an SSCC", ..gs1(&[18]) },
    Scheme { name: "isbn13", title: "an ISBN-13", prefixes: &["978", "979"], has_hyphens: true, ..gs1(&[13]) },
    Scheme {
        name: "isbn10",
        title: "an ISBN-10",
        lengths: &[10],
        prefixes: &[],
        has_hyphens: true,
        algorithm: Algorithm::Isbn10,
    },
    Scheme { name: "luhn", title: "a number with a Luhn digit", algorithm: Algorithm::Luhn, ..gs1(&[]) },
    Scheme { name: "iban", title: "an IBAN", algorithm: Algorithm::Iban, ..gs1(&[]) },
];

/// Returns an unnamed scheme of GS1 with these lengths.
const fn gs1(lengths: &'static [usize]) -> Scheme {
    Scheme { name: "", title: "", lengths, prefixes: &[], has_hyphens: false, algorithm: Algorithm::Gs1 }
}

/// Why a number is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError {
    title: &'static str,
    fault: Fault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    /// An invalid character.
    Character(char),
    Length {
        found: usize,
        allowed: Vec<usize>,
    },
    Prefix(&'static [&'static str]),
    /// The country of an IBAN is unknown.
    Country(String),
    /// The check digits do not fit.
    Digit {
        expected: String,
        found: String,
    },
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "is not {}: ", self.title)?;
        match &self.fault {
            Fault::Character(c) => write!(f, "it has the character '{}'", c.escape_debug()),
            Fault::Length { found, allowed } => {
                let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
                write!(f, "it has {found} digits instead of {}", allowed.join(", "))
            }
            Fault::Prefix(prefixes) => write!(f, "it does not begin with {}", prefixes.join(" or ")),
            Fault::Country(country) => write!(f, "'{country}' is not a country with IBANs"),
            Fault::Digit { expected, found } if expected.len() > 1 => {
                write!(f, "its check digits should be {expected}, not {found}")
            }
            Fault::Digit { expected, found } => write!(f, "its check digit should be {expected}, not {found}"),
        }
    }
}

impl Scheme {
    /// Checks a number. Spaces are allowed, and hyphens in ISBNs.
    pub fn check(&self, text: &str) -> Result<(), CheckError> {
        let number: String = text
            .chars()
            .filter(|c| !(c.is_whitespace() || self.has_hyphens && matches!(c, '-' | '\u{2010}' | '\u{2011}')))
            .map(|c| c.to_ascii_uppercase())
            .collect();
        let result = match self.algorithm {
            Algorithm::Iban => check_iban(&number),
            Algorithm::Gs1 | Algorithm::Luhn | Algorithm::Isbn10 => self.check_digits(&number),
        };
        result.map_err(|fault| CheckError { title: self.title, fault })
    }

    fn check_digits(&self, number: &str) -> Result<(), Fault> {
        let is_x = |index: usize, c: char| {
            self.algorithm == Algorithm::Isbn10 && c == 'X' && Some(index) == number.len().checked_sub(1)
        };
        if let Some((_, wrong)) = number.char_indices().find(|(index, c)| !c.is_ascii_digit() && !is_x(*index, *c)) {
            return Err(Fault::Character(wrong));
        }
        if !self.lengths.is_empty() && !self.lengths.contains(&number.len()) || number.len() < 2 {
            let allowed = if self.lengths.is_empty() { vec![2] } else { self.lengths.to_vec() };
            return Err(Fault::Length { found: number.len(), allowed });
        }
        if !self.prefixes.is_empty() && !self.prefixes.iter().any(|prefix| number.starts_with(prefix)) {
            return Err(Fault::Prefix(self.prefixes));
        }
        let (digits, found) = number.split_at(number.len() - 1);
        let expected = self.check_digit(digits);
        if found == expected {
            return Ok(());
        }
        Err(Fault::Digit { expected, found: found.to_owned() })
    }

    /// Returns the check digit for the preceding digits.
    fn check_digit(&self, digits: &str) -> String {
        let from_right = digits.bytes().rev().map(|digit| u64::from(digit - b'0'));
        let digit = match self.algorithm {
            Algorithm::Gs1 => {
                let sum: u64 =
                    from_right.enumerate().map(|(nth, digit)| digit * if nth % 2 == 0 { 3 } else { 1 }).sum();
                (10 - sum % 10) % 10
            }
            Algorithm::Luhn | Algorithm::Iban => {
                let doubled = |digit: u64| if digit > 4 { 2 * digit - 9 } else { 2 * digit };
                let sum: u64 =
                    from_right.enumerate().map(|(nth, digit)| if nth % 2 == 0 { doubled(digit) } else { digit }).sum();
                (10 - sum % 10) % 10
            }
            Algorithm::Isbn10 => {
                let sum: u64 = (2..).zip(from_right).map(|(weight, digit)| weight * digit).sum();
                (11 - sum % 11) % 11
            }
        };
        if digit == 10 { "X".to_owned() } else { digit.to_string() }
    }
}

fn check_iban(number: &str) -> Result<(), Fault> {
    if let Some(wrong) = number.chars().find(|c| !c.is_ascii_alphanumeric()) {
        return Err(Fault::Character(wrong));
    }
    let Some((country, rest)) = number.split_at_checked(2) else {
        return Err(Fault::Country(number.to_owned()));
    };
    let length = IBAN_LENGTHS.split_whitespace().find_map(|entry| entry.strip_prefix(country)?.parse::<usize>().ok());
    let Some(length) = length else { return Err(Fault::Country(country.to_owned())) };
    if number.len() != length {
        return Err(Fault::Length { found: number.len(), allowed: vec![length] });
    }
    let (found, account) = rest.split_at(2);
    let value = |c: char| c.to_digit(36).unwrap_or_default();
    let remainder = account.chars().chain(country.chars()).chain("00".chars()).fold(0, |remainder, c| match value(c) {
        digit @ 0..=9 => (remainder * 10 + digit) % 97,
        letter => (remainder * 100 + letter) % 97,
    });
    let expected = format!("{:02}", 98 - remainder);
    if found == expected { Ok(()) } else { Err(Fault::Digit { expected, found: found.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn check(name: &str, number: &str) -> Result<(), String> {
        let scheme = SCHEMES.iter().find(|scheme| scheme.name == name).expect("a scheme");
        scheme.check(number).map_err(|error| error.to_string())
    }

    #[test]
    fn published_examples_are_right() {
        for (name, number) in [
            ("ean13", "4006381333931"),
            ("ean13", "5901234123457"),
            ("ean8", "73513537"),
            ("upc", "036000291452"),
            ("gtin", "036000291452"),
            ("gtin", "10614141000415"),
            ("sscc", "106141412345678908"),
            ("isbn13", "978-3-16-148410-0"),
            ("isbn10", "0-306-40615-2"),
            ("isbn10", "097522980X"),
            ("luhn", "79927398713"),
            ("iban", "DE89 3704 0044 0532 0130 00"),
            ("iban", "GB29 NWBK 6016 1331 9268 19"),
            ("iban", "no9386011117947"),
        ] {
            assert_eq!(check(name, number), Ok(()), "{name} {number}");
        }
    }

    #[test]
    fn the_expected_digit_is_shown() {
        for (name, number, message) in [
            ("ean13", "4006381333932", "is not an EAN-13: its check digit should be 1, not 2"),
            ("ean13", "400638133393", "is not an EAN-13: it has 12 digits instead of 13"),
            ("gtin", "123", "is not a GTIN: it has 3 digits instead of 8, 12, 13, 14"),
            ("ean13", "4006381-33393", "is not an EAN-13: it has the character '-'"),
            ("isbn13", "4006381333931", "is not an ISBN-13: it does not begin with 978 or 979"),
            ("isbn10", "0975229801", "is not an ISBN-10: its check digit should be X, not 1"),
            ("iban", "DE88370400440532013000", "is not an IBAN: its check digits should be 89, not 88"),
            ("iban", "DE8937040044053201300", "is not an IBAN: it has 21 digits instead of 22"),
            ("iban", "ZZ89", "is not an IBAN: 'ZZ' is not a country with IBANs"),
            ("luhn", "", "is not a number with a Luhn digit: it has 0 digits instead of 2"),
        ] {
            assert_eq!(check(name, number), Err(message.to_owned()), "{name} {number}");
        }
    }

    proptest! {
        #[test]
        fn exactly_one_check_digit_is_right(digits in "[0-9]{12}", other in 0_u32..10) {
            let right: Vec<u32> = (0..10).filter(|digit| check("ean13", &format!("{digits}{digit}")).is_ok()).collect();
            prop_assert_eq!(right.len(), 1);
            let wrong = check("ean13", &format!("{digits}{other}"));
            prop_assert!(wrong.is_ok() == (other == right[0]));
        }

        #[test]
        fn any_text_is_judged_without_a_panic(text in "\\PC{0,30}") {
            for scheme in SCHEMES {
                let _judged: bool = scheme.check(&text).is_ok();
            }
        }
    }
}

//! Number formats that show an identifier's leading zeros: `00000`, `000-000`, `"SKU-"0000`.
//!
//! Somebody who types 42 into such a cell sees 00042, means 00042, and would be surprised by anything else. Formats of
//! amounts (separators of thousands, decimals, percent, units after the digits) say how a number is dressed, not what
//! it is, and are left alone.

use super::number_format::{Condition, Section, split};

/// What a format does to a whole number, if it is one that shows leading zeros.
#[derive(Clone, Debug, PartialEq)]
pub struct LeadingZeros {
    /// At most three, in the order in which they are tried.
    sections: Vec<Section<Pieces>>,
}

/// From left to right; nothing for a section that shows no identifier.
type Pieces = Option<Vec<Piece>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Literal(char),
    /// A place for one digit; the leftmost takes all that are left.
    Digit,
}

impl LeadingZeros {
    /// Nothing for a format that shows no leading zeros.
    pub fn of(format: &str) -> Option<LeadingZeros> {
        if format.matches('0').count() < 2 {
            return None;
        }
        let sections: Vec<_> = split(format).into_iter().take(3).map(section).collect();
        sections.iter().any(|section| section.content.is_some()).then_some(LeadingZeros { sections })
    }

    /// The number as the cell shows it, where that is more than its digits.
    pub fn shown(&self, number: f64) -> Option<String> {
        if number.fract() != 0.0 || !(0.0..1e15).contains(&number) {
            return None;
        }
        let pieces = Section::choose(&self.sections, number)?.as_ref()?;
        let number = number as u64;
        let places = pieces.iter().filter(|piece| matches!(piece, Piece::Digit)).count();
        let digits = format!("{number:0places$}");
        // From the right, because that is where places are counted from.
        let (mut left, mut filled, mut shown) = (digits.chars().rev(), 0, Vec::new());
        for piece in pieces.iter().rev() {
            match piece {
                Piece::Literal(literal) => shown.push(*literal),
                Piece::Digit => {
                    filled += 1;
                    shown.extend(left.by_ref().take(if filled < places { 1 } else { usize::MAX }));
                }
            }
        }
        let shown: String = shown.iter().rev().collect();
        (shown != number.to_string()).then_some(shown)
    }
}

fn section(code: &str) -> Section<Pieces> {
    let mut parsed = Section { condition: None, content: None };
    let mut pieces = Vec::new();
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match c {
            '0' => pieces.push(Piece::Digit),
            '"' => pieces.extend(chars.by_ref().take_while(|c| *c != '"').map(Piece::Literal)),
            '\\' => pieces.extend(chars.next().map(Piece::Literal)),
            // The width of a character as a space, or a character that fills the cell.
            '_' | '*' => drop(chars.next()),
            '[' => {
                let inner: String = chars.by_ref().take_while(|c| *c != ']').collect();
                if inner.starts_with(['<', '>', '=']) {
                    parsed.condition = Condition::parse(&inner);
                    if parsed.condition.is_none() {
                        return parsed;
                    }
                } else if inner.starts_with('$') && !inner.starts_with("$-") || is_elapsed(&inner) {
                    return parsed;
                }
            }
            '-' | ' ' | '(' | ')' | '+' | ':' => pieces.push(Piece::Literal(c)),
            // Everything else makes an amount, a fraction, a date or a text of it.
            _ => return parsed,
        }
    }
    let digits = pieces.iter().filter(|piece| matches!(piece, Piece::Digit)).count();
    let is_literal = |piece: &Piece, of: &[char]| matches!(piece, Piece::Literal(c) if of.contains(c));
    let has_unit =
        pieces.iter().rev().take_while(|piece| **piece != Piece::Digit).any(|piece| !is_literal(piece, &[' ', ')']));
    let has_currency = pieces.iter().any(|piece| is_literal(piece, &['$', '€', '£', '¥']));
    if digits >= 2 && !has_unit && !has_currency {
        while pieces.last().is_some_and(|piece| is_literal(piece, &[' '])) {
            pieces.pop();
        }
        parsed.content = Some(pieces);
    }
    parsed
}

/// `[h]`, `[mm]`.
fn is_elapsed(inner: &str) -> bool {
    inner.chars().all(|c| matches!(c.to_ascii_lowercase(), 'h' | 'm' | 's'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &str, number: f64, expected: Option<&str>) {
        let shown = LeadingZeros::of(format).and_then(|format| format.shown(number));
        assert_eq!(shown.as_deref(), expected, "{format} {number}");
    }

    #[test]
    fn identifiers_are_shown_with_their_zeros() {
        check("00000", 42.0, Some("00042"));
        check("00000", 0.0, Some("00000"));
        check("000-000", 1234.0, Some("001-234"));
        check("000-000", 12_345_678.0, Some("12345-678"));
        check("00000\\-0000", 12_345_678.0, Some("01234-5678"));
        check("\"SKU-\"0000", 7.0, Some("SKU-0007"));
        check("[<=99999]00000;00000\\-0000", 501.0, Some("00501"));
        check("[<=99999]00000;00000\\-0000", 12_345_678.0, Some("01234-5678"));
        check("0000\"-\"00\"-\"00", 20_250_131.0, Some("2025-01-31"));
        check("[$-409]000_)", 7.0, Some("007"));
        check("00;-00;\"none\"", 0.0, None);
    }

    #[test]
    fn what_shows_no_more_than_the_digits_stays_a_number() {
        check("00000", 123_456.0, None);
        check("00000", 0.5, None);
        check("00000", -42.0, None);
        check("00000", 1e15, None);
        check("00000", f64::NAN, None);
    }

    #[test]
    fn formats_of_amounts_dates_and_fractions_are_left_alone() {
        let formats = [
            "General",
            "0",
            "0.00",
            "00.00",
            "#,##0",
            "00,000",
            "0%",
            "00%",
            "0.00E+00",
            "000\" kg\"",
            "\"€\"00",
            "[$€-407]00",
            "00/00",
            "[h]:mm:00",
            "hh:mm:ss.00",
            "00@",
            "0\"",
            "[<x]00",
            "yyyy00",
        ];
        for format in formats {
            assert_eq!(LeadingZeros::of(format), None, "{format}");
        }
    }
}

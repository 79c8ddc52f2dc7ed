//! Formats with the leading zeros of an identifier: `00000`, `000-000`, `"SKU-"0000`.
//!
//! A person who types 42 into such a cell sees and means 00042. Formats of amounts (thousands separators, decimals,
//! percent signs, units after the digits) do not change the meaning of a number and are ignored.

use sheetport_values::decimal::Decimal;

use super::pattern::{Pattern, Piece, Writing};
use super::section::{Condition, Section, Sections};

/// A format with leading zeros.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LeadingZeros(Sections<Pattern>);

impl LeadingZeros {
    /// Returns `None` for formats without leading zeros.
    pub(super) fn parse(format: &str) -> Option<LeadingZeros> {
        if format.matches('0').count() < 2 {
            return None;
        }
        Sections::parse(format, section).map(LeadingZeros)
    }

    /// Formats a number. Returns `None` if the result equals its plain digits.
    pub(super) fn format(&self, number: f64) -> Option<String> {
        if number.fract() != 0.0 || !(0.0..1e15).contains(&number) {
            return None;
        }
        let number = number as u64;
        let shown = self.0.of(number as f64)?.show(Decimal::from(number), Writing::Shown)?;
        (shown != number.to_string()).then_some(shown)
    }
}

fn section(code: &str) -> Section<Option<Pattern>> {
    let mut parsed = Section { condition: None, content: None };
    let mut pieces = Vec::new();
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match c {
            '0' => pieces.push(Piece::Zero),
            '"' => pieces.extend(chars.by_ref().take_while(|c| *c != '"').map(Piece::Literal)),
            '\\' => pieces.extend(chars.next().map(Piece::Literal)),
            // A space as wide as a character, or a fill character.
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
            // With any other character, this is the format of an amount, a fraction, a date or a text.
            _ => return parsed,
        }
    }
    let digits = pieces.iter().filter(|piece| matches!(piece, Piece::Zero)).count();
    let is_literal = |piece: &Piece, of: &[char]| matches!(piece, Piece::Literal(c) if of.contains(c));
    let has_unit =
        pieces.iter().rev().take_while(|piece| **piece != Piece::Zero).any(|piece| !is_literal(piece, &[' ', ')']));
    let has_currency = pieces.iter().any(|piece| is_literal(piece, &['$', '€', '£', '¥']));
    if digits >= 2 && !has_unit && !has_currency {
        while pieces.last().is_some_and(|piece| is_literal(piece, &[' '])) {
            pieces.pop();
        }
        parsed.content = Some(Pattern::of_whole(pieces));
    }
    parsed
}

/// Returns true for formats of elapsed time: `[h]`, `[mm]`.
fn is_elapsed(inner: &str) -> bool {
    inner.chars().all(|c| matches!(c.to_ascii_lowercase(), 'h' | 'm' | 's'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &str, number: f64, expected: Option<&str>) {
        let shown = LeadingZeros::parse(format).and_then(|format| format.format(number));
        assert_eq!(shown.as_deref(), expected, "{format} {number}");
    }

    #[test]
    fn identifiers_keep_their_leading_zeros() {
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
    fn numbers_shown_as_plain_digits_stay_numbers() {
        check("00000", 123_456.0, None);
        check("00000", 0.5, None);
        check("00000", -42.0, None);
        check("00000", 1e15, None);
        check("00000", f64::NAN, None);
    }

    #[test]
    fn formats_of_amounts_dates_and_fractions_are_ignored() {
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
            assert_eq!(LeadingZeros::parse(format), None, "{format}");
        }
    }
}

//! Dates written by a pattern.

use std::fmt::Write;

use jiff::civil::DateTime;

use super::format::{PatternError, unknown};
use super::month;

/// A pattern for writing dates, with the parts of [`DateFormat`](super::DateFormat) and names of months in English.
#[derive(Clone, Debug)]
pub struct DateWriter {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Literal(String),
    Date(Part),
    Time(Part),
}

/// Appends a part of a date.
type Part = fn(DateTime, &mut String) -> std::fmt::Result;

const DATE_PARTS: &[(&str, Part)] = &[
    ("YYYY", |at, out| write!(out, "{:04}", at.year())),
    ("YY", |at, out| write!(out, "{:02}", at.year() % 100)),
    ("MMMM", |at, out| out.write_str(month::english(at.month()))),
    ("MMM", |at, out| out.write_str(&month::english(at.month())[..3])),
    ("MM", |at, out| write!(out, "{:02}", at.month())),
    ("M", |at, out| write!(out, "{}", at.month())),
    ("DD", |at, out| write!(out, "{:02}", at.day())),
    ("D", |at, out| write!(out, "{}", at.day())),
];

const TIME_PARTS: &[(&str, Part)] = &[
    ("HH", |at, out| write!(out, "{:02}", at.hour())),
    ("H", |at, out| write!(out, "{}", at.hour())),
    ("hh", |at, out| write!(out, "{:02}", twelve(at.hour()))),
    ("h", |at, out| write!(out, "{}", twelve(at.hour()))),
    ("mm", |at, out| write!(out, "{:02}", at.minute())),
    ("m", |at, out| write!(out, "{}", at.minute())),
    ("ss", |at, out| write!(out, "{:02}", at.second())),
    ("s", |at, out| write!(out, "{}", at.second())),
    ("SSS", |at, out| write!(out, "{:03}", at.millisecond())),
    ("A", |at, out| out.write_str(if at.hour() < 12 { "AM" } else { "PM" })),
];

impl DateWriter {
    /// Parses a pattern. Letters that are not a part need brackets: `D [de] MMMM`. Fails for unknown parts, and for a pattern
    /// without parts.
    pub fn parse(pattern: &str) -> Result<DateWriter, PatternError> {
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some(c) = pattern[at..].chars().next() {
            let rest = &pattern[at..];
            let length = if c == '[' {
                let Some(end) = rest.find(']') else {
                    return Err(PatternError { message: "this bracket is not closed".to_owned(), range: at..at + 1 });
                };
                pieces.push(Piece::Literal(rest[1..end].to_owned()));
                end + 1
            } else if c.is_ascii_alphabetic() {
                let token = &rest[..rest.bytes().take_while(|byte| *byte == c as u8).count()];
                let find =
                    |parts: &[(&str, Part)]| parts.iter().find(|(name, _)| *name == token).map(|(_, part)| *part);
                pieces.push(match (find(DATE_PARTS), find(TIME_PARTS)) {
                    (Some(part), _) => Piece::Date(part),
                    (None, Some(part)) => Piece::Time(part),
                    // The separator between date and time in ISO 8601.
                    (None, None) if token == "T" => Piece::Literal(token.to_owned()),
                    (None, None) => {
                        return Err(PatternError { message: unknown(token), range: at..at + token.len() });
                    }
                });
                token.len()
            } else {
                pieces.push(Piece::Literal(c.to_string()));
                c.len_utf8()
            };
            at += length;
        }
        if pieces.iter().all(|piece| matches!(piece, Piece::Literal(_))) {
            let message = "the pattern has no part of a date, such as YYYY".to_owned();
            return Err(PatternError { message, range: 0..pattern.len() });
        }
        Ok(DateWriter { pieces })
    }

    /// Returns whether the pattern has a part of the time of day.
    pub fn needs_time(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Time(_)))
    }

    pub fn write(&self, at: DateTime) -> String {
        let mut written = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => written.push_str(text),
                Piece::Date(part) | Piece::Time(part) => part(at, &mut written).expect("memory can be written"),
            }
        }
        written
    }
}

fn twelve(hour: i8) -> i8 {
    if hour % 12 == 0 { 12 } else { hour % 12 }
}

#[cfg(test)]
mod tests {
    use jiff::civil::datetime;

    use super::*;

    #[test]
    fn dates_are_written_by_their_pattern() {
        for (pattern, text) in [
            ("YYYY-MM", "2025-03"),
            ("D.M.YY", "5.3.25"),
            ("DD. MMMM YYYY", "05. March 2025"),
            ("D [de] MMM", "5 de Mar"),
            ("YYYYMMDDTHHmmss", "20250305T130709"),
            ("h:mm A [é]", "1:07 PM é"),
            ("ss.SSS年", "09.250年"),
        ] {
            let writer = DateWriter::parse(pattern).expect(pattern);
            assert_eq!(writer.write(datetime(2025, 3, 5, 13, 7, 9, 250_000_000)), text);
            assert_eq!(writer.needs_time(), pattern.contains(['m', 's']), "{pattern}");
        }
        for (pattern, range, words) in [
            ("yyyy-MM", 0..4, "did you mean 'YYYY'?"),
            ("YYYY [x", 5..6, "not closed"),
            ("--", 0..2, "no part of a date"),
        ] {
            let error = DateWriter::parse(pattern).expect_err(pattern);
            assert!(error.message.contains(words), "{pattern}: {error}");
            assert_eq!(error.range, range, "{pattern}: {error}");
        }
    }
}

//! The detected format of a text file with the confidence of each decision, and the `sep=` line with a delimiter.

use super::confidence::Confidence;
use super::encoding::DetectedEncoding;
use super::grammar::Grammar;
use crate::compression::Compression;

/// Line ending of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnding {
    Lf,
    CrLf,
    Cr,
    Mixed,
    /// The text has a single line.
    None,
}

/// The format of a text file.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    pub compression: Compression,
    pub encoding: DetectedEncoding,
    pub grammar: Grammar,
    pub line_ending: LineEnding,
    /// Length of a first line `sep=;` with its line ending, in UTF-8, or 0.
    pub directive: usize,
    pub confidence: DialectConfidence,
}

#[derive(Clone, Copy, Debug)]
pub struct DialectConfidence {
    pub encoding: Confidence,
    pub delimiter: Confidence,
    pub quote: Confidence,
    pub escape: Confidence,
}

impl LineEnding {
    pub fn of(sample: &str) -> LineEnding {
        let crlf = sample.matches("\r\n").count();
        let lf = sample.matches('\n').count() - crlf;
        let cr = sample.matches('\r').count() - crlf - usize::from(sample.ends_with('\r') && crlf + lf > 0);
        match (crlf > 0, lf > 0, cr > 0) {
            (false, false, false) => LineEnding::None,
            (true, false, false) => LineEnding::CrLf,
            (false, true, false) => LineEnding::Lf,
            (false, false, true) => LineEnding::Cr,
            _ => LineEnding::Mixed,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            LineEnding::Lf => "LF",
            LineEnding::CrLf => "CRLF",
            LineEnding::Cr => "CR",
            LineEnding::Mixed => "mixed",
            LineEnding::None => "none",
        }
    }
}

/// Parses a first line `sep=;`. Returns the delimiter and the length of the line with its ending.
pub(crate) fn directive(text: &str) -> Option<(u8, usize)> {
    let line = text.split(['\n', '\r']).next()?;
    let bare = line.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(line);
    let named = bare.get(..4).filter(|start| start.eq_ignore_ascii_case("sep=")).map(|_| &bare.as_bytes()[4..])?;
    let &[delimiter] = named else { return None };
    if !is_valid_delimiter(delimiter) {
        return None;
    }
    let rest = &text[line.len()..];
    let ending = if rest.starts_with("\r\n") { 2 } else { rest.len().min(1) };
    Some((delimiter, line.len() + ending))
}

/// Returns true if `byte` can be a delimiter.
fn is_valid_delimiter(byte: u8) -> bool {
    byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r' | 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_can_declare_the_delimiter() {
        assert_eq!(directive("sep=;\r\na;b"), Some((b';', 7)));
        assert_eq!(directive("\"SEP=|\"\na|b"), Some((b'|', 8)));
        assert_eq!(directive("sep=\t"), Some((b'\t', 5)));
        assert_eq!(directive("sep=;;\na"), None);
        assert_eq!(directive("sep=\"\na"), None);
        assert_eq!(directive("separator;b"), None);
        assert_eq!(directive("séparateur"), None);
    }

    #[test]
    fn line_endings_are_detected() {
        assert_eq!(LineEnding::of("a\r\nb\r\n"), LineEnding::CrLf);
        assert_eq!(LineEnding::of("a\nb\n"), LineEnding::Lf);
        assert_eq!(LineEnding::of("a\rb\r"), LineEnding::Cr);
        assert_eq!(LineEnding::of("a\rb\nc"), LineEnding::Mixed);
        assert_eq!(LineEnding::of("a\r\nb\r"), LineEnding::CrLf, "the sample cuts a line ending");
        assert_eq!(LineEnding::of("a"), LineEnding::None);
    }
}

//! How a text file is to be read, every decision with how sure it is, and the line by which a file names its own
//! delimiter.

use super::encoding::Found;
use super::grammar::Grammar;
use super::inflate::Packing;

/// How sure a decision about a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sure {
    /// Another reading does nearly as well, or there is little to go by.
    Guess,
    Likely,
    Certain,
    /// The caller or the file itself says it.
    Told,
}

impl Sure {
    pub fn name(self) -> &'static str {
        match self {
            Sure::Guess => "guess",
            Sure::Likely => "likely",
            Sure::Certain => "certain",
            Sure::Told => "told",
        }
    }
}

/// What ends the lines of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Lf,
    CrLf,
    Cr,
    Mixed,
    /// There is but one line.
    None,
}

/// How a text file is to be read.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    pub packing: Packing,
    pub found: Found,
    pub grammar: Grammar,
    pub ending: Ending,
    /// The bytes of a first line `sep=;` with its line ending, as UTF-8; 0 where there is none.
    pub directive: usize,
    pub sure: Sureness,
}

#[derive(Clone, Copy, Debug)]
pub struct Sureness {
    pub encoding: Sure,
    pub delimiter: Sure,
    pub quote: Sure,
    pub escape: Sure,
}

impl Ending {
    pub fn of(sample: &str) -> Ending {
        let crlf = sample.matches("\r\n").count();
        let lf = sample.matches('\n').count() - crlf;
        let cr = sample.matches('\r').count() - crlf - usize::from(sample.ends_with('\r') && crlf + lf > 0);
        match (crlf > 0, lf > 0, cr > 0) {
            (false, false, false) => Ending::None,
            (true, false, false) => Ending::CrLf,
            (false, true, false) => Ending::Lf,
            (false, false, true) => Ending::Cr,
            _ => Ending::Mixed,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Ending::Lf => "LF",
            Ending::CrLf => "CRLF",
            Ending::Cr => "CR",
            Ending::Mixed => "mixed",
            Ending::None => "none",
        }
    }
}

/// The delimiter that the file itself names in a first line `sep=;`, and that line's bytes with its line ending.
pub fn directive(text: &str) -> Option<(u8, usize)> {
    let line = text.split(['\n', '\r']).next()?;
    let bare = line.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(line);
    let named = bare.get(..4).filter(|start| start.eq_ignore_ascii_case("sep=")).map(|_| &bare.as_bytes()[4..])?;
    let &[delimiter] = named else { return None };
    if !is_possible(delimiter) {
        return None;
    }
    let rest = &text[line.len()..];
    let ending = if rest.starts_with("\r\n") { 2 } else { rest.len().min(1) };
    Some((delimiter, line.len() + ending))
}

/// Whether fields can be separated by `byte` at all.
pub fn is_possible(byte: u8) -> bool {
    byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r' | 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_name_its_delimiter() {
        assert_eq!(directive("sep=;\r\na;b"), Some((b';', 7)));
        assert_eq!(directive("\"SEP=|\"\na|b"), Some((b'|', 8)));
        assert_eq!(directive("sep=\t"), Some((b'\t', 5)));
        assert_eq!(directive("sep=;;\na"), None);
        assert_eq!(directive("sep=\"\na"), None);
        assert_eq!(directive("separator;b"), None);
        assert_eq!(directive("séparateur"), None);
    }

    #[test]
    fn line_endings_are_told_apart() {
        assert_eq!(Ending::of("a\r\nb\r\n"), Ending::CrLf);
        assert_eq!(Ending::of("a\nb\n"), Ending::Lf);
        assert_eq!(Ending::of("a\rb\r"), Ending::Cr);
        assert_eq!(Ending::of("a\rb\nc"), Ending::Mixed);
        assert_eq!(Ending::of("a\r\nb\r"), Ending::CrLf, "a sample that cuts an ending");
        assert_eq!(Ending::of("a"), Ending::None);
    }
}

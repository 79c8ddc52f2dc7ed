//! Parsing of delimited text: finds the fields of a record.
//!
//! Well-formed records follow RFC 4180 with any delimiter, quote and escape. A quote in any other position is a stray
//! quote. Such a record is parsed in the way that yields the number of fields of the other records, and the stray quote
//! becomes text.

use memchr::{memchr, memchr2, memchr3};

/// The number of columns of a sheet.
pub(crate) const MAX_COLUMNS: usize = 16_384;

/// The special characters of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grammar {
    pub delimiter: u8,
    /// Minimum number of consecutive delimiters to count as a single delimiter; delimiters around a record are ignored. 0 if
    /// every delimiter counts.
    pub runs: usize,
    /// A space after a delimiter belongs to the delimiter.
    pub spaced: bool,
    pub quote: Option<u8>,
    /// Escapes quotes in quoted fields. Without an escape, quotes are doubled.
    pub escape: Option<u8>,
    /// The usual number of fields, used to interpret stray quotes; 0 if unknown.
    pub columns: usize,
}

/// Position of a field in the input, or in [`Fields::spill`] if its text differs from the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub end: usize,
    pub spilled: bool,
}

/// The fields of a record. Reusable.
#[derive(Debug, Default)]
pub struct Fields {
    pub spans: Vec<Span>,
    pub spill: Vec<u8>,
}

impl Fields {
    pub fn clear(&mut self) {
        self.spans.clear();
        self.spill.clear();
    }

    /// Returns the bytes of a field. The record must be at the start of `input`.
    pub fn get<'a>(&'a self, index: usize, input: &'a [u8]) -> &'a [u8] {
        let span = self.spans[index];
        if span.spilled { &self.spill[span.start..span.end] } else { &input[span.start..span.end] }
    }
}

/// Result of parsing a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A record of this length with its line ending.
    Record {
        len: usize,
        strays: bool,
    },
    /// The record does not end in the input.
    More,
    /// The text ends within a quoted field of several lines.
    Unclosed,
    TooWide,
}

/// Interpretation of stray quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strays {
    Stop,
    /// Text within the quoted field.
    Inner,
    /// The field is not quoted; its first quote is text.
    Outer,
}

enum Step {
    Record(usize),
    More,
    Stray,
    Unclosed { open: usize },
    TooWide,
}

enum Quoted {
    /// Position after the field: a delimiter, a line ending or the end.
    Closed(usize),
    More,
    Stray,
    Unclosed,
}

impl Grammar {
    /// Returns the grammar of RFC 4180 with this delimiter.
    #[cfg(test)]
    pub fn plain(delimiter: u8) -> Grammar {
        Grammar { delimiter, runs: 0, spaced: false, quote: Some(b'"'), escape: None, columns: 0 }
    }

    /// Parses the record at the start of `input`, which must not be empty. `at_end` means that the input is complete.
    pub fn record(&self, input: &[u8], at_end: bool, fields: &mut Fields) -> Outcome {
        match self.scan(input, at_end, Strays::Stop, fields) {
            Step::Record(len) => Outcome::Record { len, strays: false },
            Step::More => Outcome::More,
            Step::TooWide => Outcome::TooWide,
            Step::Stray => self.parse_strays(input, at_end, fields),
            Step::Unclosed { open } if takes_lines(&input[open..]) => Outcome::Unclosed,
            Step::Unclosed { .. } => self.outer(input, at_end, fields),
        }
    }

    /// Parses a record with stray quotes in both ways and takes the one with the number of fields nearer to the usual one.
    /// On a tie, the field counts as quoted unless it would contain line breaks.
    fn parse_strays(&self, input: &[u8], at_end: bool, fields: &mut Fields) -> Outcome {
        let distance = |fields: &Fields| match self.columns {
            0 => 0,
            columns => fields.spans.len().abs_diff(columns),
        };
        let inner = match self.scan(input, at_end, Strays::Inner, fields) {
            Step::Record(len) if takes_lines(&input[..len]) => Some((len, 2 * distance(fields) + 1)),
            Step::Record(len) if distance(fields) == 0 => return Outcome::Record { len, strays: true },
            Step::Record(len) => Some((len, 2 * distance(fields))),
            Step::More => return Outcome::More,
            Step::Stray | Step::Unclosed { .. } | Step::TooWide => None,
        };
        let outer = self.outer(input, at_end, fields);
        match (inner, outer) {
            (Some((len, inner)), Outcome::Record { .. }) if inner <= 2 * distance(fields) => {
                self.scan(input, at_end, Strays::Inner, fields);
                Outcome::Record { len, strays: true }
            }
            (_, outer) => outer,
        }
    }

    fn outer(&self, input: &[u8], at_end: bool, fields: &mut Fields) -> Outcome {
        match self.scan(input, at_end, Strays::Outer, fields) {
            Step::Record(len) => Outcome::Record { len, strays: true },
            Step::More => Outcome::More,
            Step::TooWide => Outcome::TooWide,
            Step::Stray | Step::Unclosed { .. } => Outcome::Unclosed,
        }
    }

    fn scan(&self, input: &[u8], at_end: bool, strays: Strays, fields: &mut Fields) -> Step {
        fields.clear();
        let mut at = if self.runs > 0 { self.skip_delimiters(input, 0) } else { 0 };
        loop {
            if fields.spans.len() >= MAX_COLUMNS {
                return Step::TooWide;
            }
            if self.spaced && !fields.spans.is_empty() && input.get(at) == Some(&b' ') {
                at += 1;
            }
            let after = match self.opening(input, at) {
                None => self.unquoted(input, at, fields),
                Some(open) => match self.quoted(input, at_end, open, strays, fields) {
                    Quoted::Closed(after) => after,
                    Quoted::More => return Step::More,
                    Quoted::Unclosed if strays == Strays::Outer && !takes_lines(&input[open..]) => {
                        self.unquoted(input, at, fields)
                    }
                    Quoted::Unclosed => return Step::Unclosed { open },
                    Quoted::Stray if strays == Strays::Outer => self.unquoted(input, at, fields),
                    Quoted::Stray => return Step::Stray,
                },
            };
            match input.get(after) {
                None if at_end => return Step::Record(after),
                None => return Step::More,
                Some(b'\n') => return Step::Record(after + 1),
                Some(b'\r') => match input.get(after + 1) {
                    Some(b'\n') => return Step::Record(after + 2),
                    None if !at_end => return Step::More,
                    _ => return Step::Record(after + 1),
                },
                Some(_) if self.runs == 0 => at = after + 1,
                Some(_) => {
                    at = self.skip_delimiters(input, after);
                    // Delimiters before a line ending are padding, not a field.
                    match input.get(at) {
                        None if at_end => return Step::Record(at),
                        None => return Step::More,
                        Some(b'\n' | b'\r') => {
                            let len = if input[at..].starts_with(b"\r\n") { at + 2 } else { at + 1 };
                            if len == input.len() && input[at] == b'\r' && len == at + 1 && !at_end {
                                return Step::More;
                            }
                            return Step::Record(len);
                        }
                        Some(_) => {}
                    }
                }
            }
        }
    }

    fn skip_delimiters(&self, input: &[u8], from: usize) -> usize {
        from + input[from..].iter().take_while(|byte| **byte == self.delimiter).count()
    }

    /// Returns the position of the opening quote of the field at `at`, possibly after spaces.
    fn opening(&self, input: &[u8], at: usize) -> Option<usize> {
        let quote = self.quote?;
        match *input.get(at)? {
            byte if byte == quote => Some(at),
            b' ' if self.delimiter != b' ' => {
                let open = at + input[at..].iter().take_while(|byte| **byte == b' ').count();
                (input.get(open) == Some(&quote)).then_some(open)
            }
            _ => None,
        }
    }

    fn unquoted(&self, input: &[u8], start: usize, fields: &mut Fields) -> usize {
        // Most fields are short, and starting a vector search takes longer than scanning them.
        if let Some(near) = near(&input[start..], self.delimiter).filter(|_| self.runs <= 1) {
            fields.spans.push(Span { start, end: start + near, spilled: false });
            return start + near;
        }
        let mut at = start;
        let after = loop {
            let Some(found) = memchr3(self.delimiter, b'\n', b'\r', &input[at..]).map(|found| at + found) else {
                break input.len();
            };
            let run = if self.runs > 1 && input[found] == self.delimiter {
                self.skip_delimiters(input, found) - found
            } else {
                self.runs
            };
            // Delimiters before a line ending are padding, even a short run.
            if run >= self.runs || matches!(input.get(found + run), None | Some(b'\n' | b'\r')) {
                break found;
            }
            at = found + run;
        };
        fields.spans.push(Span { start, end: after, spilled: false });
        after
    }

    fn quoted(&self, input: &[u8], at_end: bool, open: usize, strays: Strays, fields: &mut Fields) -> Quoted {
        let quote = input[open];
        let spill = fields.spill.len();
        let (mut from, mut at, mut strayed) = (open + 1, open + 1, false);
        loop {
            let rest = &input[at..];
            let found = match self.escape {
                None => memchr(quote, rest),
                Some(escape) => memchr2(quote, escape, rest),
            };
            if strayed && rest[..found.unwrap_or(rest.len())].iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
                return Quoted::Stray;
            }
            let Some(found) = found.map(|found| at + found) else {
                return if at_end { Quoted::Unclosed } else { Quoted::More };
            };
            let next = input.get(found + 1);
            if next.is_none() && !at_end {
                return Quoted::More;
            }
            if input[found] != quote {
                at = found + 1;
                if next.is_some_and(|next| *next == quote || *next == input[found]) {
                    fields.spill.extend_from_slice(&input[from..found]);
                    from = found + 1;
                    at = found + 2;
                }
                continue;
            }
            if next == Some(&quote) {
                fields.spill.extend_from_slice(&input[from..=found]);
                from = found + 2;
                at = from;
                continue;
            }
            let mut after = found + 1;
            if self.delimiter != b' ' {
                after += input[after..].iter().take_while(|byte| **byte == b' ').count();
            }
            match input.get(after) {
                None if !at_end => return Quoted::More,
                Some(byte) if *byte != self.delimiter && !matches!(byte, b'\n' | b'\r') => {
                    if strays != Strays::Inner {
                        fields.spill.truncate(spill);
                        return Quoted::Stray;
                    }
                    strayed = true;
                    at = found + 1;
                }
                _ => {
                    fields.spans.push(if from == open + 1 {
                        Span { start: from, end: found, spilled: false }
                    } else {
                        fields.spill.extend_from_slice(&input[from..found]);
                        Span { start: spill, end: fields.spill.len(), spilled: true }
                    });
                    return Quoted::Closed(after);
                }
            }
        }
    }
}

/// Returns the position of the first delimiter or line ending among the first 24 bytes. Compares eight bytes at a time; only
/// the lowest match in a word is exact, because a zero byte borrows from higher ones.
#[inline]
fn near(input: &[u8], delimiter: u8) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let all = |byte: u8| ONES * u64::from(byte);
    let (delimiters, feeds, returns) = (all(delimiter), all(b'\n'), all(b'\r'));
    let words = input.as_chunks::<8>().0;
    for (index, word) in words.iter().take(3).enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = zeros(word ^ delimiters) | zeros(word ^ feeds) | zeros(word ^ returns);
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    None
}

/// Returns true if text continues after a line ending.
fn takes_lines(quoted: &[u8]) -> bool {
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let text = quoted.iter().rposition(|byte| !is_break(byte)).map_or(0, |last| last + 1);
    quoted[..text].iter().any(is_break)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(grammar: Grammar, text: &str) -> Vec<Vec<String>> {
        let (mut fields, mut all, mut rest) = (Fields::default(), Vec::new(), text.as_bytes());
        while !rest.is_empty() {
            match grammar.record(rest, true, &mut fields) {
                Outcome::Record { len, .. } => {
                    let field = |index| String::from_utf8_lossy(fields.get(index, rest)).into_owned();
                    all.push((0..fields.spans.len()).map(field).collect());
                    rest = &rest[len..];
                }
                other => panic!("{other:?} at {:?}", String::from_utf8_lossy(rest)),
            }
        }
        all
    }

    #[track_caller]
    fn check(grammar: Grammar, text: &str, expected: &[&[&str]]) {
        assert_eq!(records(grammar, text), expected, "{text}");
        // A shorter input only asks for more.
        let mut fields = Fields::default();
        for len in 0..text.len() {
            match grammar.record(&text.as_bytes()[..len], false, &mut fields) {
                Outcome::Record { .. } => assert_eq!(fields.spans.len(), expected[0].len(), "{text} at {len}"),
                other => assert_eq!(other, Outcome::More, "{text} at {len}"),
            }
        }
    }

    #[test]
    fn quoted_fields_and_doubled_quotes_are_parsed() {
        let comma = Grammar::plain(b',');
        check(comma, "a,\"b,c\",\r\n\"d \"\"e\"\"\",\"f\ng\",", &[&["a", "b,c", ""], &["d \"e\"", "f\ng", ""]]);
        check(comma, "a,\"\",\"\"\"\"\rb", &[&["a", "", "\""], &["b"]]);
        check(comma, "a, \"b,c\" ,d\n", &[&["a", "b,c", "d"]]);
        check(Grammar { quote: Some(b'\''), ..comma }, "'a,b',\"c\n", &[&["a,b", "\"c"]]);
        check(Grammar { quote: None, ..comma }, "\"a,b\n", &[&["\"a", "b"]]);
    }

    #[test]
    fn escaped_quotes_are_parsed() {
        let backslash = Grammar { escape: Some(b'\\'), ..Grammar::plain(b',') };
        check(backslash, "\"a \\\"b\\\", c\",\"d\\\\\",e\\f\n", &[&["a \"b\", c", "d\\", "e\\f"]]);
        check(backslash, "\"C:\\new\",\"x \"\"y\"\"\"\n", &[&["C:\\new", "x \"y\""]]);
    }

    #[test]
    fn runs_of_delimiters_count_as_one() {
        let runs = Grammar { runs: 1, ..Grammar::plain(b' ') };
        check(runs, "  a   b \"c  d\"  \n1 2 3", &[&["a", "b", "c  d"], &["1", "2", "3"]]);
        let wide = Grammar { runs: 2, ..runs };
        check(wide, "Bolt M8   5  pcs \r\nNut M8    6  pcs\r\n", &[&["Bolt M8", "5", "pcs"], &["Nut M8", "6", "pcs"]]);
        let spaced = Grammar { spaced: true, ..Grammar::plain(b',') };
        check(spaced, "a, b,  c, \"d, e\"\n", &[&["a", "b", " c", "d, e"]]);
    }

    #[test]
    fn stray_quotes_are_text_and_preserve_the_number_of_columns() {
        let three = Grammar { columns: 3, ..Grammar::plain(b',') };
        check(three, "1,\"2,\"3\"\n", &[&["1", "\"2", "3"]]);
        check(three, "1,\"say \"hi\" now\",3\n", &[&["1", "say \"hi\" now", "3"]]);
        check(three, "1,2,\"\n4,5,\"x\"\n", &[&["1", "2", "\""], &["4", "5", "x"]]);
        check(three, "1,\"\"2, 3\",4\n", &[&["1", "\"2, 3", "4"]]);
        check(three, "1,\"2\"x,3\n", &[&["1", "\"2\"x", "3"]]);
    }

    #[test]
    fn an_unclosed_quote_over_several_lines_is_reported() {
        let mut fields = Fields::default();
        let comma = Grammar::plain(b',');
        assert_eq!(comma.record(b"1,\"2\n3,4\n", true, &mut fields), Outcome::Unclosed);
        assert_eq!(comma.record(b"1,\"2\n", true, &mut fields), Outcome::Record { len: 5, strays: true });
        assert_eq!(fields.get(1, b"1,\"2\n"), b"\"2");
    }
}

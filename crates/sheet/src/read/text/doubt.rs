//! Detection of records that were probably split into the wrong cells.

use super::grammar::Grammar;
use crate::unsplit::DELIMITERS;

/// Minimum number of complete records to make a shorter record unusual.
const ENOUGH: u64 = 2;

/// Why the cells of a record may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// A quote is in an invalid position, and was read as text.
    StrayQuote,
    /// A quoted cell contains lines like the other records: a quote is missing or superfluous.
    SwallowedRecords,
    /// The record has another delimiter than the others.
    OtherDelimiter,
    /// The last line has no line ending and is shorter than all others: the file was probably cut.
    CutOff,
}

/// The widths of the records so far.
#[derive(Debug, Default)]
pub(super) struct Widths {
    complete: u64,
    /// Whether a shorter record followed a complete record.
    has_short: bool,
}

impl Widths {
    /// Adds a record with this number of fields. Returns whether the record, without a line ending, is probably cut.
    pub(super) fn add(&mut self, fields: usize, usual: usize, has_ending: bool) -> bool {
        if fields >= usual {
            self.complete += 1;
            return false;
        }
        let is_cut = !has_ending && self.complete >= ENOUGH && !self.has_short;
        self.has_short |= self.complete > 0;
        is_cut
    }
}

/// Returns whether a record of one field contains another delimiter as often as the other records contain the right one.
pub(super) fn has_other_delimiter(record: &[u8], grammar: &Grammar) -> bool {
    grammar.columns > 1
        && DELIMITERS.iter().any(|delimiter| {
            *delimiter != grammar.delimiter
                && record.iter().filter(|byte| *byte == delimiter).count() + 1 >= grammar.columns
        })
}

/// Returns whether a multi-line record contains lines like separate records, with the usual number of delimiters and the form of
/// the first field.
pub(super) fn swallows_records(record: &[u8], grammar: &Grammar) -> bool {
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let end = record.iter().rposition(|byte| !is_break(byte)).map_or(0, |last| last + 1);
    let record = &record[..end];
    if grammar.columns < 2 || memchr::memchr2(b'\n', b'\r', record).is_none() {
        return false;
    }
    let mut lines = record.split(is_break).filter(|line| !line.is_empty());
    let Some(first) = lines.next().map(|line| form(first_field(line, grammar))) else { return false };
    let (mut all, mut alike) = (0_usize, 0_usize);
    for line in lines {
        let delimiters = memchr::memchr_iter(grammar.delimiter, line).count();
        all += 1;
        alike += usize::from(delimiters + 1 == grammar.columns && form(first_field(line, grammar)) == first);
    }
    // With a single delimiter, a sentence easily looks like a record.
    let fewest = if grammar.columns == 2 { 3 } else { 1 };
    all >= fewest && alike * 10 >= all * 8
}

fn first_field<'l>(line: &'l [u8], grammar: &Grammar) -> &'l [u8] {
    line.split(|byte| *byte == grammar.delimiter).next().unwrap_or(line)
}

/// Returns the form of a field: `a-0` for `SKU-0042`.
fn form(field: &[u8]) -> Vec<u8> {
    let mut form: Vec<u8> = field
        .iter()
        .map(|byte| match byte {
            b'0'..=b'9' => b'0',
            byte if byte.is_ascii_alphabetic() || !byte.is_ascii() => b'a',
            byte => *byte,
        })
        .collect();
    form.dedup();
    form
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grammar(columns: usize) -> Grammar {
        Grammar { columns, ..Grammar::plain(b',') }
    }

    #[test]
    fn lines_like_records_within_a_record_are_recognized() {
        for (record, columns) in [
            ("A-1,\"5 inch,2.00\nA-2,6\",3.00\n", 3),
            ("Q-0150,\"3/4 inch pipe,150.50\r\nQ-0151,part 151,151.50\r\nQ-0240,\"pipe 1/2\"\"\",240.5\r\n", 3),
            ("1,\"a\n2,b\n3,c\n4,d\"\n", 2),
        ] {
            assert!(swallows_records(record.as_bytes(), &grammar(columns)), "{record}");
        }
        for (record, columns) in [
            ("A-1,\"line one\nline two\",2.00\n", 3),
            ("42,Miller,\"Street 1\n12345 Town, Area, DE\"\n", 3),
            ("A-1,\"first, second\nthird\"\n", 2),
            ("A-1,b,c\r\n", 3),
        ] {
            assert!(!swallows_records(record.as_bytes(), &grammar(columns)), "{record}");
        }
    }

    #[test]
    fn a_record_of_one_field_can_have_another_delimiter() {
        let semicolons = Grammar { columns: 3, ..Grammar::plain(b';') };
        assert!(has_other_delimiter(b"A-3,Pin,3.00", &semicolons));
        assert!(has_other_delimiter(b"A-3\tPin\t3.00", &semicolons));
        assert!(!has_other_delimiter(b"All prices in EUR, net", &semicolons));
        assert!(!has_other_delimiter(b"a,b", &Grammar { columns: 1, ..semicolons }));
    }

    #[test]
    fn only_a_short_last_record_without_line_ending_is_truncated() {
        let is_cut = |widths: &[usize], last: usize, has_ending: bool| {
            let mut state = Widths::default();
            widths.iter().for_each(|width| assert!(!state.add(*width, 5, true)));
            state.add(last, 5, has_ending)
        };
        assert!(is_cut(&[5, 5, 5], 3, false));
        assert!(is_cut(&[1, 2, 5, 5], 4, false), "titles are shorter");
        assert!(!is_cut(&[5, 5, 5], 3, true));
        assert!(!is_cut(&[5, 5, 5], 5, false));
        assert!(!is_cut(&[5, 3, 5, 5], 3, false));
        assert!(!is_cut(&[5], 3, false));
    }
}

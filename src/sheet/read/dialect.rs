//! The byte between the fields of a text file, found by trying each candidate on a sample.
//!
//! A delimiter is right when it cuts most records into the same number of fields, and into fields that look like
//! values. Neither suffices alone: decimal commas are as regular as semicolons, and a title line is not regular at all.

use csv::{ByteRecord, ReaderBuilder};

/// In the order of preference where two do equally well.
const CANDIDATES: [u8; 5] = [b',', b';', b'\t', b'|', b':'];
/// As many records as are looked at.
const RECORDS: usize = 1000;
/// A candidate that does worse than this cuts text that is not a table: the file has one column.
const THRESHOLD: f64 = 0.2;

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

/// The delimiter of a text that begins with `sample`; `whole` says that the sample is all of it. A text in one column
/// is given a comma.
pub fn delimiter(sample: &str, whole: bool) -> u8 {
    let mut best = (b',', THRESHOLD);
    for candidate in CANDIDATES {
        let score = score(sample, whole, candidate);
        if score > best.1 {
            best = (candidate, score);
        }
    }
    best.0
}

fn score(sample: &str, whole: bool, delimiter: u8) -> f64 {
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(sample.as_bytes());
    let mut record = ByteRecord::new();
    let mut widths = Vec::new();
    let mut plausible = Vec::new();
    while widths.len() < RECORDS && matches!(reader.read_byte_record(&mut record), Ok(true)) {
        widths.push(record.len());
        plausible.push(record.iter().map(|field| plausibility(field, delimiter)).sum::<f64>());
    }
    // The end of the sample may have cut the last record, or a quote that would have ended.
    if !whole && widths.len() > 1 && widths.len() < RECORDS {
        widths.pop();
    }
    let several = widths.iter().zip(&plausible).filter(|(width, _)| **width > 1);
    let (cells, plausible) = several.fold((0.0, 0.0), |(cells, sum), (width, one)| (cells + *width as f64, sum + one));
    let Some((width, records)) = commonest_above_one(&widths) else { return 0.0 };
    let several = widths.iter().filter(|width| **width > 1).count() as f64;
    let coverage = several / widths.len() as f64;
    let agreement = records as f64 / several;
    let columns = 1.0 + 0.02 * width.min(20) as f64;
    // Times and addresses hold colons, so that a colon needs better evidence than the others.
    let prior = if delimiter == b':' { 0.4 } else { 1.0 };
    coverage * (0.4 + 0.6 * agreement) * (0.3 + 0.7 * plausible / cells) * columns * prior
}

fn commonest_above_one(widths: &[usize]) -> Option<(usize, usize)> {
    let mut sorted: Vec<usize> = widths.iter().copied().filter(|width| *width > 1).collect();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).max_by_key(|(width, records)| (*records, *width))
}

/// How much a field looks like one value: 1 for a blank, a number, a date or plain words, less for one in which a
/// quote or another candidate stands.
fn plausibility(field: &[u8], delimiter: u8) -> f64 {
    let field = field.trim_ascii();
    // What is between the colons of a time.
    if delimiter == b':' && field.len() <= 2 && field.iter().all(u8::is_ascii_digit) {
        return 0.0;
    }
    if field
        .iter()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'-' | b'+' | b'/' | b':' | b' ' | b'%'))
    {
        return 1.0;
    }
    if field.iter().any(|byte| *byte == b'\t' && delimiter != b'\t') {
        return 0.0;
    }
    if field.iter().any(|byte| matches!(byte, b';' | b'|') && *byte != delimiter) {
        return 0.3;
    }
    if field.first() == Some(&b'"') || field.last() == Some(&b'"') {
        return 0.3;
    }
    if field.contains(&b',') { 0.9 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sample: &str, expected: u8) {
        let found = delimiter(sample, true);
        assert_eq!(char::from(found), char::from(expected), "{sample}");
    }

    #[test]
    fn each_delimiter_is_found() {
        for candidate in CANDIDATES {
            let text = "SKU,Name,Price\n0042,Bolt,5\n0043,Nut,6\n".replace(',', &char::from(candidate).to_string());
            check(&text, candidate);
        }
    }

    #[test]
    fn decimal_commas_do_not_make_a_comma() {
        check("Artikel;Preis;Menge\n1;2,50;3,20\n2;3,75;1,10\n3;4,25;7,00\n", b';');
        check("Artikel;Preis\n1;2,50\n2;3,75\n", b';');
        check("Artikel\tPreis\n1\t2,50\n2\t3,75\n", b'\t');
    }

    #[test]
    fn text_with_other_candidates_does_not_mislead() {
        check("Name;Town\nMüller, Hans;Berlin\nMeier, Eva;Bonn\n", b';');
        check("Name,Note\n\"Bolt; M8\",\"a;b;c\"\n\"Nut; M8\",\"a;b;c\"\n", b',');
        check("\"a,b\";\"c,d\"\n\"e,f\";\"g,h\"\n", b';');
        check("at,name\n10:30:00,Bolt\n11:45:00,Nut\n", b',');
    }

    #[test]
    fn titles_and_footers_do_not_mislead() {
        check("Price list, spring, all\nprinted 2025\n\nSKU;Price\n1;2\n2;3\n3;4\nTotal: 9, net\n", b';');
        check("Prices: spring\nSKU,Price,Unit\n1,2,pcs\n2,3,pcs\n3,4,pcs\n", b',');
    }

    #[test]
    fn one_column_is_a_comma() {
        check("SKU\n0042\n0043\n", b',');
        check("Time\n10:30\n11:45\n", b',');
        check("Only a line", b',');
    }

    #[test]
    fn a_sample_cut_inside_quotes_does_not_mislead() {
        assert_eq!(delimiter("a;b\n1;2\n3;4\n5;\"1,2,3\n4,5,6\n7,8,9\n1,2,3\n4,5,6\n", false), b';');
    }

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
}

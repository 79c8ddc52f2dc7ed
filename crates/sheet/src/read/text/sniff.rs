//! Detection of delimiter, quote and escape by trying candidates on a sample.
//!
//! The right dialect yields the same number of fields in most records, fields that look like values, and columns of similar
//! values. No criterion suffices alone: decimal commas are as regular as semicolons, and title lines are irregular.

use super::confidence::Confidence;
use super::grammar::{Fields, Grammar, Outcome};
use crate::read::value_type::ValueType;

/// Candidates, in order of preference.
const DELIMITERS: [u8; 9] = [b',', b';', b'\t', b'|', b':', b' ', b'^', b'~', b'#'];
/// Number of records to examine.
const RECORDS: usize = 600;
/// Number of columns to examine.
const COLUMNS: usize = 64;
/// Minimum score of a table. Below this, the file has a single column.
const MIN_SCORE: f64 = 0.2;

/// Known properties of a text; the others are detected.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DialectHints {
    pub delimiter: Option<u8>,
    pub quote: Option<Option<u8>>,
    pub escape: Option<Option<u8>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct DetectedGrammar {
    pub grammar: Grammar,
    pub delimiter: Confidence,
    pub quote: Confidence,
    pub escape: Confidence,
}

/// Detects the grammar of a text from its first part. `whole`: the text is complete. A text with a single column gets a comma.
pub(crate) fn sniff(sample: &str, whole: bool, hints: DialectHints) -> DetectedGrammar {
    let bytes = sample.as_bytes();
    let delimiters: Vec<u8> = match hints.delimiter {
        Some(delimiter) => vec![delimiter],
        None => DELIMITERS
            .into_iter()
            .filter(|delimiter| bytes.contains(delimiter) && hints.quote != Some(Some(*delimiter)))
            .collect(),
    };
    let mut tried: Vec<Trial> = Vec::new();
    let most_at_borders = delimiters.iter().map(|delimiter| quotes_at_borders(bytes, *delimiter)).fold(0.0, f64::max);
    for delimiter in delimiters {
        // Most quotes are at the borders of fields, but of another delimiter.
        let is_foreign = !is_usual(delimiter) && 2.0 * quotes_at_borders(bytes, delimiter) < most_at_borders;
        if is_foreign && hints.delimiter.is_none() {
            continue;
        }
        for quote in quotes(bytes, delimiter, hints) {
            for escape in escapes(bytes, quote, hints) {
                for runs in runs(bytes, delimiter) {
                    let grammar = Grammar { delimiter, runs, spaced: false, quote, escape, columns: 0 };
                    tried.push(Trial::new(grammar, bytes, whole));
                }
            }
        }
    }
    let first = |trial: &Trial| tried.iter().position(|other| std::ptr::eq(other, trial));
    let best = tried.iter().max_by(|a, b| a.score.total_cmp(&b.score).then(first(b).cmp(&first(a))));
    let Some(best) = best.filter(|best| best.score > MIN_SCORE || hints.delimiter.is_some()) else {
        return single_column(bytes, whole, hints);
    };
    let rival = tried.iter().filter(|trial| trial.grammar.delimiter != best.grammar.delimiter);
    let rival = rival.map(|trial| trial.score).fold(MIN_SCORE, f64::max);
    let delimiter = match hints.delimiter {
        Some(_) => Confidence::Given,
        None if best.score > 2.0 * rival && best.records > 2 => Confidence::Certain,
        None if best.score > 1.2 * rival => Confidence::Likely,
        None => Confidence::Guess,
    };
    finish(best, hints, delimiter)
}

/// Returns the grammar of a text with a single column.
fn single_column(bytes: &[u8], whole: bool, hints: DialectHints) -> DetectedGrammar {
    let quote = hints.quote.unwrap_or(Some(b'"'));
    let delimiter = if quote == Some(b',') { b';' } else { b',' };
    let grammar = Grammar { delimiter, runs: 0, spaced: false, quote, escape: hints.escape.flatten(), columns: 0 };
    let trial = Trial::new(grammar, bytes, whole);
    let confidence = if DELIMITERS[..4].iter().any(|delimiter| bytes.contains(delimiter)) {
        Confidence::Guess
    } else {
        Confidence::Likely
    };
    finish(&trial, hints, confidence)
}

/// Adds the properties seen during parsing, with their confidence.
fn finish(best: &Trial, hints: DialectHints, delimiter: Confidence) -> DetectedGrammar {
    let mut grammar = Grammar { spaced: best.spaced, columns: best.width, ..best.grammar };
    let quote = match hints.quote {
        Some(_) => Confidence::Given,
        None if best.quoted > 0 && best.strays == 0 => Confidence::Certain,
        None if best.quoted > 0 => Confidence::Likely,
        None if best.strays > 0 => {
            grammar.quote = None;
            Confidence::Guess
        }
        // Without quoted fields, assume the usual double quotes.
        None => Confidence::Likely,
    };
    let escape = match hints.escape {
        Some(_) => Confidence::Given,
        None if best.strays == 0 => Confidence::Certain,
        None => Confidence::Guess,
    };
    DetectedGrammar { grammar, delimiter, quote, escape }
}

/// Returns the share of double quotes at the borders of fields with this delimiter; 0 if there are few quotes.
fn quotes_at_borders(bytes: &[u8], delimiter: u8) -> f64 {
    let is_border = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == delimiter || matches!(byte, b'\n' | b'\r'));
    let (mut quotes, mut borders) = (0_usize, 0_usize);
    for at in memchr::memchr_iter(b'"', bytes) {
        quotes += 1;
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        borders += usize::from(is_border(before) || is_border(bytes.get(at + 1)));
    }
    let lines = memchr::memchr2_iter(b'\n', b'\r', bytes).count();
    if quotes > lines { borders as f64 / quotes as f64 } else { 0.0 }
}

/// Returns true for the usual delimiters of programs.
fn is_usual(delimiter: u8) -> bool {
    matches!(delimiter, b',' | b';' | b'\t' | b'|')
}

/// Returns candidate escapes: a backslash or NUL only if found before a quote.
fn escapes(bytes: &[u8], quote: Option<u8>, hints: DialectHints) -> Vec<Option<u8>> {
    let Some(quote) = quote else { return vec![None] };
    if let Some(escape) = hints.escape {
        return vec![escape];
    }
    let precedes_quote = |escape: &u8| bytes.windows(2).any(|pair| pair == [*escape, quote]);
    [None].into_iter().chain([b'\\', 0].into_iter().filter(precedes_quote).map(Some)).collect()
}

/// Returns candidate quotes: a single quote only if found at the start of a field.
fn quotes(bytes: &[u8], delimiter: u8, hints: DialectHints) -> Vec<Option<u8>> {
    if let Some(quote) = hints.quote {
        return vec![quote];
    }
    let opens = |quote: u8| {
        let before = |byte: u8| byte == delimiter || matches!(byte, b'\n' | b'\r');
        bytes.first() == Some(&quote) || bytes.windows(2).any(|pair| pair[1] == quote && before(pair[0]))
    };
    let mut quotes = vec![Some(b'"')];
    if opens(b'\'') {
        quotes.push(Some(b'\''));
    }
    quotes
}

/// Returns candidates for [`Grammar::runs`].
fn runs(bytes: &[u8], delimiter: u8) -> Vec<usize> {
    match delimiter {
        b' ' if bytes.windows(2).any(|pair| pair == b"  ") => vec![0, 1, 2],
        _ => vec![0],
    }
}

/// The result of parsing the sample with a grammar.
struct Trial {
    grammar: Grammar,
    score: f64,
    records: usize,
    /// Most frequent number of fields, among records with several.
    width: usize,
    quoted: usize,
    strays: usize,
    spaced: bool,
}

impl Trial {
    fn new(grammar: Grammar, bytes: &[u8], whole: bool) -> Trial {
        let mut table = Table::read(grammar, bytes, whole);
        if table.strays > 0 {
            let columns = table.width();
            table = Table::read(Grammar { columns, ..grammar }, bytes, whole);
        }
        let mut score = table.score(grammar);
        // Many words start with an apostrophe, so single quotes must enclose fields.
        if grammar.quote == Some(b'\'') && table.quoted <= 2 * table.strays {
            score = 0.0;
        }
        Trial {
            grammar,
            score,
            records: table.rows.len(),
            width: table.width(),
            quoted: table.quoted,
            strays: table.strays,
            spaced: table.spaced && grammar.runs == 0,
        }
    }
}

/// The types of the sample's fields.
#[derive(Default)]
struct Table {
    rows: Vec<Vec<(ValueType, f64)>>,
    widths: Vec<usize>,
    quoted: usize,
    strays: usize,
    unclosed: bool,
    spaced: bool,
    /// Number of records with a blank first field, such as indented lines.
    leading: usize,
}

impl Table {
    /// Ignores lines that start with `#` as comments, unless all lines do.
    fn read(grammar: Grammar, bytes: &[u8], whole: bool) -> Table {
        let table = Table::read_with(grammar, bytes, whole, false);
        if table.rows.is_empty() { Table::read_with(grammar, bytes, whole, true) } else { table }
    }

    fn read_with(grammar: Grammar, bytes: &[u8], whole: bool, comments: bool) -> Table {
        let mut table = Table::default();
        let (mut fields, mut at) = (Fields::default(), 0);
        let (mut with_space, mut without) = (0, 0);
        while at < bytes.len() && table.rows.len() < RECORDS {
            let rest = &bytes[at..];
            if matches!(rest[0], b'\n' | b'\r') {
                at += 1;
                continue;
            }
            // The end of the sample may cut the last record or a quoted field.
            let len = match grammar.record(rest, whole, &mut fields) {
                Outcome::Record { len, strays } => {
                    table.strays += usize::from(strays);
                    len
                }
                Outcome::More | Outcome::TooWide => break,
                Outcome::Unclosed => {
                    table.unclosed = true;
                    break;
                }
            };
            at += len;
            if rest[0] == b'#' && !comments && grammar.delimiter != b'#' {
                continue;
            }
            table.widths.push(fields.spans.len());
            table.leading += usize::from(fields.get(0, rest).is_empty());
            let cells = fields.spans.iter().enumerate().take(COLUMNS).map(|(index, span)| {
                let field = fields.get(index, rest);
                let quoted = span.spilled || (span.start > 0 && Some(rest[span.start - 1]) == grammar.quote);
                table.quoted += usize::from(quoted);
                if index > 0 && !quoted && !field.is_empty() {
                    if field[0] == b' ' { with_space += 1 } else { without += 1 }
                }
                (ValueType::of(field), plausibility(field, grammar.delimiter, quoted))
            });
            table.rows.push(cells.collect());
        }
        table.spaced = with_space > 1 && without == 0 && grammar.delimiter != b' ';
        table
    }

    fn width(&self) -> usize {
        self.most_frequent_width().map_or(1, |(width, _)| width)
    }

    /// Returns the most frequent number of fields among records with several, and the frequency.
    fn most_frequent_width(&self) -> Option<(usize, usize)> {
        let mut sorted: Vec<usize> = self.widths.iter().copied().filter(|width| *width > 1).collect();
        sorted.sort_unstable();
        sorted.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).max_by_key(|(width, count)| (*count, *width))
    }

    fn score(&self, grammar: Grammar) -> f64 {
        let Some((width, count)) = self.most_frequent_width() else { return 0.0 };
        let records = self.rows.len() as f64;
        let several = self.widths.iter().filter(|width| **width > 1).count() as f64;
        let usual = is_usual(grammar.delimiter);
        if !usual && (several < 2.0 || 2 * self.leading > self.rows.len()) {
            return 0.0;
        }
        let coverage = several / records;
        let agreement = count as f64 / several;
        let cut = self.rows.iter().filter(|row| row.len() > 1).flatten();
        let (cells, plausible) = cut.fold((0.0, 0.0), |(cells, sum), (_, one)| (cells + 1.0, sum + one));
        let columns = 1.0 + 0.02 * width.min(20) as f64;
        let strays = 1.0 - 0.5 * self.strays as f64 / records;
        // Ordinary text has unusual delimiters and commas before spaces, too, but less regularly. Quoted fields in all
        // records are sufficient evidence.
        let is_proven = self.strays == 0 && self.quoted >= 2 * self.rows.len();
        // Names of people and articles have a space, too, but their header does not. Measurements under a title are numbers.
        if grammar.delimiter == b' ' && !is_proven && count < self.rows.len() && !self.has_mostly_numbers() {
            return 0.0;
        }
        let regular = if is_proven || usual && !self.spaced { 1.0 } else { agreement };
        let unclosed = if self.unclosed { 0.5 } else { 1.0 };
        let similarity = self.similarity(width);
        coverage
            * (0.4 + 0.6 * agreement)
            * (0.3 + 0.7 * plausible / cells)
            * (0.6 + 0.4 * similarity)
            * columns
            * strays
            * unclosed
            * regular
            * if several == records && count == self.rows.len() && width > 2 {
                // Ordinary text is less regular.
                prior(grammar).sqrt()
            } else {
                prior(grammar)
            }
    }

    /// Returns whether most fields of the records with several are numbers or dates.
    fn has_mostly_numbers(&self) -> bool {
        let cut = || self.rows.iter().filter(|row| row.len() > 1).flatten();
        let numbers = cut().filter(|(kind, _)| matches!(kind, ValueType::Number | ValueType::Date)).count();
        2 * numbers > cut().count()
    }

    /// Returns the similarity of the values within columns, without the first record, from 0 to 1.
    fn similarity(&self, width: usize) -> f64 {
        let rows: Vec<_> =
            self.rows.iter().zip(&self.widths).filter(|(_, w)| **w == width).map(|(row, _)| row).collect();
        let rows = if rows.len() > 2 { &rows[1..] } else { &rows[..] };
        let (mut sum, mut columns) = (0.0, 0.0);
        for column in 0..width.min(COLUMNS) {
            let mut counts = [0usize; 7];
            for row in rows {
                counts[row[column].0 as usize] += 1;
            }
            let blank = counts[ValueType::Blank as usize];
            counts[ValueType::Blank as usize] = 0;
            // Names have one or more words.
            counts[ValueType::Word as usize] += counts[ValueType::Words as usize];
            counts[ValueType::Words as usize] = 0;
            let filled = rows.len() - blank;
            if filled > 0 {
                sum += counts.iter().copied().max().expect("an array of counts") as f64 / filled as f64;
                columns += 1.0;
            }
        }
        if columns > 0.0 { sum / columns } else { 0.0 }
    }
}

/// Returns the weight of a delimiter. Characters of ordinary text need more evidence.
fn prior(grammar: Grammar) -> f64 {
    match grammar.delimiter {
        b',' | b';' | b'\t' => 1.0,
        b'|' => 0.95,
        b':' => 0.4,
        b' ' => 0.45,
        _ => 0.6,
    }
}

/// Returns the plausibility of a field as a single value: 1 for blanks, numbers, dates and plain words, less for fields
/// with quotes or other delimiters.
fn plausibility(field: &[u8], delimiter: u8, quoted: bool) -> f64 {
    if quoted {
        return 1.0;
    }
    let field = field.trim_ascii();
    // Parts of times and web addresses.
    if delimiter == b':' && (field.starts_with(b"//") || field.len() <= 2 && field.iter().all(u8::is_ascii_digit)) {
        return 0.0;
    }
    // A quote within a field probably opens a field of another delimiter.
    if field.iter().skip(1).any(|byte| *byte == b'"') {
        return 0.4;
    }
    match ValueType::of(field) {
        ValueType::Blank | ValueType::Number | ValueType::Date | ValueType::Address => 1.0,
        ValueType::Odd if field.contains(&b'\t') && delimiter != b'\t' => 0.0,
        ValueType::Odd => 0.3,
        ValueType::Word | ValueType::Words if field.contains(&b';') && delimiter != b';' => 0.3,
        ValueType::Word | ValueType::Words if field.contains(&b',') => 0.85,
        ValueType::Word | ValueType::Words => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(sample: &str, whole: bool) -> Grammar {
        sniff(sample, whole, DialectHints::default()).grammar
    }

    #[track_caller]
    fn check(sample: &str, expected: u8) {
        assert_eq!(char::from(found(sample, true).delimiter), char::from(expected), "{sample}");
    }

    #[test]
    fn every_delimiter_is_detected() {
        for candidate in DELIMITERS {
            let text = "SKU,Name,Price\n0042,Bolt,5\n0043,Nut,6\n".replace(',', &char::from(candidate).to_string());
            check(&text, candidate);
        }
    }

    #[test]
    fn decimal_commas_are_not_delimiters() {
        check("Artikel;Preis;Menge\n1;2,50;3,20\n2;3,75;1,10\n3;4,25;7,00\n", b';');
        check("Artikel;Preis\n1;2,50\n2;3,75\n", b';');
        check("Artikel\tPreis\n1\t2,50\n2\t3,75\n", b'\t');
    }

    #[test]
    fn other_candidates_in_text_are_ignored() {
        check("Name;Town\nMüller, Hans;Berlin\nMeier, Eva;Bonn\n", b';');
        check("Name,Note\n\"Bolt; M8\",\"a;b;c\"\n\"Nut; M8\",\"a;b;c\"\n", b',');
        check("\"a,b\";\"c,d\"\n\"e,f\";\"g,h\"\n", b';');
        check("at,name\n10:30:00,Bolt\n11:45:00,Nut\n", b',');
    }

    #[test]
    fn quotes_at_field_borders_identify_the_delimiter() {
        let text = "Day Time Name \"Note\" \"Page\"\n\
                    28/01 10:00 Hiking Boots \"rugged: light\" \"https://example.com/1\"\n\
                    29/01 10:15 Rain Jacket for Men \"red: warm\" \"https://example.com/2\"\n";
        check(&text.repeat(5), b' ');
    }

    #[test]
    fn titles_and_footers_are_ignored() {
        check("Price list, spring, all\nprinted 2025\n\nSKU;Price\n1;2\n2;3\n3;4\nTotal: 9, net\n", b';');
        check("Prices: spring\nSKU,Price,Unit\n1,2,pcs\n2,3,pcs\n3,4,pcs\n", b',');
    }

    #[test]
    fn a_single_column_gets_a_comma() {
        check("SKU\n0042\n0043\n", b',');
        check("Time\n10:30\n11:45\n", b',');
        check("Only a line", b',');
    }

    #[test]
    fn spaces_separate_only_if_all_rows_and_the_header_agree() {
        check("Name\nAnna Nowak\nBob Lee\nArthur Heinen\nJohn Smith\n", b',');
        check("First Last\nAnna Nowak\nBob Lee\nMadonna\n", b',');
        check("SKU Price\nA-1 2\nA-2 3\nA-3 4\n", b' ');
        check("Name\nBolt 8\nNut 10\nPin 12\n", b',');
        check("methane\nC 0.000 0.000 0.100\nH 0.000 0.000 1.089\nH 1.026 0.000 -0.363\n", b' ');
    }

    #[test]
    fn a_sample_cut_within_quotes_is_handled() {
        assert_eq!(found("a;b\n1;2\n3;4\n5;\"1,2,3\n4,5,6\n7,8,9\n1,2,3\n4,5,6\n", false).delimiter, b';');
    }

    #[test]
    fn quotes_and_escapes_are_detected() {
        let single = found("a,b\n'1,2',x\n'3,4',y\n", true);
        assert_eq!((single.quote, single.columns), (Some(b'\''), 2));
        let backslash = found("a,b\n\"say \\\"hi\\\", now\",x\n\"3\",y\n", true);
        assert_eq!((backslash.quote, backslash.escape), (Some(b'"'), Some(b'\\')));
        let doubled = found("a,b\n\"say \"\"hi\"\"\",x\n\"C:\\\",y\n", true);
        assert_eq!((doubled.quote, doubled.escape), (Some(b'"'), None));
        assert!(found("a, b, c\n1, 2, 3\n", true).spaced);
    }
}

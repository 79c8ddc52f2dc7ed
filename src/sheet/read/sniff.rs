//! Finding a text's delimiter, quote and escape by trying each on a sample. Pure.
//!
//! A dialect is right when it cuts most records into the same number of fields, into fields that look like values, and
//! into columns whose values look alike. None suffices alone: decimal commas are as regular as semicolons, and a title
//! line is not regular at all.

use super::dialect::Sure;
use super::grammar::{Fields, Grammar, Outcome};
use super::looks::{Look, look};

/// In the order of preference where two do equally well.
const DELIMITERS: [u8; 9] = [b',', b';', b'\t', b'|', b':', b' ', b'^', b'~', b'#'];
/// As many records as are looked at.
const RECORDS: usize = 600;
/// Columns beyond these are not looked at.
const COLUMNS: usize = 64;
/// A dialect that does worse than this cuts text that is not a table: the file has one column.
const THRESHOLD: f64 = 0.2;

/// What the caller says; nothing where it is to be found out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told {
    pub delimiter: Option<u8>,
    pub quote: Option<Option<u8>>,
    pub escape: Option<Option<u8>>,
}

#[derive(Clone, Copy, Debug)]
pub struct Sniffed {
    pub grammar: Grammar,
    pub delimiter: Sure,
    pub quote: Sure,
    pub escape: Sure,
}

/// The grammar of a text that begins with `sample`; `whole` says that the sample is all of it. A text in one column is
/// given a comma.
pub fn sniff(sample: &str, whole: bool, told: Told) -> Sniffed {
    let bytes = sample.as_bytes();
    let delimiters: Vec<u8> = match told.delimiter {
        Some(delimiter) => vec![delimiter],
        None => DELIMITERS
            .into_iter()
            .filter(|delimiter| bytes.contains(delimiter) && told.quote != Some(Some(*delimiter)))
            .collect(),
    };
    let mut tried: Vec<Trial> = Vec::new();
    let enclosing = delimiters.iter().map(|delimiter| enclosing(bytes, *delimiter)).fold(0.0, f64::max);
    for delimiter in delimiters {
        // Most quotes stand at the borders of fields, but not of these: they are another delimiter's.
        let is_foreign = !is_usual(delimiter) && 2.0 * self::enclosing(bytes, delimiter) < enclosing;
        if is_foreign && told.delimiter.is_none() {
            continue;
        }
        for quote in quotes(bytes, delimiter, told) {
            for escape in escapes(bytes, quote, told) {
                for runs in runs(bytes, delimiter) {
                    let grammar = Grammar { delimiter, runs, spaced: false, quote, escape, columns: 0 };
                    tried.push(Trial::new(grammar, bytes, whole));
                }
            }
        }
    }
    let first = |trial: &Trial| tried.iter().position(|other| std::ptr::eq(other, trial));
    let best = tried.iter().max_by(|a, b| a.score.total_cmp(&b.score).then(first(b).cmp(&first(a))));
    let Some(best) = best.filter(|best| best.score > THRESHOLD || told.delimiter.is_some()) else {
        return single(bytes, whole, told);
    };
    let rival = tried.iter().filter(|trial| trial.grammar.delimiter != best.grammar.delimiter);
    let rival = rival.map(|trial| trial.score).fold(THRESHOLD, f64::max);
    let delimiter = match told.delimiter {
        Some(_) => Sure::Told,
        None if best.score > 2.0 * rival && best.records > 2 => Sure::Certain,
        None if best.score > 1.2 * rival => Sure::Likely,
        None => Sure::Guess,
    };
    finish(best, told, delimiter)
}

/// A text that no delimiter cuts into a table.
fn single(bytes: &[u8], whole: bool, told: Told) -> Sniffed {
    let quote = told.quote.unwrap_or(Some(b'"'));
    let delimiter = if quote == Some(b',') { b';' } else { b',' };
    let grammar = Grammar { delimiter, runs: 0, spaced: false, quote, escape: told.escape.flatten(), columns: 0 };
    let trial = Trial::new(grammar, bytes, whole);
    let sure =
        if DELIMITERS[..4].iter().any(|delimiter| bytes.contains(delimiter)) { Sure::Guess } else { Sure::Likely };
    finish(&trial, told, sure)
}

/// Says how sure the rest is, and takes over what was seen on the way.
fn finish(best: &Trial, told: Told, delimiter: Sure) -> Sniffed {
    let mut grammar = Grammar { spaced: best.spaced, columns: best.width, ..best.grammar };
    let quote = match told.quote {
        Some(_) => Sure::Told,
        None if best.quoted > 0 && best.strays == 0 => Sure::Certain,
        None if best.quoted > 0 => Sure::Likely,
        None if best.strays > 0 => {
            grammar.quote = None;
            Sure::Guess
        }
        // No field is quoted: either quote would do, and double quotes are what programs write.
        None => Sure::Likely,
    };
    let escape = match told.escape {
        Some(_) => Sure::Told,
        None if best.strays == 0 => Sure::Certain,
        None => Sure::Guess,
    };
    Sniffed { grammar, delimiter, quote, escape }
}

/// The share of the double quotes that stand where a field of this delimiter begins or ends; 0 where there are few.
fn enclosing(bytes: &[u8], delimiter: u8) -> f64 {
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

/// What programs write between fields.
fn is_usual(delimiter: u8) -> bool {
    matches!(delimiter, b',' | b';' | b'\t' | b'|')
}

/// Escapes worth trying: a backslash or a NUL only where one stands before a quote.
fn escapes(bytes: &[u8], quote: Option<u8>, told: Told) -> Vec<Option<u8>> {
    let Some(quote) = quote else { return vec![None] };
    if let Some(escape) = told.escape {
        return vec![escape];
    }
    let stands = |escape: &u8| bytes.windows(2).any(|pair| pair == [*escape, quote]);
    [None].into_iter().chain([b'\\', 0].into_iter().filter(stands).map(Some)).collect()
}

/// Quotes worth trying: a single quote only where one opens a field.
fn quotes(bytes: &[u8], delimiter: u8, told: Told) -> Vec<Option<u8>> {
    if let Some(quote) = told.quote {
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

/// How many delimiters in a row may be one.
fn runs(bytes: &[u8], delimiter: u8) -> Vec<usize> {
    match delimiter {
        b' ' if bytes.windows(2).any(|pair| pair == b"  ") => vec![0, 1, 2],
        _ => vec![0],
    }
}

/// What a grammar makes of the sample.
struct Trial {
    grammar: Grammar,
    score: f64,
    records: usize,
    /// As many fields as most records of several have.
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
        // An apostrophe begins many a word: single quotes need fields that they enclose.
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

/// The sample cut into fields, of which only the looks are kept.
#[derive(Default)]
struct Table {
    rows: Vec<Vec<(Look, f64)>>,
    widths: Vec<usize>,
    quoted: usize,
    strays: usize,
    unclosed: bool,
    spaced: bool,
    /// Records whose first field is blank: a mark before a remark, or an indent, delimits nothing.
    leading: usize,
}

impl Table {
    /// Lines that begin with `#` are remarks, unless there is nothing else.
    fn read(grammar: Grammar, bytes: &[u8], whole: bool) -> Table {
        let table = Table::read_with(grammar, bytes, whole, false);
        if table.rows.is_empty() { Table::read_with(grammar, bytes, whole, true) } else { table }
    }

    fn read_with(grammar: Grammar, bytes: &[u8], whole: bool, remarks: bool) -> Table {
        let mut table = Table::default();
        let (mut fields, mut at) = (Fields::default(), 0);
        let (mut with_space, mut without) = (0, 0);
        while at < bytes.len() && table.rows.len() < RECORDS {
            let rest = &bytes[at..];
            if matches!(rest[0], b'\n' | b'\r') {
                at += 1;
                continue;
            }
            // The end of the sample may have cut the last record, or a quote that would have ended.
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
            if rest[0] == b'#' && !remarks && grammar.delimiter != b'#' {
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
                (look(field), plausibility(field, grammar.delimiter, quoted))
            });
            table.rows.push(cells.collect());
        }
        table.spaced = with_space > 1 && without == 0 && grammar.delimiter != b' ';
        table
    }

    fn width(&self) -> usize {
        self.commonest().map_or(1, |(width, _)| width)
    }

    /// The number of fields that the most records of several have, and how many these are.
    fn commonest(&self) -> Option<(usize, usize)> {
        let mut sorted: Vec<usize> = self.widths.iter().copied().filter(|width| *width > 1).collect();
        sorted.sort_unstable();
        sorted.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).max_by_key(|(width, count)| (*count, *width))
    }

    fn score(&self, grammar: Grammar) -> f64 {
        let Some((width, count)) = self.commonest() else { return 0.0 };
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
        // Ordinary text has these bytes too, and commas before spaces, but not as regularly.
        // Where each has several quoted fields and no quote is left over, these are the evidence.
        let is_proven = self.strays == 0 && self.quoted >= 2 * self.rows.len();
        let regular = if is_proven || usual && !self.spaced { 1.0 } else { agreement };
        let unclosed = if self.unclosed { 0.5 } else { 1.0 };
        let alike = self.alike(width);
        coverage
            * (0.4 + 0.6 * agreement)
            * (0.3 + 0.7 * plausible / cells)
            * (0.6 + 0.4 * alike)
            * columns
            * strays
            * unclosed
            * regular
            * if several == records && count == self.rows.len() && width > 2 {
                // Ordinary text is not that regular.
                prior(grammar).sqrt()
            } else {
                prior(grammar)
            }
    }

    /// How much the values of each column look alike, below the first record: from 0 to 1.
    fn alike(&self, width: usize) -> f64 {
        let rows: Vec<_> =
            self.rows.iter().zip(&self.widths).filter(|(_, w)| **w == width).map(|(row, _)| row).collect();
        let rows = if rows.len() > 2 { &rows[1..] } else { &rows[..] };
        let (mut sum, mut columns) = (0.0, 0.0);
        for column in 0..width.min(COLUMNS) {
            let mut counts = [0usize; 7];
            for row in rows {
                counts[row[column].0 as usize] += 1;
            }
            let blank = counts[Look::Blank as usize];
            counts[Look::Blank as usize] = 0;
            // One word or several: names are either.
            counts[Look::Word as usize] += counts[Look::Words as usize];
            counts[Look::Words as usize] = 0;
            let filled = rows.len() - blank;
            if filled > 0 {
                sum += counts.iter().copied().max().unwrap_or(0) as f64 / filled as f64;
                columns += 1.0;
            }
        }
        if columns > 0.0 { sum / columns } else { 0.0 }
    }
}

/// Some bytes stand in ordinary text, so that they need better evidence than others.
fn prior(grammar: Grammar) -> f64 {
    match grammar.delimiter {
        b',' | b';' | b'\t' => 1.0,
        b'|' => 0.95,
        b':' => 0.4,
        b' ' => 0.45,
        _ => 0.6,
    }
}

/// How much a field looks like one value: 1 for a blank, a number, a date or plain words, less for one in which a
/// quote or another candidate stands.
fn plausibility(field: &[u8], delimiter: u8, quoted: bool) -> f64 {
    if quoted {
        return 1.0;
    }
    let field = field.trim_ascii();
    // What is between the colons of a time, and after that of a web address.
    if delimiter == b':' && (field.starts_with(b"//") || field.len() <= 2 && field.iter().all(u8::is_ascii_digit)) {
        return 0.0;
    }
    // A quote within a field is likelier to open one that another delimiter would show.
    if field.iter().skip(1).any(|byte| *byte == b'"') {
        return 0.4;
    }
    match look(field) {
        Look::Blank | Look::Number | Look::Date | Look::Address => 1.0,
        Look::Odd if field.contains(&b'\t') && delimiter != b'\t' => 0.0,
        Look::Odd => 0.3,
        Look::Word | Look::Words if field.contains(&b';') && delimiter != b';' => 0.3,
        Look::Word | Look::Words if field.contains(&b',') => 0.85,
        Look::Word | Look::Words => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(sample: &str, whole: bool) -> Grammar {
        sniff(sample, whole, Told::default()).grammar
    }

    #[track_caller]
    fn check(sample: &str, expected: u8) {
        assert_eq!(char::from(found(sample, true).delimiter), char::from(expected), "{sample}");
    }

    #[test]
    fn each_delimiter_is_found() {
        for candidate in DELIMITERS {
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
    fn quotes_stand_at_the_borders_of_fields() {
        let text = "Day Time Name \"Note\" \"Page\"\n\
                    28/01 10:00 Hiking Boots \"rugged: light\" \"https://example.com/1\"\n\
                    29/01 10:15 Rain Jacket for Men \"red: warm\" \"https://example.com/2\"\n";
        check(&text.repeat(5), b' ');
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
        assert_eq!(found("a;b\n1;2\n3;4\n5;\"1,2,3\n4,5,6\n7,8,9\n1,2,3\n4,5,6\n", false).delimiter, b';');
    }

    #[test]
    fn quotes_and_escapes_are_found() {
        let single = found("a,b\n'1,2',x\n'3,4',y\n", true);
        assert_eq!((single.quote, single.columns), (Some(b'\''), 2));
        let backslash = found("a,b\n\"say \\\"hi\\\", now\",x\n\"3\",y\n", true);
        assert_eq!((backslash.quote, backslash.escape), (Some(b'"'), Some(b'\\')));
        let doubled = found("a,b\n\"say \"\"hi\"\"\",x\n\"C:\\\",y\n", true);
        assert_eq!((doubled.quote, doubled.escape), (Some(b'"'), None));
        assert!(found("a, b, c\n1, 2, 3\n", true).spaced);
    }
}

//! A table of values as they came from elsewhere, to the digit: as CSV, TSV, XLSX or NDJSON, texts also compressed.

use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::civil;

use super::Existing;
use super::delimited::{Delimited, Delimiting};
use super::sink::{Packing, Sink};
use super::whole::{WholeFile, Written};
use super::xlsx::XlsxTable;
use crate::sheet::Error;

/// A value with the digits that it was sent with.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    Blank,
    Text(Cow<'a, str>),
    /// A number as JSON writes it.
    Number(&'a str),
    /// The same, of digits that were made for the file.
    Digits(String),
    Boolean(bool),
    /// A moment as it was sent, and as the clock in UTC shows it.
    DateTime {
        at: civil::DateTime,
        text: &'a str,
    },
}

impl Value<'_> {
    pub(super) fn borrowed(&self) -> Value<'_> {
        match self {
            Value::Blank => Value::Blank,
            Value::Text(text) => Value::Text(Cow::Borrowed(text)),
            Value::Number(digits) => Value::Number(digits),
            Value::Digits(digits) => Value::Number(digits),
            Value::Boolean(boolean) => Value::Boolean(*boolean),
            Value::DateTime { at, text } => Value::DateTime { at: *at, text },
        }
    }
}

/// What a table of values is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Text { kind: TextKind, packing: Packing },
    Xlsx,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    Csv,
    Tsv,
    /// One JSON object a line.
    Ndjson,
}

/// How a delimited text is written, where it should not be as RFC 4180 has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// The character between fields.
    pub delimiter: Option<u8>,
    /// Numbers have a comma for a point, and fields a semicolon between them where nothing else is said.
    pub decimal_comma: bool,
    /// Begins with a byte order mark, by which older versions of Excel know UTF-8.
    pub bom: bool,
    /// Text that a spreadsheet would run as a formula stays as it is.
    pub raw: bool,
}

impl Style {
    /// What this says, and where it says nothing what the other one does.
    pub fn or(self, other: Style) -> Style {
        Style {
            delimiter: self.delimiter.or(other.delimiter),
            decimal_comma: self.decimal_comma || other.decimal_comma,
            bom: self.bom || other.bom,
            raw: self.raw || other.raw,
        }
    }
}

/// A table of values on its way. Dropped without [`ValueTable::finish_as`], it leaves no file behind.
pub enum ValueTable {
    Delimited(Box<Delimited>),
    Lines(Box<Lines>),
    Xlsx(Box<XlsxTable>),
}

impl Shape {
    /// The extensions that are known, for messages.
    pub const NAMES: &'static str = ".csv, .tsv, .ndjson, each also with .gz or .zst, or .xlsx";

    /// By the end of `path`, in any case; nothing for one that is not known.
    pub fn of(path: &Path) -> Option<Shape> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let (name, packing) = match (name.strip_suffix(".gz"), name.strip_suffix(".zst")) {
            (Some(name), _) => (name, Packing::Gzip),
            (_, Some(name)) => (name, Packing::Zstd),
            _ => (name.as_str(), Packing::None),
        };
        let (stem, extension) = name.rsplit_once('.')?;
        if stem.is_empty() {
            return None;
        }
        Some(match extension {
            "csv" => Shape::Text { kind: TextKind::Csv, packing },
            "tsv" | "tab" => Shape::Text { kind: TextKind::Tsv, packing },
            "ndjson" | "jsonl" => Shape::Text { kind: TextKind::Ndjson, packing },
            "xlsx" if packing == Packing::None => Shape::Xlsx,
            _ => return None,
        })
    }

    pub fn is_ndjson(self) -> bool {
        matches!(self, Shape::Text { kind: TextKind::Ndjson, .. })
    }
}

impl ValueTable {
    /// Begins a file that will be `path`; `sheet` names the sheet in a workbook.
    ///
    /// # Errors
    /// Those of [`WholeFile::create`], and [`Error::Unwritable`] for a header wider than a workbook.
    pub fn create(
        path: &Path,
        shape: Shape,
        style: Style,
        sheet: &str,
        header: &[String],
    ) -> Result<ValueTable, Error> {
        let file = WholeFile::create(path, Existing::Replace)?;
        match shape {
            Shape::Xlsx => {
                let header: Vec<&str> = header.iter().map(String::as_str).collect();
                Ok(ValueTable::Xlsx(Box::new(XlsxTable::create(file, sheet, &header)?)))
            }
            Shape::Text { kind, packing } => ValueTable::text(Sink::file(file, packing)?, kind, style, header),
        }
    }

    /// Begins a text on standard output.
    pub fn stdout(kind: TextKind, packing: Packing, style: Style, header: &[String]) -> Result<ValueTable, Error> {
        ValueTable::text(Sink::stdout(packing)?, kind, style, header)
    }

    fn text(sink: Sink, kind: TextKind, style: Style, header: &[String]) -> Result<ValueTable, Error> {
        match Delimiting::of(kind, style) {
            Some(delimiting) => Ok(ValueTable::Delimited(Box::new(Delimited::create(sink, delimiting, header)?))),
            None => Ok(ValueTable::Lines(Box::new(Lines::new(sink, header)))),
        }
    }

    pub fn row(&mut self, values: &[Value<'_>]) -> Result<(), Error> {
        match self {
            ValueTable::Delimited(table) => table.row(values),
            ValueTable::Lines(table) => table.row(values),
            ValueTable::Xlsx(table) => table.values(values),
        }
    }

    /// Texts so far that were longer than a workbook's cells can be, and were cut with a mark.
    pub fn cut(&self) -> u64 {
        match self {
            ValueTable::Delimited(_) | ValueTable::Lines(_) => 0,
            ValueTable::Xlsx(table) => table.left_out().cut,
        }
    }

    /// Ends the table, and puts a file in place under the name `path`, in the folder where it was begun. Of standard
    /// output nothing is told.
    pub fn finish_as(self, path: PathBuf) -> Result<Option<Written>, Error> {
        match self {
            ValueTable::Delimited(table) => table.finish()?.finish_as(path),
            ValueTable::Lines(table) => table.sink.finish_as(path),
            ValueTable::Xlsx(table) => table.finish_as(path).map(Some),
        }
    }
}

/// NDJSON: one object a line, by the columns' names, or JSON as it came.
pub struct Lines {
    sink: Sink,
    /// As JSON, quotes and all.
    names: Vec<String>,
    line: String,
}

impl Lines {
    fn new(sink: Sink, header: &[String]) -> Lines {
        Lines { sink, names: header.iter().map(|name| quoted(name)).collect(), line: String::new() }
    }

    fn row(&mut self, values: &[Value<'_>]) -> Result<(), Error> {
        self.line.clear();
        for (place, (name, value)) in self.names.iter().zip(values).enumerate() {
            self.line.push(if place == 0 { '{' } else { ',' });
            self.line.push_str(name);
            self.line.push(':');
            match value {
                Value::Blank => self.line.push_str("null"),
                Value::Text(text) => self.line.push_str(&quoted(text)),
                Value::DateTime { text, .. } => self.line.push_str(&quoted(text)),
                Value::Number(digits) => self.line.push_str(digits),
                Value::Digits(digits) => self.line.push_str(digits),
                Value::Boolean(boolean) => self.line.push_str(if *boolean { "true" } else { "false" }),
            }
        }
        if self.line.is_empty() {
            self.line.push('{');
        }
        self.line.push_str("}\n");
        self.write()
    }

    /// Adds JSON as it came, on one line: what breaks lines in it is white space between its parts.
    pub fn json(&mut self, json: &str) -> Result<(), Error> {
        self.line.clear();
        self.line.extend(json.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
        self.line.push('\n');
        self.write()
    }

    fn write(&mut self) -> Result<(), Error> {
        let written = self.sink.write_all(self.line.as_bytes());
        written.map_err(|source| Error::Write { path: self.sink.name().to_owned(), source })
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::Read;

    use super::*;

    const ROW: [Value<'_>; 5] = [
        Value::Text(Cow::Borrowed("=1+1")),
        Value::Number("-1234.50"),
        Value::Boolean(true),
        Value::Blank,
        Value::DateTime { at: civil::DateTime::constant(2026, 1, 2, 3, 4, 5, 0), text: "2026-01-02T03:04:05Z" },
    ];

    /// What is written of [`ROW`] to a file of this name.
    fn written(name: &str, style: Style) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let shape = Shape::of(&path).unwrap();
        let header = ["a", "b", "c", "d", "e"].map(str::to_owned);
        let mut table = ValueTable::create(&path, shape, style, "Items", &header).unwrap();
        table.row(&ROW).unwrap();
        let told = table.finish_as(path.clone()).unwrap().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(told.bytes, bytes.len() as u64);
        let digest = <sha2::Sha256 as sha2::Digest>::digest(&bytes);
        assert_eq!(told.sha256, digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        let mut text = String::new();
        match name.rsplit_once('.').unwrap().1 {
            "gz" => drop(flate2::read::GzDecoder::new(&*bytes).read_to_string(&mut text).unwrap()),
            "zst" => text = String::from_utf8(zstd::decode_all(&*bytes).unwrap()).unwrap(),
            _ => text = String::from_utf8(bytes).unwrap(),
        }
        text
    }

    #[test]
    fn each_shape_writes_values_as_they_came() {
        let csv = "a,b,c,d,e\r\n'=1+1,-1234.50,true,,2026-01-02T03:04:05Z\r\n";
        let tsv = "a\tb\tc\td\te\r\n'=1+1\t-1234.50\ttrue\t\t2026-01-02T03:04:05Z\r\n";
        let ndjson = "{\"a\":\"=1+1\",\"b\":-1234.50,\"c\":true,\"d\":null,\"e\":\"2026-01-02T03:04:05Z\"}\n";
        for (name, text) in
            [("a.csv", csv), ("a.CSV.GZ", csv), ("a.csv.zst", csv), ("a.tsv.gz", tsv), ("a.jsonl.zst", ndjson)]
        {
            let lower = name.to_ascii_lowercase();
            assert_eq!(written(&lower, Style::default()), text, "{name}");
        }
    }

    #[test]
    fn a_style_changes_marks_and_leaves_digits() {
        let style = Style { decimal_comma: true, bom: true, raw: true, ..Style::default() };
        assert_eq!(written("a.csv", style), "\u{feff}a;b;c;d;e\r\n=1+1;-1234,50;true;;2026-01-02T03:04:05Z\r\n");
        let style = Style { delimiter: Some(b'|'), ..Style::default() };
        assert_eq!(written("a.csv", style), "a|b|c|d|e\r\n'=1+1|-1234.50|true||2026-01-02T03:04:05Z\r\n");
    }

    /// Cells as a row of a CSV that is read back by the csv crate.
    fn read_back(cells: &[String], delimiter: u8) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let style = Style { delimiter: Some(delimiter), raw: true, ..Style::default() };
        let header: Vec<String> = (0..cells.len()).map(|column| format!("c{column}")).collect();
        let mut table = ValueTable::create(&path, Shape::of(&path).unwrap(), style, "", &header).unwrap();
        let values: Vec<Value<'_>> = cells.iter().map(|cell| Value::Text(Cow::Borrowed(cell))).collect();
        table.row(&values).unwrap();
        table.row(&values).unwrap();
        table.finish_as(path.clone()).unwrap();
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_path(&path).unwrap();
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!((rows.len(), &rows[0]), (2, &rows[1]));
        rows[0].iter().map(str::to_owned).collect()
    }

    #[test]
    fn any_text_reads_back_as_it_was() {
        let texts = ["", "\"", "a\"\"b", "a,b;c\td", "two\r\nlines", "\n", " x ", "é,\"螺", "'"];
        for delimiter in [b',', b';', b'\t', b'|'] {
            for text in texts {
                assert_eq!(read_back(&[text.to_owned()], delimiter), [text], "alone");
                let cells = [text.to_owned(), "y".to_owned(), text.to_owned()];
                assert_eq!(read_back(&cells, delimiter), cells);
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_row_reads_back_as_it_was(cells in proptest::collection::vec("[a,;\"\r\n\t']{0,4}|\\PC*", 1..5)) {
            proptest::prop_assert_eq!(read_back(&cells, b','), cells);
        }
    }

    #[test]
    fn shapes_are_known_by_their_extensions() {
        for (name, known) in [
            ("a.csv", true),
            ("a.b.NDJSON.gz", true),
            ("a.xlsx", true),
            ("a.xlsx.gz", false),
            ("a.gz", false),
            (".csv", false),
            ("a.txt", false),
            ("csv", false),
        ] {
            assert_eq!(Shape::of(Path::new(name)).is_some(), known, "{name}");
        }
    }
}

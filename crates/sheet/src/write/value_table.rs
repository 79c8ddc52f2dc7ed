//! Tables of values with their exact digits, as CSV, TSV, NDJSON or XLSX. Texts may be compressed.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::csv::CsvTable;
use super::sink::Sink;
use super::value::{FileFormat, Style, TextKind, Value};
use super::whole_file::{Existing, ReadyFile, WholeFile, Written};
use super::xlsx::table::XlsxTable;
use crate::Error;
use crate::compression::Compression;

/// A table under construction. Dropping it without [`ValueTable::finish_as`] leaves no file.
pub enum ValueTable {
    Delimited(Box<CsvTable<Sink>>),
    Lines(Box<Lines>),
    Xlsx(Box<XlsxTable>),
}

impl ValueTable {
    /// Creates a table in the file `path`. `sheet` is the name of the worksheet in a workbook.
    ///
    /// # Errors
    /// The errors of [`WholeFile::create`], and [`Error::Unwritable`] if the header is wider than a worksheet.
    pub fn create(
        path: &Path,
        format: FileFormat,
        style: Style,
        sheet: &str,
        header: &[String],
    ) -> Result<ValueTable, Error> {
        let file = WholeFile::create(path, Existing::Replace)?;
        match format {
            FileFormat::Xlsx => {
                let header: Vec<&str> = header.iter().map(String::as_str).collect();
                Ok(ValueTable::Xlsx(Box::new(XlsxTable::plain(file, sheet, &header)?)))
            }
            FileFormat::Text { kind, packing } => ValueTable::text(Sink::file(file, packing)?, kind, style, header),
        }
    }

    /// Ends the table, and begins another table on a new sheet of the same workbook.
    ///
    /// # Errors
    /// [`Error::Unwritable`] if the file is not a workbook, or the header is wider than a worksheet.
    pub fn next_sheet(self, sheet: &str, header: &[String]) -> Result<ValueTable, Error> {
        let reason = "only a workbook has room for several tables".to_owned();
        match self {
            ValueTable::Xlsx(table) => {
                let header: Vec<&str> = header.iter().map(String::as_str).collect();
                Ok(ValueTable::Xlsx(Box::new(table.next_table(sheet, &header)?)))
            }
            ValueTable::Delimited(table) => {
                Err(Error::Unwritable { path: table.into_inner()?.name().to_owned(), reason })
            }
            ValueTable::Lines(table) => Err(Error::Unwritable { path: table.sink.name().to_owned(), reason }),
        }
    }

    /// Creates a table on standard output.
    pub fn stdout(kind: TextKind, style: Style, header: &[String]) -> Result<ValueTable, Error> {
        ValueTable::text(Sink::stdout(kind)?, kind, style, header)
    }

    fn text(sink: Sink, kind: TextKind, style: Style, header: &[String]) -> Result<ValueTable, Error> {
        match style.delimiter(kind) {
            None => Ok(ValueTable::Lines(Box::new(Lines::new(sink, header)))),
            Some(delimiter) => {
                Ok(ValueTable::Delimited(Box::new(CsvTable::delimited(sink, delimiter, style, header)?)))
            }
        }
    }

    /// Continues a table with these columns. `file` contains the existing rows. Compressed rows are added as a separate part.
    pub fn further_rows(
        file: WholeFile,
        (kind, packing): (TextKind, Compression),
        style: Style,
        header: &[String],
    ) -> Result<ValueTable, Error> {
        let sink = Sink::file(file, packing)?;
        Ok(match style.delimiter(kind) {
            None => ValueTable::Lines(Box::new(Lines::new(sink, header))),
            Some(delimiter) => {
                ValueTable::Delimited(Box::new(CsvTable::further_rows(sink, delimiter, style, header.len())))
            }
        })
    }

    pub fn row(&mut self, values: &[Value<'_>]) -> Result<(), Error> {
        match self {
            ValueTable::Delimited(table) => table.row(values),
            ValueTable::Lines(table) => table.row(values),
            ValueTable::Xlsx(table) => table.values(values),
        }
    }

    /// Returns the number of texts so far that were cut to the limit of a workbook's cell.
    pub fn cut(&self) -> u64 {
        match self {
            ValueTable::Delimited(_) | ValueTable::Lines(_) => 0,
            ValueTable::Xlsx(table) => table.cut_texts(),
        }
    }

    /// Returns the number of texts so far with an apostrophe added, to keep them from running as formulas.
    pub fn defused(&self) -> u64 {
        match self {
            ValueTable::Delimited(table) => table.defused(),
            ValueTable::Lines(_) => 0,
            ValueTable::Xlsx(table) => table.defused(),
        }
    }

    /// Ends the table and puts the file in place as `path`, in the same folder. Returns `None` for standard output.
    pub fn finish_as(self, path: PathBuf) -> Result<Option<Written>, Error> {
        self.ready_as(path)?.map(ReadyFile::finish).transpose()
    }

    /// Like [`ValueTable::finish_as`], but the caller puts the file in place.
    pub fn ready_as(self, path: PathBuf) -> Result<Option<ReadyFile>, Error> {
        match self {
            ValueTable::Delimited(table) => table.into_inner()?.ready_as(path),
            ValueTable::Lines(table) => table.sink.ready_as(path),
            ValueTable::Xlsx(table) => table.ready_as(path).map(Some),
        }
    }
}

/// An NDJSON writer: one object per line, keyed by column name, or unchanged JSON.
pub struct Lines {
    sink: Sink,
    /// Column names as JSON strings.
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

    /// Writes a JSON document on one line. Line breaks in JSON are insignificant white space.
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
    use std::borrow::Cow;
    use std::io::Read;

    use jiff::civil;

    use super::*;

    const ROW: [Value<'_>; 5] = [
        Value::Text(Cow::Borrowed("=1+1")),
        Value::Number("-1234.50"),
        Value::Boolean(true),
        Value::Blank,
        Value::DateTime { at: civil::DateTime::constant(2026, 1, 2, 3, 4, 5, 0), text: "2026-01-02T03:04:05Z" },
    ];

    /// Writes [`ROW`] to a file with this name and returns its text.
    fn written(name: &str, style: Style) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let format = FileFormat::of(&path).unwrap();
        let header = ["a", "b", "c", "d", "e"].map(str::to_owned);
        let mut table = ValueTable::create(&path, format, style, "Items", &header).unwrap();
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
    fn every_format_preserves_values() {
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
    fn styles_change_delimiters_and_preserve_digits() {
        let style = Style { decimal_comma: true, bom: true, raw: true, ..Style::default() };
        assert_eq!(written("a.csv", style), "\u{feff}a;b;c;d;e\r\n=1+1;-1234,50;true;;2026-01-02T03:04:05Z\r\n");
        let style = Style { delimiter: Some(b'|'), ..Style::default() };
        assert_eq!(written("a.csv", style), "a|b|c|d|e\r\n'=1+1|-1234.50|true||2026-01-02T03:04:05Z\r\n");
    }

    /// Writes cells as a CSV row and reads them with the csv crate.
    fn read_back(cells: &[String], delimiter: u8) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let style = Style { delimiter: Some(delimiter), raw: true, ..Style::default() };
        let header: Vec<String> = (0..cells.len()).map(|column| format!("c{column}")).collect();
        let mut table = ValueTable::create(&path, FileFormat::of(&path).unwrap(), style, "", &header).unwrap();
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
    fn csv_text_round_trips() {
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
        fn csv_rows_round_trip(cells in proptest::collection::vec("[a,;\"\r\n\t']{0,4}|\\PC*", 1..5)) {
            proptest::prop_assert_eq!(read_back(&cells, b','), cells);
        }
    }

    #[test]
    fn extensions_determine_the_format() {
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
            assert_eq!(FileFormat::of(Path::new(name)).is_some(), known, "{name}");
        }
    }
}

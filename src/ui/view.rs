//! The output of `view`: how a file is read, and the first rows.

use serde_json::{Value, json};
use sheetport_language::{message, say, word};
use sheetport_sheet::json::JsonRow;
use sheetport_sheet::read::header::cell_type;
use sheetport_sheet::read::value_type::ValueType;
use sheetport_sheet::{Book, Confidence, Dialect, Error, Row, Table, column_letters};

use super::columns::{cut, padded, width};
use super::{counted, heading, label, line};

/// Number of rows for determining the types of columns.
const SAMPLE: usize = 1000;
/// Maximum width of a cell.
const MAX_WIDTH: usize = 24;
const MAX_LINE: usize = 110;

/// How a file is read.
pub struct FileView<'a> {
    file: &'a str,
    book: &'a Book,
    sheet: &'a str,
    table: Table,
    columns: Vec<Column>,
    rows: Vec<Row>,
}

struct Column {
    name: String,
    looks: [usize; 7],
}

impl FileView<'_> {
    /// Reads the first rows of a sheet and keeps `shown` of them.
    pub fn of<'a>(file: &'a str, book: &'a Book, sheet: usize, shown: usize) -> Result<FileView<'a>, Error> {
        let mut table = Table::new(book.rows(sheet)?)?;
        let header = table.header().clone();
        let mut columns: Vec<Column> =
            header.names.iter().map(|name| Column { name: name.clone(), looks: [0; 7] }).collect();
        let (mut row, mut rows, mut seen) = (Row::default(), Vec::new(), 0);
        let mut is_header = !header.names.is_empty();
        while seen < SAMPLE.max(shown) && table.next(&mut row)? {
            if std::mem::take(&mut is_header) {
                continue;
            }
            seen += 1;
            while columns.len() < row.len() {
                columns.push(Column { name: String::new(), looks: [0; 7] });
            }
            for (column, cell) in columns.iter_mut().zip(row.cells()) {
                column.looks[cell_type(cell) as usize] += 1;
            }
            if rows.len() < shown {
                rows.push(row.clone());
            }
        }
        Ok(FileView { file, book, sheet: book.sheets().get(sheet).map_or("", String::as_str), table, columns, rows })
    }

    /// Returns the JSON object of `--json`.
    pub fn json(&self) -> Value {
        let columns = self.columns.iter().enumerate().map(|(index, column)| {
            let (kind, sure) = column.kind();
            json!({"column": column_letters(index), "name": column.name, "type": kind, "sure": sure.name()})
        });
        let (table, header) = (&self.table, self.table.header());
        json!({
            "file": self.file,
            "description": self.book.description(),
            "text": self.book.dialect().map(dialect_json),
            "sheets": self.book.sheets(),
            "sheet": self.sheet,
            "titles": table.titles(),
            "header": {"row": table.header_row(), "rows": header.body - header.first, "sure": header.confidence.name()},
            "columns": columns.collect::<Vec<_>>(),
            "rows": self.rows.iter().map(JsonRow).collect::<Vec<_>>(),
            "mended_rows": table.rows().rows_with_stray_quotes(),
            "second_table_at": table.ended_at(),
        })
    }

    /// Prints the view to stdout.
    pub fn print(&self) {
        line(format_args!("{}: {}", self.file, message(&self.book.description())));
        if let Some(dialect) = self.book.dialect() {
            for (what, value, sure) in dialect_lines(dialect) {
                line(format_args!("  {} {:<28} {}", label(what, 12), word(&value), word(sure.name())));
            }
        } else {
            line(format_args!("  {} {}", label("sheets", 12), self.book.sheets().join(", ")));
            line(format_args!("  {} {}", label("reading", 12), self.sheet));
        }
        let (table, found) = (&self.table, self.table.header());
        let header = match (table.header_row(), found.body - found.first) {
            (None, _) => word("none").to_owned(),
            (Some(row), 1) => say!("row {row}"),
            (Some(row), rows) => say!("row {row}, over {rows} rows"),
        };
        line(format_args!("  {} {header:<28} {}", label("header", 12), word(found.confidence.name())));
        if !table.titles().is_empty() {
            let rows: Vec<String> = table.titles().iter().map(u64::to_string).collect();
            line(format_args!("  {} {} {}", label("titles", 12), word("row"), rows.join(", ")));
        }
        let mended = table.rows().rows_with_stray_quotes();
        if mended > 0 {
            let mended = say!("in {}, read as text", counted(mended, "row"));
            line(format_args!("  {} {mended}", label("stray quotes", 12)));
        }
        if let Some(row) = table.ended_at() {
            let begins = say!("begins at row {row}; --csv does not print it");
            line(format_args!("  {} {begins}", label("second table", 12)));
        }
        heading(&say!("Columns"));
        for (index, column) in self.columns.iter().enumerate() {
            let (kind, sure) = column.kind();
            let name = cut(&column.name, 40);
            let name = padded(&name, 40);
            let (kind, sure) = (word(kind), word(sure.name()));
            line(format_args!("  {:<4} {name} {kind:<10} {sure}", column_letters(index)));
        }
        heading(&say!("First rows"));
        self.print_rows();
    }

    fn print_rows(&self) {
        let names = self.columns.iter().map(|column| cut(&column.name, MAX_WIDTH)).collect::<Vec<_>>();
        let cells: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.cells().map(|cell| cut(&cell.shown(), MAX_WIDTH)).collect()).collect();
        let width_of = |column: usize| {
            let widths = cells.iter().filter_map(|row| row.get(column)).map(|cell| width(cell));
            widths.max().unwrap_or(0).max(width(&names[column]))
        };
        let mut widths = Vec::new();
        let mut total = 6;
        for column in 0..names.len() {
            let width = width_of(column);
            total += width + 2;
            if total > MAX_LINE && column > 0 {
                break;
            }
            widths.push(width);
        }
        let print = |number: &str, cells: &[String]| {
            let mut text = format!("{number:>6}");
            for (column, width) in widths.iter().enumerate() {
                let cell = cells.get(column).map_or("", String::as_str);
                text.push_str("  ");
                text.push_str(&padded(cell, *width));
            }
            line(text.trim_end());
        };
        if self.table.header_row().is_some() {
            print("", &names);
        }
        for (row, cells) in self.rows.iter().zip(&cells) {
            print(&row.number.to_string(), cells);
        }
        if widths.len() < names.len() {
            line(say!("        and {} more", counted((names.len() - widths.len()) as u64, "column")));
        }
    }
}

impl Column {
    /// Returns the most frequent type of the values, with its confidence.
    fn kind(&self) -> (&'static str, Confidence) {
        let of = |look: ValueType| self.looks[look as usize];
        let filled = self.looks.iter().sum::<usize>() - of(ValueType::Blank);
        let (kind, count) = [("number", of(ValueType::Number)), ("date", of(ValueType::Date))]
            .into_iter()
            .max_by_key(|(_, count)| *count)
            .filter(|(_, count)| 2 * count > filled)
            .unwrap_or(("text", filled));
        match filled {
            0 => ("blank", Confidence::Guess),
            _ if count < filled => (kind, Confidence::Guess),
            1..5 => (kind, Confidence::Likely),
            _ => (kind, Confidence::Certain),
        }
    }
}

fn dialect_lines(dialect: &Dialect) -> Vec<(&'static str, String, Confidence)> {
    let grammar = &dialect.grammar;
    let mark = if dialect.encoding.bom > 0 { word(" with byte order mark") } else { "" };
    let mut lines = Vec::new();
    if let Some((packing, _)) = dialect.compression.name() {
        lines.push(("compressed", packing.to_owned(), Confidence::Certain));
    }
    lines.push(("encoding", format!("{}{mark}", dialect.encoding.encoding.name()), dialect.confidence.encoding));
    let delimiter = match (grammar.runs, grammar.spaced) {
        (0, false) => named(grammar.delimiter),
        (0, true) => say!("{} and a space", named(grammar.delimiter)),
        (1, _) => say!("{}, repeated delimiters count as one", named(grammar.delimiter)),
        (runs, _) => say!("{runs} or more of {}", named(grammar.delimiter)),
    };
    lines.push(("delimiter", delimiter, dialect.confidence.delimiter));
    lines.push(("quote", grammar.quote.map_or("none".to_owned(), named), dialect.confidence.quote));
    let escape = match (grammar.quote, grammar.escape) {
        (None, _) => word("none").to_owned(),
        (Some(_), Some(escape)) => named(escape),
        (Some(_), None) => "quotes are doubled".to_owned(),
    };
    lines.push(("escape", escape, dialect.confidence.escape));
    lines.push(("line ending", dialect.line_ending.name().to_owned(), Confidence::Certain));
    lines
}

fn dialect_json(dialect: &Dialect) -> Value {
    let grammar = &dialect.grammar;
    let text = |byte: Option<u8>| byte.map(|byte| char::from(byte).to_string());
    json!({
        "compression": dialect.compression.name().map(|(name, _)| name),
        "encoding": {
            "value": dialect.encoding.encoding.name(), "mark": dialect.encoding.bom > 0, "sure": dialect.confidence.encoding.name(),
        },
        "delimiter": {
            "value": text(Some(grammar.delimiter)), "several_are_one": grammar.runs > 0,
            "and_a_space": grammar.spaced, "sure": dialect.confidence.delimiter.name(),
        },
        "quote": {"value": text(grammar.quote), "sure": dialect.confidence.quote.name()},
        "escape": {"value": text(grammar.escape), "sure": dialect.confidence.escape.name()},
        "line_ending": dialect.line_ending.name(),
    })
}

fn named(byte: u8) -> String {
    match byte {
        b'\t' => "tab".to_owned(),
        b' ' => say!("space"),
        byte if byte.is_ascii_graphic() => char::from(byte).to_string(),
        byte => char::from(byte).escape_default().to_string(),
    }
}

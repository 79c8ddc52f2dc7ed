//! The columns of a spreadsheet to load, and the values of its cells.

use std::borrow::Cow;

use serde_json::{Map, Value};
use sheetport_records::JsonType;
use sheetport_sheet::{self as sheet, Cell, RESERVED_PREFIX, Row};
use sheetport_values::number::Mark;
use sheetport_values::number::style::{ColumnStyle, common_decimal};

use super::kind::{ColumnType, KEYS, LoadKind};

pub(super) struct Column {
    index: usize,
    pub(super) name: String,
    of: ColumnType,
}

/// How the cells of a sheet are written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CellForm<'a> {
    /// The decimal separator of texts, if the sheet has one.
    pub(super) decimal: Option<Mark>,
    /// Whether an apostrophe in front of a sign belongs to the text.
    pub(super) is_exact: bool,
    /// The names of the columns according to the manifest.
    pub(super) names: &'a [String],
}

impl CellForm<'_> {
    /// Returns a text without the apostrophes that protect it from being run as a formula.
    fn restore<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_exact { Cow::Borrowed(text) } else { sheet::write::restore(text) }
    }
}

/// Returns the columns with a matching field. Fails with the reason if the header can't be used.
pub(super) fn columns(
    kind: &'static LoadKind,
    header: &Row,
    form: CellForm<'_>,
    ignored: &mut Vec<String>,
) -> Result<Vec<Column>, String> {
    let mut columns: Vec<Column> = Vec::new();
    for (index, cell) in header.cells().enumerate() {
        let shown = cell.shown();
        let (full, trimmed) = (form.restore(&shown), form.restore(shown.trim()));
        // Spaces around a name are a slip of the pen, unless the service has a field of this name. Workbooks lose them.
        let exported = form.names.iter().find(|name| **name == full);
        let exported = exported.or_else(|| form.names.iter().find(|name| name.trim() == trimmed));
        let name = exported.cloned().unwrap_or_else(|| trimmed.into_owned());
        if name.is_empty() {
            continue;
        }
        if columns.iter().any(|column| column.name == name) {
            return Err(format!("the column '{name}' appears twice"));
        }
        match kind.column(&name) {
            Some(of) if !name.starts_with(RESERVED_PREFIX) => columns.push(Column { index, name, of }),
            _ => ignored.push(name),
        }
    }
    match columns.iter().any(|column| KEYS.contains(&column.name.as_str())) {
        true => Ok(columns),
        false => Err("its first row has no column for an id or a name".to_owned()),
    }
}

/// Returns the fields of a row, and all its problems as field and message. Blank cells are null; faulty cells are left out.
pub(super) fn record(columns: &[Column], row: &Row, form: CellForm<'_>) -> (Map<String, Value>, Vec<(String, String)>) {
    let (mut fields, mut problems) = (Map::new(), Vec::new());
    for column in columns {
        match value(column.of, row.get(column.index), form) {
            Ok(Some(value)) => drop(fields.insert(column.name.clone(), value)),
            // Of a new record, an empty field. Others keep theirs.
            Ok(None) => drop(fields.insert(column.name.clone(), Value::Null)),
            Err(message) => problems.push((column.name.clone(), message)),
        }
    }
    (fields, problems)
}

fn value(of: ColumnType, cell: Cell<'_>, form: CellForm<'_>) -> Result<Option<Value>, String> {
    let decimal = form.decimal;
    let json = match (of, cell) {
        (ColumnType::Field(json), _) => json,
        (ColumnType::Open, Cell::Boolean(_)) => JsonType::Boolean,
        (ColumnType::Open, Cell::Number(_) | Cell::Rounded(..)) => JsonType::Number,
        (ColumnType::Open, _) => JsonType::String,
    };
    let text = match cell {
        Cell::Blank => return Ok(None),
        Cell::Error(error) => return Err(format!("is the formula error {error}")),
        // Exports write times in UTC.
        Cell::DateTime(at) => format!("{at}Z"),
        Cell::Date(date) => format!("{date}T00:00:00Z"),
        Cell::Text(text) if sheet::write::is_cut(text) => {
            return Err(
                "is cut to the maximum length of a workbook's cell; export to CSV or NDJSON to load the whole text"
                    .to_owned(),
            );
        }
        Cell::Text(text) => form.restore(text).into_owned(),
        // Exports show all decimals, such as the two of 1.50.
        Cell::Rounded(number, decimals) => with_decimals(Cell::Number(number).shown().into_owned(), decimals.into()),
        other => other.unformatted().shown().into_owned(),
    };
    let wrong = |what: &str| format!("must be {what}, not '{}'", text.chars().take(40).collect::<String>());
    let value = match json {
        JsonType::String | JsonType::DateTime => Value::from(text),
        JsonType::Number | JsonType::Integer => match (number(text.trim(), decimal), decimal) {
            (Some(number), _) => Value::Number(number),
            (None, Some(Mark::Comma)) => return Err(wrong("a number such as 1234,50")),
            (None, _) => return Err(wrong("a number such as 1234.50")),
        },
        JsonType::Boolean => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => return Err(wrong("true or false")),
        },
        // An export joins plain values with commas, except values that contain commas or brackets.
        JsonType::Strings if !text.trim_start().starts_with('[') => {
            text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
        }
        JsonType::Strings | JsonType::Object(_) | JsonType::Objects(_) => match serde_json::from_str(&text) {
            Ok(value @ (Value::Array(_) | Value::Object(_))) => value,
            _ => return Err(wrong("JSON as in an export, such as [\"a\",\"b\"]")),
        },
    };
    Ok(Some(value))
}

/// Parses a number as exports write it, with a decimal point or with the decimal comma of a locale, and without groups.
fn number(text: &str, decimal: Option<Mark>) -> Option<serde_json::Number> {
    if decimal != Some(Mark::Comma) || !text.contains(',') {
        return serde_json::from_str(text).ok().filter(|_| decimal != Some(Mark::Comma) || !text.contains('.'));
    }
    if text.contains('.') {
        return None;
    }
    serde_json::from_str(&text.replacen(',', ".", 1)).ok()
}

/// Finds the decimal separator of the numbers in text cells, as uploads do.
pub(super) struct Decimals {
    columns: Vec<(usize, ColumnStyle)>,
}

impl Decimals {
    pub(super) fn new(columns: &[Column]) -> Decimals {
        let is_number = |column: &&Column| column.of == ColumnType::Field(JsonType::Number);
        let style = |column: &Column| (column.index, ColumnStyle::default());
        Decimals { columns: columns.iter().filter(is_number).map(style).collect() }
    }

    pub(super) fn add(&mut self, row: &Row) {
        for (index, style) in &mut self.columns {
            if let Cell::Text(text) = row.get(*index) {
                style.add(row.number, text);
            }
        }
    }

    /// Returns the only decimal separator of the sheet. `is_local`: the sheet has the delimiter of languages with a decimal comma,
    /// so that the comma of `1,234` is no separator of thousands.
    pub(super) fn separator(&self, is_local: bool) -> Option<Mark> {
        let styles = || self.columns.iter().map(|(_, style)| style);
        let has_only_commas = |style: &ColumnStyle| style.ambiguous_mark().is_none_or(|mark| mark == Mark::Comma);
        let is_open = styles().all(ColumnStyle::has_no_decimals) && styles().any(ColumnStyle::has_ambiguous_numbers);
        common_decimal(styles()).or((is_local && is_open && styles().all(has_only_commas)).then_some(Mark::Comma))
    }
}

/// Returns a number with at least this many decimals.
fn with_decimals(mut digits: String, decimals: usize) -> String {
    let shown = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    if shown < decimals {
        if shown == 0 {
            digits.push('.');
        }
        digits.extend(std::iter::repeat_n('0', decimals - shown));
    }
    digits
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::kind::LOAD_KINDS;
    use super::*;

    fn row(cells: &[Cell<'_>]) -> Row {
        let mut row = Row::default();
        row.clear(1);
        cells.iter().for_each(|cell| row.push(*cell));
        row
    }

    #[test]
    fn columns_that_are_no_fields_are_listed() {
        let mut ignored = Vec::new();
        let header = row(&[Cell::Text(" id "), Cell::Blank, Cell::Text("colour"), Cell::Text("order_id")]);
        let found = columns(&LOAD_KINDS[3], &header, CellForm::default(), &mut ignored).expect("a header");
        let found: Vec<_> = found.iter().map(|column| (column.index, column.name.as_str())).collect();
        assert_eq!((found, ignored), (vec![(0, "id"), (3, "order_id")], vec!["colour".to_owned()]));

        let twice = row(&[Cell::Text("id"), Cell::Text("id")]);
        assert!(
            columns(&LOAD_KINDS[3], &twice, CellForm::default(), &mut Vec::new())
                .is_err_and(|why| why.contains("'id'"))
        );
        let none = row(&[Cell::Text("Nummer"), Cell::Text("Summe")]);
        assert!(columns(&LOAD_KINDS[3], &none, CellForm::default(), &mut Vec::new()).is_err());
    }

    #[test]
    fn cells_become_values_of_the_field_type() {
        use JsonType::{Boolean, Integer, Number, String, Strings};
        let field = |json, cell| value(ColumnType::Field(json), cell, CellForm::default());
        let at = jiff::civil::date(2026, 1, 31).at(8, 30, 0, 0);
        for (json, cell, expected) in [
            (String, Cell::Text("0042"), json!("0042")),
            (String, Cell::Text("'=1+1"), json!("=1+1")),
            (String, Cell::Number(42.0), json!("42")),
            (String, Cell::DateTime(at), json!("2026-01-31T08:30:00Z")),
            (String, Cell::Date(at.date()), json!("2026-01-31T00:00:00Z")),
            (Integer, Cell::Text(" 7 "), json!(7)),
            (Boolean, Cell::Boolean(true), json!(true)),
            (Strings, Cell::Text(r#"["a","b"]"#), json!(["a", "b"])),
            (Strings, Cell::Text("a, b"), json!(["a", "b"])),
        ] {
            assert_eq!(field(json, cell), Ok(Some(expected)), "{cell:?}");
        }
        let kept = field(Number, Cell::Text("1234.50")).expect("a number").expect("there");
        assert_eq!(kept.to_string(), "1234.50", "digits stay as they are");
        let shown = field(Number, Cell::Rounded(1225.5, 2)).expect("a number").expect("there");
        assert_eq!(shown.to_string(), "1225.50", "decimals that are shown");
        let hidden = field(Number, Cell::Rounded(1.105, 2)).expect("a number").expect("there");
        assert_eq!(hidden.to_string(), "1.105", "decimals that are not shown");
        assert_eq!(field(Number, Cell::Blank), Ok(None));
        for (cell, expected) in [
            (Cell::Number(19.0), json!(19)),
            (Cell::Boolean(true), json!(true)),
            (Cell::Text("19"), json!("19")),
            (Cell::Text("true"), json!("true")),
        ] {
            assert_eq!(value(ColumnType::Open, cell, CellForm::default()), Ok(Some(expected)), "{cell:?}");
        }
        for (json, cell) in [
            (Number, Cell::Text("12,50")),
            (Number, Cell::Text("1 2")),
            (Boolean, Cell::Text("yes")),
            (Strings, Cell::Text("[a")),
            (String, Cell::Error("#N/A")),
        ] {
            assert!(field(json, cell).is_err(), "{cell:?}");
        }
    }

    #[test]
    fn apostrophes_and_spaces_belong_to_exact_texts() {
        let names = [" sp ".to_owned()];
        let form = CellForm { is_exact: true, names: &names, ..CellForm::default() };
        let text = value(ColumnType::Field(JsonType::String), Cell::Text("'=1+1"), form);
        assert_eq!(text, Ok(Some(json!("'=1+1"))));
        let header = row(&[Cell::Text("id"), Cell::Text(" sp "), Cell::Text(" vat ")]);
        let found = columns(&LOAD_KINDS[0], &header, form, &mut Vec::new()).expect("a header");
        let found: Vec<_> = found.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(found, ["id", " sp ", "vat"]);
    }

    #[test]
    fn decimal_commas_are_read_if_the_sheet_has_no_decimal_points() {
        let check = |texts: &[&str], is_local, expected: &[Option<&str>]| {
            let column = Column { index: 0, name: "price".to_owned(), of: ColumnType::Field(JsonType::Number) };
            let mut decimals = Decimals::new(std::slice::from_ref(&column));
            texts.iter().for_each(|text| decimals.add(&row(&[Cell::Text(text)])));
            let decimal = decimals.separator(is_local);
            let form = CellForm { decimal, ..CellForm::default() };
            let read = texts.iter().map(|text| value(column.of, Cell::Text(text), form).ok().flatten());
            let read: Vec<Option<String>> = read.map(|value| value.map(|value| value.to_string())).collect();
            assert_eq!(read.iter().map(Option::as_deref).collect::<Vec<_>>(), expected, "{texts:?}");
        };
        check(&["12,50", "-0,5", "7", "1,234"], false, &[Some("12.50"), Some("-0.5"), Some("7"), Some("1.234")]);
        check(&["1,234", "7"], true, &[Some("1.234"), Some("7")]);
        check(&["1,234", "7"], false, &[None, Some("7")]);
        check(&["1.234", "7"], true, &[Some("1.234"), Some("7")]);
        check(&["1,234", "12.50"], true, &[None, Some("12.50")]);
        check(&["12,50", "1.234"], true, &[Some("12.50"), None]);
        check(&["12,50", "12.50"], true, &[None, Some("12.50")]);
        check(&["1.234,50", "12,50"], true, &[None, Some("12.50")]);
    }
}

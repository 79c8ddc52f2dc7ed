//! Columns of the table: the contract's fields in contract order, then further fields in order of first occurrence. Each
//! field of a nested object has a column named by the dotted path.

use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;

use sheetport_client::pages::{Entry, array_elements, object_fields};
use sheetport_records::ListedField;
use sheetport_sheet::write::Value;

use crate::value::value;

/// Maximum number of columns. Further fields are collected as JSON in the column [`OTHER_FIELDS`].
pub(crate) const MAX_COLUMNS: usize = 2_000;
/// Maximum length of a column's path in bytes. Fields with longer names are also collected.
const MAX_PATH: usize = 1_000;
/// Header of the column for fields beyond [`MAX_COLUMNS`].
pub(crate) const OTHER_FIELDS: &str = "other_fields";
/// Header of the column for entries other than objects.
const WHOLE_ENTRY: &str = "value";
/// Maximum depth to which nested objects are split into columns. Deeper objects stay JSON.
const MAX_DEPTH: usize = 8;

/// All columns found so far. The index of a column never changes.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    columns: Vec<Column>,
    by_path: HashMap<String, usize>,
    /// The column found last.
    last: usize,
    has_other_fields: bool,
    /// Times in UTC become dates instead of text.
    has_dates: bool,
}

#[derive(Clone, Debug)]
struct Column {
    /// Field names joined by dots. Dots within a name are preceded by a backslash.
    path: String,
    header: String,
    is_date_time: bool,
    /// Named by the contract.
    is_known: bool,
    /// Used by an export template. If the field is an object, the column contains JSON.
    is_required: bool,
    /// A record has the field, perhaps without a value.
    is_seen: bool,
    has_values: bool,
    /// The column found after this one the last time. Most records have the same fields in the same order.
    next: usize,
}

/// The JSON values of one row by column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row<'a> {
    values: Vec<Option<&'a str>>,
    /// Fields without a separate column.
    other_fields: Vec<(String, &'a str)>,
}

/// A row while its entry is being split into fields.
struct Split<'a, 'e> {
    explode: Option<&'e str>,
    row: Row<'a>,
    /// The elements of the array to explode, if any.
    elements: Option<Vec<&'a str>>,
}

impl Columns {
    pub(crate) fn new(fields: &[ListedField], has_dates: bool) -> Columns {
        let mut columns =
            Columns { columns: Vec::new(), by_path: HashMap::new(), last: 0, has_other_fields: false, has_dates };
        for field in fields {
            columns.add(field.name, field.is_date_time(), true);
        }
        columns
    }

    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// Returns whether the column [`OTHER_FIELDS`] has values.
    pub(crate) fn has_other_fields(&self) -> bool {
        self.has_other_fields
    }

    pub(crate) fn find(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// Adds a column for a field of an export template.
    pub(super) fn require(&mut self, path: &str) {
        if let Some(index) = self.find_or_add(path) {
            self.columns[index].is_required = true;
        }
    }

    /// Returns the paths of all columns.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.path.as_str())
    }

    /// Adds a column that earlier exports had.
    pub(crate) fn remember(&mut self, path: &str) {
        if let Some(index) = self.find_or_add(path) {
            self.columns[index].is_known = true;
        }
    }

    /// Keeps the column [`OTHER_FIELDS`] of earlier exports, with or without values.
    pub(super) fn keep_other_fields(&mut self) {
        self.has_other_fields = true;
    }

    /// Returns the paths of the columns with values.
    pub(super) fn filled_paths(&self) -> Vec<&str> {
        self.columns.iter().filter(|column| column.has_values).map(|column| column.path.as_str()).collect()
    }

    /// Returns the columns to write. Omits a column of nulls if the field is an object in other entries, and fields that only a
    /// template names.
    pub(crate) fn visible(&self) -> Vec<usize> {
        let is_visible = |column: &Column| {
            column.is_known
                || column.has_values
                || column.is_seen && !self.columns.iter().any(|other| is_within(&other.path, &column.path))
        };
        (0..self.columns.len()).filter(|index| is_visible(&self.columns[*index])).collect()
    }

    pub(crate) fn header(&self, index: usize) -> &str {
        self.columns.get(index).map_or(OTHER_FIELDS, |column| &column.header)
    }

    /// Returns the path of a column.
    pub(super) fn path(&self, index: usize) -> Option<&str> {
        self.columns.get(index).map(|column| column.path.as_str())
    }

    pub(super) fn has_values(&self, index: usize) -> bool {
        self.columns.get(index).is_some_and(|column| column.has_values)
    }

    /// Returns an entry as a single row, and adds columns for new fields.
    pub(crate) fn row<'a>(&mut self, entry: &Entry<'a>) -> Row<'a> {
        let mut single = Row::default();
        let done = self.each_row(entry, None, |_, row| {
            single = row;
            Ok::<_, Infallible>(())
        });
        match done {
            Ok(()) => single,
        }
    }

    /// Passes the rows of an entry to `each`, and adds columns for new fields. An entry has one row, or one row for each element
    /// of the array `explode`. Rows are not collected, because a small array can have many elements.
    pub(super) fn each_row<'a, E>(
        &mut self,
        entry: &Entry<'a>,
        explode: Option<&str>,
        mut each: impl FnMut(&Columns, Row<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        let values = Vec::with_capacity(self.columns.len());
        let mut split = Split { explode, row: Row { values, other_fields: Vec::new() }, elements: None };
        match entry.is_object() {
            true => self.set_fields("", entry.fields(), 0, &mut split),
            false => self.set(WHOLE_ENTRY, entry.json(), &mut split.row),
        }
        let (Some(elements), Some(explode)) = (split.elements, explode) else { return each(self, split.row) };
        for element in elements {
            let row = self.exploded_row(explode, element, split.row.clone());
            each(self, row)?;
        }
        Ok(())
    }

    fn exploded_row<'a>(&mut self, explode: &str, element: &'a str, row: Row<'a>) -> Row<'a> {
        let mut split = Split { explode: None, row, elements: None };
        match element.starts_with('{') {
            true => self.set_object(explode, element, 1, &mut split),
            false => self.set(explode, element, &mut split.row),
        }
        split.row
    }

    fn set_fields<'a>(
        &mut self,
        parent: &str,
        fields: &[(Cow<'a, str>, &'a str)],
        depth: usize,
        split: &mut Split<'a, '_>,
    ) {
        for (name, json) in fields {
            let path = field_path(parent, name);
            match json.as_bytes().first() {
                Some(b'{') => self.set_object(&path, json, depth + 1, split),
                Some(b'[') if split.explode == Some(&*path) => {
                    split.elements = array_elements(json).filter(|elements| !elements.is_empty());
                }
                _ => self.set(&path, json, &mut split.row),
            }
        }
    }

    fn set_object<'a>(&mut self, path: &str, json: &'a str, depth: usize, split: &mut Split<'a, '_>) {
        if self.find(path).is_some_and(|index| self.columns[index].is_required) {
            self.set(path, json, &mut split.row);
        }
        let fields = if depth > MAX_DEPTH { None } else { object_fields(json) };
        match fields.filter(|fields| !fields.is_empty()) {
            Some(fields) => self.set_fields(path, &fields, depth, split),
            None => self.set(path, json, &mut split.row),
        }
    }

    fn set<'a>(&mut self, path: &str, json: &'a str, row: &mut Row<'a>) {
        match self.find_or_add(path) {
            Some(index) => {
                self.columns[index].is_seen = true;
                self.columns[index].has_values |= json != "null";
                row.set(index, json);
            }
            None if json == "null" => {}
            None => {
                self.has_other_fields = true;
                row.other_fields.push((header_of(path), json));
            }
        }
    }

    /// Returns the value of a row in a column. The index [`Columns::len`] is the column [`OTHER_FIELDS`].
    pub(crate) fn value<'a>(&self, row: &Row<'a>, index: usize) -> Value<'a> {
        match self.columns.get(index) {
            Some(column) => value(row.json(index), column.is_date_time && self.has_dates),
            None if row.other_fields.is_empty() => Value::Blank,
            None => {
                let field = |(name, json): &(String, &str)| format!("{}:{json}", serde_json::Value::from(&**name));
                let fields: Vec<String> = row.other_fields.iter().map(field).collect();
                Value::Text(Cow::Owned(format!("{{{}}}", fields.join(","))))
            }
        }
    }

    fn find_or_add(&mut self, path: &str) -> Option<usize> {
        let next = self.columns.get(self.last).map_or(0, |last| last.next);
        let index = match self.columns.get(next) {
            Some(column) if column.path == path => next,
            _ => self.find_by_path_or_add(path)?,
        };
        if let Some(last) = self.columns.get_mut(self.last) {
            last.next = index;
        }
        self.last = index;
        Some(index)
    }

    fn find_by_path_or_add(&mut self, path: &str) -> Option<usize> {
        match self.by_path.get(path) {
            Some(index) => Some(*index),
            None if self.columns.len() >= MAX_COLUMNS || path.len() > MAX_PATH => None,
            None => {
                let name = path.rsplit_once('.').map_or(path, |(_, name)| name);
                let is_date_time = name == "date" || name.ends_with("_at") || name.ends_with("_date");
                Some(self.add(path, is_date_time, false))
            }
        }
    }

    fn add(&mut self, path: &str, is_date_time: bool, is_known: bool) -> usize {
        let mut header = header_of(path);
        let is_taken = |header: &str| self.columns.iter().any(|column| column.header == header);
        // A field named "a.b" and a field b within an object a have different paths, but the same header.
        for number in 2.. {
            if !is_taken(&header) {
                break;
            }
            header = format!("{} ({number})", header_of(path));
        }
        let index = self.columns.len();
        self.by_path.insert(path.to_owned(), index);
        self.columns.push(Column {
            path: path.to_owned(),
            header,
            is_date_time,
            is_known,
            is_required: false,
            is_seen: false,
            has_values: false,
            next: index + 1,
        });
        index
    }
}

impl<'a> Row<'a> {
    /// Returns the number of fields without a separate column.
    pub(super) fn other_field_count(&self) -> usize {
        self.other_fields.len()
    }

    pub(super) fn json(&self, index: usize) -> Option<&'a str> {
        self.values.get(index).copied().flatten()
    }

    fn set(&mut self, index: usize, json: &'a str) {
        if self.values.len() <= index {
            self.values.resize(index + 1, None);
        }
        self.values[index] = Some(json);
    }
}

/// Returns the path of a field within the object at `parent`.
fn field_path<'n>(parent: &str, name: &'n str) -> Cow<'n, str> {
    let name = match name.contains(['.', '\\']) {
        true => Cow::Owned(name.replace('\\', "\\\\").replace('.', "\\.")),
        false => Cow::Borrowed(name),
    };
    if parent.is_empty() { name } else { Cow::Owned(format!("{parent}.{name}")) }
}

fn header_of(path: &str) -> String {
    path.replace("\\.", ".").replace("\\\\", "\\")
}

fn is_within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use sheetport_client::pages::Page;

    use super::*;

    const CONTRACT_FIELDS: &[ListedField] = &[ListedField::text("id"), ListedField::date_time("at")];

    fn parse(entries: &str) -> Page {
        Page::parse(entries.as_bytes().to_vec()).unwrap()
    }

    fn rows_of<'p>(columns: &mut Columns, page: &'p Page, explode: Option<&str>) -> Vec<Row<'p>> {
        let mut rows = Vec::new();
        for entry in page.entries() {
            let pushed = columns.each_row(&entry, explode, |_, row| {
                rows.push(row);
                Ok::<_, Infallible>(())
            });
            assert!(pushed.is_ok());
        }
        rows
    }

    /// Returns the header and the rows, with bars between the cells.
    fn table(entries: &str, explode: Option<&str>) -> Vec<String> {
        let page = parse(entries);
        let mut columns = Columns::new(CONTRACT_FIELDS, true);
        let rows: Vec<Row<'_>> = rows_of(&mut columns, &page, explode);
        let mut visible = columns.visible();
        visible.extend(columns.has_other_fields().then_some(columns.len()));
        let cell = |row: &Row<'_>, index: usize| match columns.value(row, index) {
            Value::Blank => String::new(),
            Value::Text(text) => text.into_owned(),
            Value::Number(digits) => format!("#{digits}"),
            Value::Digits(digits) => digits,
            Value::Boolean(boolean) => boolean.to_string(),
            Value::DateTime { at, .. } => format!("@{at}"),
        };
        let header = visible.iter().map(|index| columns.header(*index).to_owned()).collect::<Vec<_>>().join("|");
        let line = |row: &Row<'_>| visible.iter().map(|index| cell(row, *index)).collect::<Vec<_>>().join("|");
        std::iter::once(header).chain(rows.iter().map(line)).collect()
    }

    #[test]
    fn nested_fields_have_columns_and_arrays_are_joined() {
        let entries = r#"[
            {"id": "1", "address": {"city": "K\u00f6ln", "geo": {"lat": 50.940}}, "tags": ["a", 2, null, true], "at": "2026-01-02T03:04:05Z"},
            {"address": null, "id": 2, "tags": [], "lines": [{"n": 1}], "at": "2026-01-02T03:04:05+02:00", "empty": {}}
        ]"#;
        assert_eq!(
            table(entries, None),
            [
                "id|at|address.city|address.geo.lat|tags|lines|empty",
                "1|@2026-01-02T03:04:05|Köln|#50.940|[\"a\", 2, null, true]||",
                "#2|2026-01-02T03:04:05+02:00||||[{\"n\": 1}]|{}",
            ]
        );
    }

    #[test]
    fn an_object_used_by_a_template_is_written_as_json() {
        let page = parse(r#"[{"a": {"b": {"c": 1}}}, {"a": null}]"#);
        let mut columns = Columns::new(&[], true);
        ["a", "a.b", "x"].iter().for_each(|path| columns.require(path));
        let rows: Vec<Row<'_>> = rows_of(&mut columns, &page, None);
        let found: Vec<_> =
            rows.iter().map(|row| [0, 1, 2].map(|index| row.json(index).unwrap_or("-").to_owned())).collect();
        assert_eq!(found, [[r#"{"b": {"c": 1}}"#, r#"{"c": 1}"#, "-"], ["null", "-", "-"]]);
        let filled = columns.filled_paths();
        assert!(filled.contains(&"a") && filled.contains(&"a.b") && !filled.contains(&"x"), "{filled:?}");
    }

    #[test]
    fn each_exploded_element_has_a_row_and_other_fields_repeat() {
        let entries = r#"[
            {"id": "1", "items": [{"sku": "a", "tax": {"rate": 19}}, {"sku": "b", "extra": 1}, 7]},
            {"id": "2", "items": []},
            {"id": "3"}
        ]"#;
        assert_eq!(
            table(entries, Some("items")),
            [
                "id|at|items.sku|items.tax.rate|items.extra|items",
                "1||a|#19||",
                "1||b||#1|",
                "1|||||#7",
                "2|||||",
                "3|||||"
            ]
        );
        let deep = r#"[{"id": "1", "order": {"lines": [{"n": 1}, {"n": 2}]}}]"#;
        assert_eq!(table(deep, Some("order.lines")), ["id|at|order.lines.n", "1||#1", "1||#2"]);
    }

    #[test]
    fn equal_headers_are_numbered() {
        let entries = r#"[{"a.b": 1, "a": {"b": 2}, "a\u002eb": 3}]"#;
        assert_eq!(table(entries, None), ["id|at|a.b|a.b (2)", "||#3|#2"]);
        assert_eq!(table(r#"[7, "x", {"id": "1"}]"#, None), ["id|at|value", "||#7", "||x", "1||"]);
        assert_eq!(
            table(r#"[{"id": "1", "gone": null}]"#, None),
            ["id|at|gone", "1||"],
            "no other entry has an object there"
        );
    }

    #[test]
    fn fields_beyond_the_last_column_are_collected_as_json() {
        let fields = (0..MAX_COLUMNS + 5).map(|n| format!(r#""f{n}":{n}"#)).collect::<Vec<_>>().join(",");
        let table = table(&format!(r#"[{{"id":"1",{fields}}}, {{"f{MAX_COLUMNS}": null}}]"#), None);
        let header: Vec<&str> = table[0].split('|').collect();
        assert_eq!((header.len(), header[MAX_COLUMNS]), (MAX_COLUMNS + 1, OTHER_FIELDS));
        let (first, last) = (MAX_COLUMNS - CONTRACT_FIELDS.len(), MAX_COLUMNS + 4);
        let others = (first..=last).map(|n| format!(r#""f{n}":{n}"#)).collect::<Vec<_>>().join(",");
        assert_eq!(table[1].rsplit('|').next(), Some(format!("{{{others}}}").as_str()));
        assert_eq!(table[2].rsplit('|').next(), Some(""));
    }

    #[test]
    fn fields_with_very_long_names_have_no_column() {
        let (long, longest) = ("n".repeat(MAX_PATH), "n".repeat(MAX_PATH + 1));
        let table = table(&format!(r#"[{{"id":"1","{long}":2,"{longest}":3}}]"#), None);
        assert_eq!(table[0], format!("id|at|{long}|{OTHER_FIELDS}"));
        assert_eq!(table[1], format!(r#"1||#2|{{"{longest}":3}}"#));
    }

    #[test]
    fn deeply_nested_objects_stay_json() {
        let deep = (0..20).fold("1".to_owned(), |inner, _| format!(r#"{{"a":{inner}}}"#));
        let table = table(&format!("[{deep}]"), None);
        assert_eq!(table[0].matches('.').count(), MAX_DEPTH);
        assert_eq!(table[1].matches('{').count(), 20 - 1 - MAX_DEPTH);
    }
}

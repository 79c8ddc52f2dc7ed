//! From entries to columns: the contract's fields in its order, then fields met that it does not name. What is nested has
//! a column for each of its own fields, named with dots.

use std::borrow::Cow;
use std::collections::HashMap;

use jiff::civil;

use crate::client::pages::Entry;
use crate::client::pages::read::{elements_of, fields_of, unquoted};
use crate::records::ListedField;
use crate::sheet::write::Value;

/// More columns than these nobody reads. Fields beyond them are kept together in one column, as JSON.
pub const MAX_COLUMNS: usize = 2_000;
/// The column of fields beyond [`MAX_COLUMNS`].
pub const OTHERS: &str = "other_fields";
/// The column of an entry that is no object.
const WHOLE: &str = "value";
/// Objects within objects have columns to this depth; deeper ones are JSON.
const MAX_DEPTH: usize = 8;

/// All columns met so far. A column keeps its place.
#[derive(Clone, Debug)]
pub struct Columns {
    columns: Vec<Column>,
    places: HashMap<String, usize>,
    /// What stood at each place of the last entries and the column that it has: entries are mostly alike.
    habit: Vec<(String, usize)>,
    has_others: bool,
    /// Whether moments become dates. Where they stay text, they need not be read.
    has_dates: bool,
    /// Counts what was learnt of columns.
    stand: u64,
}

#[derive(Clone, Debug)]
struct Column {
    /// The names on the way, with dots between them and a backslash before dots of their own.
    path: String,
    /// What the header says.
    name: String,
    is_date_time: bool,
    is_named: bool,
    /// A template asks for it, also where it is an object, whose JSON it then has.
    is_wanted: bool,
    has_values: bool,
}

/// The JSON of one row's values, by column.
#[derive(Clone, Debug, Default)]
pub struct Row<'a> {
    values: Vec<Option<&'a str>>,
    others: Vec<(String, &'a str)>,
}

impl Columns {
    pub fn new(fields: &[ListedField], has_dates: bool) -> Columns {
        let mut columns = Columns {
            columns: Vec::new(),
            places: HashMap::new(),
            habit: Vec::new(),
            has_others: false,
            has_dates,
            stand: 0,
        };
        for field in fields {
            columns.add(field.name, field.is_date_time, true);
        }
        columns
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// As long as it stays the same, nothing new is known of columns.
    pub fn stand(&self) -> u64 {
        self.stand
    }

    /// Whether there are values in the column [`OTHERS`].
    pub fn has_others(&self) -> bool {
        self.has_others
    }

    pub fn known(&self, path: &str) -> Option<usize> {
        self.places.get(path).copied()
    }

    /// The column at a dotted path, which is there from now on. Nothing where there are too many columns.
    pub fn place(&mut self, path: &str) -> Option<usize> {
        match self.places.get(path) {
            Some(place) => Some(*place),
            None if self.columns.len() >= MAX_COLUMNS => None,
            None => {
                let name = path.rsplit_once('.').map_or(path, |(_, name)| name);
                let is_date_time = name == "date" || name.ends_with("_at") || name.ends_with("_date");
                Some(self.add(path, is_date_time, false))
            }
        }
    }

    /// Makes sure that there is a column for what a template asks for.
    pub fn want(&mut self, path: &str) {
        if let Some(place) = self.place(path) {
            self.columns[place].is_wanted = true;
            self.stand += 1;
        }
    }

    /// Whether any entry had a value there.
    pub fn has_values(&self, place: usize) -> bool {
        self.columns.get(place).is_some_and(|column| column.has_values)
    }

    /// The columns to be written, in their order. One that only ever held nulls where other entries have an object is
    /// none.
    pub fn shown(&self) -> Vec<usize> {
        let is_shown = |column: &Column| {
            column.is_named
                || column.has_values
                || !self.columns.iter().any(|other| is_within(&other.path, &column.path))
        };
        (0..self.columns.len()).filter(|place| is_shown(&self.columns[*place])).collect()
    }

    pub fn name(&self, place: usize) -> &str {
        self.columns.get(place).map_or(OTHERS, |column| &column.name)
    }

    /// Takes an entry apart, and gives its one row to `each`; of one whose field `explode` is an array, a row for each of
    /// its elements.
    pub fn rows<'a, E>(
        &mut self,
        entry: Entry<'a>,
        explode: Option<&str>,
        row: &mut Row<'a>,
        mut each: impl FnMut(&Columns, &Row<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        row.clear();
        let mut exploded = None;
        if !entry.is_object() {
            self.put(WHOLE, entry.text(), row);
        }
        for (position, (name, value)) in entry.fields().enumerate() {
            match value.as_bytes().first() {
                Some(b'{') => self.nested(&path("", name), value, 1, explode, row, &mut exploded),
                Some(b'[') if explode.is_some_and(|explode| explode == path("", name)) => {
                    exploded = elements_of(value).filter(|elements| !elements.is_empty());
                }
                _ => match self.habit.get(position) {
                    Some((known, place)) if known == name => {
                        let place = *place;
                        self.meet(place, value);
                        row.set(place, value);
                    }
                    _ => self.unusual(position, name, value, row),
                },
            }
        }
        let (Some(elements), Some(explode)) = (exploded, explode) else { return each(self, row) };
        for element in elements {
            let mut one = row.clone();
            match element.starts_with('{') {
                true => self.nested(explode, element, 1, None, &mut one, &mut None),
                false => self.put(explode, element, &mut one),
            }
            each(self, &one)?;
        }
        Ok(())
    }

    /// The column of a field of entries, whose name is JSON; `position` is where it stands among them.
    pub fn of_field(&self, position: usize, name: &str) -> Option<usize> {
        match self.habit.get(position) {
            Some((known, place)) if known == name => Some(*place),
            _ => self.known(&path("", name)),
        }
    }

    /// The value in a column that an entry's field has, of which this is the JSON.
    pub fn value_of<'a>(&self, json: &'a str, place: usize) -> Value<'a> {
        let is_date = self.columns.get(place).is_some_and(|column| column.is_date_time && self.has_dates);
        value(Some(json), is_date)
    }

    /// The one row of an entry of which nothing is new. False where something is, which [`Columns::rows`] has to learn.
    pub fn known_row<'a>(&self, entry: Entry<'a>, row: &mut Row<'a>) -> bool {
        row.clear();
        if !entry.is_object() {
            return self.set_known(WHOLE, entry.text(), row);
        }
        entry.fields().enumerate().all(|(position, (name, value))| match value.as_bytes().first() {
            Some(b'{') => self.known_within(&path("", name), value, 1, row),
            _ => match self.habit.get(position) {
                Some((known, place)) if known == name => self.set_known_at(*place, value, row),
                _ => self.set_known(&path("", name), value, row),
            },
        })
    }

    fn known_within<'a>(&self, at: &str, json: &'a str, depth: usize, row: &mut Row<'a>) -> bool {
        if let Some(place) = self.places.get(at).filter(|place| self.columns[**place].is_wanted)
            && !self.set_known_at(*place, json, row)
        {
            return false;
        }
        let fields = if depth > MAX_DEPTH { None } else { fields_of(json) };
        let Some(fields) = fields else { return self.set_known(at, json, row) };
        fields.into_iter().all(|(name, value)| {
            let path = path(at, name);
            match value.starts_with('{') {
                true => self.known_within(&path, value, depth + 1, row),
                false => self.set_known(&path, value, row),
            }
        })
    }

    fn set_known<'a>(&self, path: &str, value: &'a str, row: &mut Row<'a>) -> bool {
        self.places.get(path).is_some_and(|place| self.set_known_at(*place, value, row))
    }

    /// A first value in a column is new, too.
    fn set_known_at<'a>(&self, place: usize, value: &'a str, row: &mut Row<'a>) -> bool {
        row.set(place, value);
        self.columns.get(place).is_some_and(|column| column.has_values) || value == "null"
    }

    /// The value in a column, to be written. [`Columns::len`] is the place of what has no column of its own.
    pub fn value<'a>(&self, row: &Row<'a>, place: usize) -> Value<'a> {
        match self.columns.get(place) {
            Some(column) => value(row.json(place), column.is_date_time && self.has_dates),
            None if row.others.is_empty() => Value::Blank,
            None => {
                let fields =
                    row.others.iter().map(|(name, json)| format!("{}:{json}", serde_json::Value::from(&**name)));
                Value::Text(Cow::Owned(format!("{{{}}}", fields.collect::<Vec<_>>().join(","))))
            }
        }
    }

    fn unusual<'a>(&mut self, position: usize, name: &str, value: &'a str, row: &mut Row<'a>) {
        let path = path("", name);
        self.put(&path, value, row);
        if let Some(place) = self.places.get(&path) {
            // Where entries differ much, what is remembered here is of no use, and costs little.
            self.habit.resize(self.habit.len().max(position + 1), (String::new(), 0));
            self.habit[position] = (name.to_owned(), *place);
        }
    }

    fn nested<'a>(
        &mut self,
        at: &str,
        json: &'a str,
        depth: usize,
        explode: Option<&str>,
        row: &mut Row<'a>,
        exploded: &mut Option<Vec<&'a str>>,
    ) {
        if let Some(place) = self.places.get(at).copied().filter(|place| self.columns[*place].is_wanted) {
            self.meet(place, json);
            row.set(place, json);
        }
        let fields = if depth > MAX_DEPTH { None } else { fields_of(json) };
        let Some(fields) = fields else { return self.put(at, json, row) };
        for (name, value) in fields {
            let path = path(at, name);
            match value.as_bytes().first() {
                Some(b'{') => self.nested(&path, value, depth + 1, explode, row, exploded),
                Some(b'[') if explode == Some(&*path) => {
                    *exploded = elements_of(value).filter(|elements| !elements.is_empty());
                }
                _ => self.put(&path, value, row),
            }
        }
    }

    fn put<'a>(&mut self, path: &str, value: &'a str, row: &mut Row<'a>) {
        match self.place(path) {
            Some(place) => {
                self.meet(place, value);
                row.set(place, value);
            }
            None if value == "null" => {}
            None => {
                self.has_others = true;
                row.others.push((shown(path), value));
            }
        }
    }

    fn meet(&mut self, place: usize, value: &str) {
        if value != "null" && !self.columns[place].has_values {
            self.columns[place].has_values = true;
            self.stand += 1;
        }
    }

    fn add(&mut self, path: &str, is_date_time: bool, is_named: bool) -> usize {
        self.stand += 1;
        let mut name = shown(path);
        let taken = |name: &str| self.columns.iter().any(|column| column.name == name);
        // A field named "a.b" and a field b within a are two.
        for number in 2.. {
            if !taken(&name) {
                break;
            }
            name = format!("{} ({number})", shown(path));
        }
        let place = self.columns.len();
        self.places.insert(path.to_owned(), place);
        self.columns.push(Column {
            path: path.to_owned(),
            name,
            is_date_time,
            is_named,
            is_wanted: false,
            has_values: false,
        });
        place
    }
}

impl<'a> Row<'a> {
    /// Values that have no column of their own.
    pub fn other_count(&self) -> usize {
        self.others.len()
    }

    pub fn json(&self, place: usize) -> Option<&'a str> {
        self.values.get(place).copied().flatten()
    }

    fn clear(&mut self) {
        self.values.clear();
        self.others.clear();
    }

    fn set(&mut self, place: usize, value: &'a str) {
        if self.values.len() <= place {
            self.values.resize(place + 1, None);
        }
        self.values[place] = Some(value);
    }
}

/// A field's JSON as a value. Arrays of plain values are joined; what holds objects stays JSON.
pub fn value(json: Option<&str>, is_date_time: bool) -> Value<'_> {
    let Some(json) = json else { return Value::Blank };
    match json.as_bytes().first() {
        None | Some(b'n') => Value::Blank,
        Some(b't') => Value::Boolean(true),
        Some(b'f') => Value::Boolean(false),
        Some(b'"') => match unquoted(json) {
            Cow::Borrowed(text) if is_date_time => {
                utc(text).map_or(Value::Text(Cow::Borrowed(text)), |at| Value::DateTime { at, text })
            }
            text => Value::Text(text),
        },
        Some(b'[') => joined(json).map_or(Value::Text(Cow::Borrowed(json)), |text| match text.is_empty() {
            true => Value::Blank,
            false => Value::Text(Cow::Owned(text)),
        }),
        Some(b'{') => Value::Text(Cow::Borrowed(json)),
        Some(_) => Value::Number(json),
    }
}

/// What the clock in UTC shows at a moment that is written in UTC. One with an offset stays as it was sent.
pub fn utc(text: &str) -> Option<civil::DateTime> {
    let clock = text.strip_suffix('Z').or_else(|| text.strip_suffix("+00:00"))?;
    clock.parse().ok()
}

fn joined(json: &str) -> Option<String> {
    let elements = elements_of(json)?;
    let is_plain = |element: &&str| !element.starts_with(['{', '[']);
    if !elements.iter().all(is_plain) {
        return None;
    }
    let text = |element: &&str| if *element == "null" { String::new() } else { unquoted(element).into_owned() };
    Some(elements.iter().map(text).collect::<Vec<_>>().join(", "))
}

/// The path of a field whose name is JSON, within what is at `at`.
fn path(at: &str, name: &str) -> String {
    let name = unquoted(name);
    let name = match name.contains(['.', '\\']) {
        true => Cow::Owned(name.replace('\\', "\\\\").replace('.', "\\.")),
        false => name,
    };
    if at.is_empty() { name.into_owned() } else { format!("{at}.{name}") }
}

fn shown(path: &str) -> String {
    path.replace("\\.", ".").replace("\\\\", "\\")
}

fn is_within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::client::pages::read;

    const NAMED: &[ListedField] = &[ListedField::plain("id"), ListedField::date_time("at")];

    /// The header, then the rows with a bar between the cells.
    fn table(entries: &str, explode: Option<&str>) -> Vec<String> {
        let page = read(entries.as_bytes().to_vec()).unwrap();
        let mut columns = Columns::new(NAMED, true);
        let mut row = Row::default();
        for entry in page.entries() {
            columns.rows(entry, explode, &mut row, |_, _| Ok::<_, ()>(())).unwrap();
        }
        let mut shown = columns.shown();
        shown.extend(columns.has_others().then_some(columns.len()));
        let mut lines = vec![shown.iter().map(|place| columns.name(*place)).collect::<Vec<_>>().join("|")];
        for entry in page.entries() {
            let each = |columns: &Columns, row: &Row<'_>| {
                let cells = shown.iter().map(|place| match columns.value(row, *place) {
                    Value::Blank => String::new(),
                    Value::Text(text) => text.into_owned(),
                    Value::Number(digits) => format!("#{digits}"),
                    Value::Digits(digits) => digits,
                    Value::Boolean(boolean) => boolean.to_string(),
                    Value::DateTime { at, .. } => format!("@{at}"),
                });
                lines.push(cells.collect::<Vec<_>>().join("|"));
                Ok::<_, ()>(())
            };
            columns.rows(entry, explode, &mut row, each).unwrap();
        }
        lines
    }

    #[test]
    fn objects_within_have_columns_and_arrays_are_joined() {
        let entries = r#"[
            {"id": "1", "address": {"city": "K\u00f6ln", "geo": {"lat": 50.940}}, "tags": ["a", 2, null, true], "at": "2026-01-02T03:04:05Z"},
            {"address": null, "id": 2, "tags": [], "lines": [{"n": 1}], "at": "2026-01-02T03:04:05+02:00", "empty": {}}
        ]"#;
        assert_eq!(
            table(entries, None),
            [
                "id|at|address.city|address.geo.lat|tags|lines|empty",
                "1|@2026-01-02T03:04:05|Köln|#50.940|a, 2, , true||",
                "#2|2026-01-02T03:04:05+02:00||||[{\"n\": 1}]|{}",
            ]
        );
    }

    #[test]
    fn an_object_that_a_template_asks_for_is_json_there() {
        let page = read(br#"[{"a": {"b": {"c": 1}}}, {"a": null}]"#.to_vec()).unwrap();
        let mut columns = Columns::new(&[], true);
        ["a", "a.b", "x"].iter().for_each(|path| columns.want(path));
        let mut found = Vec::new();
        for entry in page.entries() {
            let each = |_: &Columns, row: &Row<'_>| {
                found.push([row.json(0), row.json(1), row.json(2)].map(|json| json.unwrap_or("-").to_owned()));
                Ok::<_, ()>(())
            };
            columns.rows(entry, None, &mut Row::default(), each).unwrap();
        }
        assert_eq!(found, [[r#"{"b": {"c": 1}}"#, r#"{"c": 1}"#, "-"], ["null", "-", "-"]]);
        assert_eq!([0, 1, 2].map(|place| columns.has_values(place)), [true, true, false]);
    }

    #[test]
    fn each_element_of_an_array_gets_a_row_with_all_else_repeated() {
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
    fn names_that_look_alike_are_told_apart() {
        let entries = r#"[{"a.b": 1, "a": {"b": 2}, "a\u002eb": 3}]"#;
        assert_eq!(table(entries, None), ["id|at|a.b|a.b (2)", "||#3|#2"]);
        assert_eq!(table(r#"[7, "x", {"id": "1"}]"#, None), ["id|at|value", "||#7", "||x", "1||"]);
        assert_eq!(
            table(r#"[{"id": "1", "gone": null}]"#, None),
            ["id|at|gone", "1||"],
            "nobody else has an object there"
        );
    }

    #[test]
    fn columns_have_an_end_and_values_beyond_it_are_kept_together() {
        let fields = (0..MAX_COLUMNS + 5).map(|n| format!(r#""f{n}":{n}"#)).collect::<Vec<_>>().join(",");
        let table = table(&format!(r#"[{{"id":"1",{fields}}}, {{"f{MAX_COLUMNS}": null}}]"#), None);
        let header: Vec<&str> = table[0].split('|').collect();
        assert_eq!((header.len(), header[MAX_COLUMNS]), (MAX_COLUMNS + 1, OTHERS));
        let (first, last) = (MAX_COLUMNS - NAMED.len(), MAX_COLUMNS + 4);
        let others = (first..=last).map(|n| format!(r#""f{n}":{n}"#)).collect::<Vec<_>>().join(",");
        assert_eq!(table[1].rsplit('|').next(), Some(format!("{{{others}}}").as_str()));
        assert_eq!(table[2].rsplit('|').next(), Some(""));
    }

    #[test]
    fn objects_deeper_than_anybody_reads_are_json() {
        let deep = (0..20).fold("1".to_owned(), |inner, _| format!(r#"{{"a":{inner}}}"#));
        let table = table(&format!("[{deep}]"), None);
        assert_eq!(table[0].matches('.').count(), MAX_DEPTH);
        assert_eq!(table[1].matches('{').count(), 20 - 1 - MAX_DEPTH);
    }
}

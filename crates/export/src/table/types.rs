//! The types of the columns of a table: those of earlier exports, of the contract, or the narrowest that hold all values.

use jiff::civil;
use sheetport_client::pages::Entry;
use sheetport_datasets::{self as datasets, Kind, Misfits, Observed, Store};
use sheetport_records::{JsonType, ListedField};
use sheetport_sheet::write::Value;

use super::cell_source::CellSource;
use super::columns::{Columns, Row};
use super::remembered::{RememberedColumns, SavedColumn};
use crate::template::model::Format;

/// The values of all columns, to determine their types.
pub(super) struct ColumnTypes {
    store: Store,
    fields: &'static [ListedField],
    remembered: RememberedColumns,
    /// Whether types of earlier exports and of the contract may change.
    is_free: bool,
    /// The columns of [`Columns`], by index.
    by_index: Vec<Watched>,
    /// The columns of the template.
    of_template: Vec<(CellSource, Watched)>,
}

/// The values of a column.
struct Watched {
    observed: Observed,
    is_settled: bool,
}

/// The type of a column, or what the earlier type does not hold.
pub(super) type Judged = Result<Option<Kind>, Misfits>;

impl Watched {
    fn new(declared: Option<Kind>, store: Store) -> Watched {
        let observed = Observed::new(declared, store);
        let is_settled = observed.is_settled();
        Watched { observed, is_settled }
    }

    fn add(&mut self, value: &Value<'_>, entry: &Entry<'_>) {
        if *value == Value::Blank || self.is_settled {
            return;
        }
        self.observed.add(&of_cell(value), || entry.id().map_or_else(String::new, std::borrow::Cow::into_owned));
        self.is_settled = self.observed.is_settled();
    }
}

impl ColumnTypes {
    pub(super) fn new(
        store: Store,
        fields: &'static [ListedField],
        remembered: RememberedColumns,
        is_free: bool,
    ) -> ColumnTypes {
        ColumnTypes { store, fields, remembered, is_free, by_index: Vec::new(), of_template: Vec::new() }
    }

    /// Adds the columns of a template. Call this before the first row.
    pub(super) fn watch(&mut self, columns: Vec<(SavedColumn, CellSource)>) {
        for (name, source) in columns {
            let declared = self.remembered(&name).or(match &source {
                // Without types in the file, only a change is worth a word.
                _ if self.store == Store::Untyped => None,
                CellSource::Formatted(field, _) => self.of_format(&field.format, Some(&field.path)),
                // The narrowest type of what was computed.
                CellSource::Computed(_, format, _) => self.of_format(format, None),
                _ => Some(Kind::Text),
            });
            self.of_template.push((source, Watched::new(declared, self.store)));
        }
    }

    /// Adds the values of a row.
    pub(super) fn add(&mut self, columns: &Columns, row: &Row<'_>, entry: &Entry<'_>, today: Option<civil::Date>) {
        while self.by_index.len() < columns.len() {
            let declared = columns
                .path(self.by_index.len())
                .and_then(|path| self.declared(path, columns.header(self.by_index.len())));
            self.by_index.push(Watched::new(declared, self.store));
        }
        for (index, watched) in self.by_index.iter_mut().enumerate() {
            if !watched.is_settled && row.json(index).is_some() {
                watched.add(&columns.value(row, index), entry);
            }
        }
        for (source, watched) in &mut self.of_template {
            // A value that can't be computed is an error of its row.
            if !watched.is_settled
                && let Ok(value) = source.value(columns, row, today)
            {
                watched.add(&value, entry);
            }
        }
    }

    /// Returns the type of a column with this source.
    pub(super) fn of(&self, columns: &Columns, source: &CellSource) -> Judged {
        if let Some((_, watched)) = self.of_template.iter().find(|(other, _)| other == source) {
            return watched.observed.kind();
        }
        match source {
            CellSource::Field(index) | CellSource::Formatted(_, Some(index)) => match self.by_index.get(*index) {
                Some(watched) => watched.observed.kind(),
                None => Ok(columns.path(*index).and_then(|path| self.declared(path, columns.header(*index)))),
            },
            CellSource::Formatted(_, None) | CellSource::Computed(..) => Ok(None),
            CellSource::Constant(_) | CellSource::OtherFields => Ok(Some(Kind::Text)),
        }
    }

    /// Returns when the type of a column was another, or `None` if only the contract says so.
    pub(super) fn until(&self, name: &SavedColumn) -> Option<&str> {
        self.remembered.find(name).and_then(|column| column.kind).map(|_| self.remembered.until.as_str())
    }

    fn remembered(&self, name: &SavedColumn) -> Option<Kind> {
        self.remembered.find(name).and_then(|column| column.kind).filter(|_| !self.is_free)
    }

    /// Returns the type that a field should have.
    fn declared(&self, path: &str, header: &str) -> Option<Kind> {
        let name = SavedColumn { header: header.to_owned(), field: Some(path.to_owned()), source: None };
        if let Some(kind) = self.remembered(&name) {
            return Some(kind);
        }
        if self.store == Store::Untyped {
            return None;
        }
        self.of_contract(path)
    }

    /// Returns the type of a field in the contract. Identifiers are texts, whatever they look like.
    fn of_contract(&self, path: &str) -> Option<Kind> {
        let listed = self.fields.iter().find(|field| field.name == path);
        let kind = listed.map(|field| match field.json {
            JsonType::Number => Kind::NUMBER,
            JsonType::Integer => Kind::Integer,
            JsonType::Boolean => Kind::Boolean,
            JsonType::DateTime => Kind::DateTime,
            JsonType::String | JsonType::Strings | JsonType::Object(_) | JsonType::Objects(_) => Kind::Text,
        });
        let name = path.rsplit('.').next().unwrap_or(path);
        let is_id = name == "id" || ["_id", "Id", "ID"].iter().any(|end| name.ends_with(end));
        // If the contract's types may change, a text still holds everything.
        match kind {
            Some(Kind::Text) => kind,
            _ if self.is_free && !is_id => None,
            Some(_) => kind,
            None => is_id.then_some(Kind::Text),
        }
    }

    /// Returns the type of a formatted value, of the field at this path if any.
    fn of_format(&self, format: &Format, path: Option<&str>) -> Option<Kind> {
        match format {
            Format { date: Some(_), .. } => Some(Kind::Text),
            Format { map, .. } if !map.is_empty() => Some(Kind::Text),
            Format { default: Some(_), .. } => None,
            Format { decimals: Some(decimals), .. } => u8::try_from(*decimals)
                .ok()
                .map(|scale| Kind::Decimal { scale, digits: scale.saturating_add(10).clamp(18, 38) }),
            _ => path.and_then(|path| self.of_contract(path)),
        }
    }
}

/// Returns a value of a table without what only workbooks need.
pub(super) fn of_cell<'v>(value: &'v Value<'_>) -> datasets::Value<'v> {
    match value {
        Value::Blank => datasets::Value::Null,
        Value::Text(text) => datasets::Value::Text(text),
        Value::Number(digits) => datasets::Value::Number(digits),
        Value::Digits(digits) => datasets::Value::Number(digits),
        Value::Boolean(boolean) => datasets::Value::Boolean(*boolean),
        Value::DateTime { text, .. } => datasets::Value::Text(text),
    }
}

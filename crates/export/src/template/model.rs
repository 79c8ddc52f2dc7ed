//! The content of an export template, and functions to apply a template to values. Pure.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil;
use jiff::tz::TimeZone;
use sheetport_client::pages::{Entry, object_fields};
use sheetport_mapping::language::{self, Context, Expression};
use sheetport_sheet::write::{Style, Value};
use sheetport_values::currency::CurrencyMark;
use sheetport_values::decimal::{self, Decimal};

use crate::error::Error;
use crate::value::{shown, text};

/// A checked export template.
#[derive(Clone, Debug)]
pub struct Template {
    /// The kind of record the template is for; `None` for any.
    pub record: Option<String>,
    /// The first columns of the table. If empty, the table has all columns.
    pub columns: Vec<Column>,
    /// Appends all other fields.
    pub others: bool,
    /// Conditions for a record to be exported; all must hold.
    pub conditions: Vec<Formula>,
    pub sort: Vec<SortBy>,
    /// Headers by field, in a table with all columns.
    pub renames: BTreeMap<String, String>,
    /// Fields that a record must have, by their paths: a name on a command line may be misspelt.
    pub demanded: Vec<String>,
    /// The date of `today()`, if known.
    pub today: Option<civil::Date>,
    /// Path of an array to expand into one row per element.
    pub explode: Option<String>,
    /// Style of text files. Command-line flags take precedence.
    pub style: Style,
}

#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub source: ColumnSource,
}

#[derive(Clone, Debug)]
pub enum ColumnSource {
    Constant(String),
    Field(Field),
    Computed(Formula, Format),
}

/// A field and its format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// Field names joined by dots.
    pub path: String,
    pub format: Format,
}

/// The format of a value. Without one, values are written as received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// Number of decimals; halves are rounded away from zero.
    pub decimals: Option<u32>,
    /// Format of a time, as in strftime.
    pub date: Option<String>,
    /// Time zone of formatted times; UTC by default.
    pub zone: Option<TimeZone>,
    /// Replacements of values. Other values are unchanged.
    pub map: BTreeMap<String, String>,
    /// Replacement of a blank.
    pub default: Option<String>,
}

/// An expression of the mapping language. Its columns are the paths of fields.
#[derive(Clone, Debug)]
pub struct Formula {
    /// The expression as written.
    pub source: String,
    pub expression: Arc<Expression>,
}

/// The JSON of the fields of a record or row, for an expression.
struct Fields<'f> {
    json: &'f dyn Fn(usize) -> Option<&'f str>,
    today: Option<civil::Date>,
    zone: TimeZone,
}

#[derive(Clone, Debug)]
pub struct SortBy {
    pub key: SortKey,
    pub descending: bool,
}

#[derive(Clone, Debug)]
pub enum SortKey {
    /// A field, by its path.
    Field(String),
    /// A computed column, by its name.
    Computed(String, Formula),
}

impl Template {
    /// Returns a template without any columns of its own, which exports everything.
    pub(crate) fn of_everything() -> Template {
        Template {
            record: None,
            columns: Vec::new(),
            others: true,
            conditions: Vec::new(),
            sort: Vec::new(),
            renames: BTreeMap::new(),
            demanded: Vec::new(),
            today: None,
            explode: None,
            style: Style::default(),
        }
    }

    /// Returns the fields used by columns.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.columns.iter().filter_map(|column| match &column.source {
            ColumnSource::Field(field) => Some(field),
            ColumnSource::Constant(_) | ColumnSource::Computed(..) => None,
        })
    }

    /// Returns the formulas of columns.
    pub fn computed(&self) -> impl Iterator<Item = &Formula> {
        self.columns.iter().filter_map(|column| match &column.source {
            ColumnSource::Computed(formula, _) => Some(formula),
            ColumnSource::Constant(_) | ColumnSource::Field(_) => None,
        })
    }

    /// Returns the fields that decide which records are in the table, and in which order.
    pub(crate) fn deciding_fields(&self) -> impl Iterator<Item = &str> {
        let conditions = self.conditions.iter().flat_map(Formula::paths);
        let sort = self.sort.iter().flat_map(|by| match &by.key {
            SortKey::Field(path) => std::slice::from_ref(path),
            SortKey::Computed(_, formula) => formula.paths(),
        });
        conditions.chain(sort).map(String::as_str)
    }

    /// Returns a field in a condition or the order that is different in each row of an exploded array, and so not of the record.
    pub fn decides_by_row(&self, explode: &str) -> Option<&str> {
        self.deciding_fields().find(|path| path.strip_prefix(explode).is_some_and(|rest| rest.starts_with('.')))
    }

    /// Whether a column has the values of a field as they are.
    pub fn has_column_of(&self, path: &str) -> bool {
        let plain = Field { path: path.to_owned(), format: Format::default() };
        self.columns.is_empty()
            || self.fields().any(|field| *field == plain)
            || self.others && self.fields().all(|field| field.path != path)
    }

    /// Returns whether a record meets all conditions. A blank meets no condition that calculates with it or orders it.
    ///
    /// # Errors
    /// If a condition can't be decided, such as a comparison of a text with a number.
    pub fn selects(&self, entry: &Entry<'_>) -> Result<bool, Error> {
        for condition in &self.conditions {
            if !condition.holds(entry, self.today)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl ColumnSource {
    /// Returns a text that is another one for any other source of a column.
    pub(crate) fn mark(&self) -> String {
        match self {
            ColumnSource::Constant(text) => format!("'{text}'"),
            ColumnSource::Field(Field { path, format }) => format!("{path}{}", format.mark()),
            ColumnSource::Computed(formula, format) => format!("={}{}", formula.source, format.mark()),
        }
    }
}

impl PartialEq for Formula {
    fn eq(&self, other: &Formula) -> bool {
        self.source == other.source
    }
}

impl Eq for Formula {}

impl Formula {
    /// Returns the formula of a parsed expression.
    ///
    /// # Errors
    /// Returns a message and a hint if it needs more than the fields of a record.
    pub(crate) fn new(source: &str, expression: Expression) -> Result<Formula, (&'static str, &'static str)> {
        match expression.parameters().is_empty() && expression.cells().is_empty() {
            true => Ok(Formula { source: source.to_owned(), expression: Arc::new(expression) }),
            false => Err(("an export has neither parameters nor cells", "name the fields of the record")),
        }
    }

    /// Returns the paths of the fields in the expression.
    pub fn paths(&self) -> &[String] {
        self.expression.columns()
    }

    /// Returns whether a record meets this condition.
    ///
    /// # Errors
    /// If the condition can't be decided.
    pub(crate) fn holds(&self, entry: &Entry<'_>, today: Option<civil::Date>) -> Result<bool, Error> {
        let json = |index: usize| self.paths().get(index).and_then(|path| json_at(entry, path));
        match self.expression.holds(&Fields { json: &json, today, zone: TimeZone::UTC }) {
            Ok(holds) => Ok(holds),
            Err(error) if error.is_about_blank() => Ok(false),
            Err(error) => {
                let id = text(entry.field("id")).into_owned();
                Err(Error::Undecided { condition: self.source.clone(), id, reason: error.message })
            }
        }
    }

    /// Computes the value. `json` returns the JSON of a field by its index in [`Formula::paths`]. A calculation with a blank is
    /// blank.
    ///
    /// # Errors
    /// Returns a message if the value can't be computed, such as a sum with a text.
    pub(crate) fn compute<'f>(
        &self,
        json: &'f dyn Fn(usize) -> Option<&'f str>,
        today: Option<civil::Date>,
    ) -> Result<Value<'static>, String> {
        let fields = Fields { json, today, zone: TimeZone::UTC };
        let computed = match self.expression.eval(&fields) {
            Ok(value) => value,
            Err(error) if error.is_about_blank() => return Ok(Value::Blank),
            Err(error) => return Err(error.message),
        };
        Ok(match &computed {
            language::Value::Blank => Value::Blank,
            language::Value::Number(_) => Value::Digits(computed.text().into_owned()),
            language::Value::Boolean(boolean) => Value::Boolean(*boolean),
            value => Value::Text(Cow::Owned(value.text().into_owned())),
        })
    }
}

/// Returns the error of a column that can't be computed for a record.
pub(crate) fn not_computed(column: &str, entry: &Entry<'_>, reason: String) -> Error {
    Error::NotComputed { column: column.to_owned(), id: text(entry.field("id")).into_owned(), reason }
}

impl SortKey {
    /// Returns the path of the field, or the name of the column.
    pub fn name(&self) -> &str {
        match self {
            SortKey::Field(name) | SortKey::Computed(name, _) => name,
        }
    }

    /// Returns the key for this name: a computed column, or a field.
    pub(crate) fn of(name: String, columns: &[Column]) -> SortKey {
        let computed = columns.iter().find_map(|column| match &column.source {
            ColumnSource::Computed(formula, _) if column.name == name => Some(formula.clone()),
            _ => None,
        });
        match computed {
            Some(formula) => SortKey::Computed(name, formula),
            None => SortKey::Field(name),
        }
    }
}

impl SortBy {
    /// Returns the value to sort a record by, as text.
    ///
    /// # Errors
    /// If it can't be computed.
    pub(crate) fn value(&self, entry: &Entry<'_>, today: Option<civil::Date>) -> Result<String, Error> {
        match &self.key {
            SortKey::Field(path) => Ok(text(json_at(entry, path)).into_owned()),
            SortKey::Computed(column, formula) => {
                let json = |index: usize| formula.paths().get(index).and_then(|path| json_at(entry, path));
                match formula.compute(&json, today) {
                    Ok(value) => Ok(shown(&value).to_owned()),
                    Err(reason) => Err(not_computed(column, entry, reason)),
                }
            }
        }
    }
}

impl Format {
    fn mark(&self) -> String {
        if *self == Format::default() {
            return String::new();
        }
        let Format { decimals, date, zone, map, default } = self;
        let zone = zone.as_ref().and_then(TimeZone::iana_name);
        format!(" {:?}", (decimals, date, zone, map, default))
    }

    /// Formats a value.
    pub fn apply<'a>(&self, value: Value<'a>) -> Value<'a> {
        let text = shown(&value);
        if text.is_empty() {
            return match &self.default {
                Some(default) => Value::Text(Cow::Owned(default.clone())),
                None => value,
            };
        }
        if let Some(mapped) = self.map.get(text) {
            return Value::Text(Cow::Owned(mapped.clone()));
        }
        if let Some(decimals) = self.decimals
            && let Ok(number) = decimal::parse(text)
        {
            return Value::Digits(decimal::to_fixed(number, decimals));
        }
        if let Some(format) = &self.date
            && let Ok(time) = text.parse::<jiff::Timestamp>()
        {
            let zoned = time.to_zoned(self.zone.clone().unwrap_or(TimeZone::UTC));
            if let Ok(formatted) = jiff::fmt::strtime::format(format, &zoned) {
                return Value::Text(Cow::Owned(formatted));
            }
        }
        value
    }
}

impl Context for Fields<'_> {
    fn value(&self, column: usize) -> Result<language::Value<'_>, String> {
        let json = (self.json)(column);
        Ok(match json.and_then(|json| json.bytes().next()) {
            None | Some(b'n') => language::Value::Blank,
            Some(b't') => language::Value::Boolean(true),
            Some(b'f') => language::Value::Boolean(false),
            Some(b'0'..=b'9' | b'-') if let Some(number) = json.and_then(|json| decimal::parse(json).ok()) => {
                language::Value::Number(number)
            }
            Some(_) => language::Value::Text(text(json)),
        })
    }

    fn amount(&self, column: usize) -> Result<(Decimal, Option<CurrencyMark>), String> {
        let found = text((self.json)(column));
        decimal::parse(&found).map(|number| (number, None)).map_err(|_| format!("'{found}' is not a number"))
    }

    fn today(&self) -> Option<civil::Date> {
        self.today
    }

    fn time_zone(&self) -> Option<&TimeZone> {
        Some(&self.zone)
    }
}

/// Returns the JSON of the field at a dotted path.
pub(crate) fn json_at<'a>(entry: &Entry<'a>, path: &str) -> Option<&'a str> {
    let mut names = field_names(path).into_iter();
    let first = entry.field(&names.next()?)?;
    names.try_fold(first, |json, wanted| {
        object_fields(json)?.into_iter().find(|(name, _)| *name == wanted).map(|(_, json)| json)
    })
}

/// Splits a dotted path into field names. A backslash precedes a dot or backslash within a name.
fn field_names(path: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut chars = path.chars();
    while let Some(c) = chars.next() {
        match c {
            '.' => names.push(std::mem::take(&mut name)),
            '\\' => name.extend(chars.next()),
            c => name.push(c),
        }
    }
    names.push(name);
    names
}

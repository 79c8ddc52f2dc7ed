//! The content of an export template, and functions to apply a template to values. Pure.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::tz::TimeZone;
use sheetport_client::pages::{Entry, object_fields};
use sheetport_mapping::language::{self, Context, Expression};
use sheetport_sheet::write::{Style, Value};
use sheetport_values::currency::CurrencyMark;
use sheetport_values::decimal::{self, Decimal};

use crate::error::Error;
use crate::value::text;

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
    pub conditions: Vec<Condition>,
    pub sort: Vec<SortBy>,
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
}

/// A field and a format. Without a format, values are written as received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// Field names joined by dots.
    pub path: String,
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

/// A condition of the mapping language. Its columns are the paths of fields.
#[derive(Clone, Debug)]
pub struct Condition(pub Arc<Expression>);

/// The fields of a record, for a condition.
struct Fields<'f, 'e> {
    entry: &'f Entry<'e>,
    paths: &'f [String],
    zone: TimeZone,
}

#[derive(Clone, Debug)]
pub struct SortBy {
    pub path: String,
    pub descending: bool,
}

impl Template {
    /// Returns the fields used by columns.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.columns.iter().filter_map(|column| match &column.source {
            ColumnSource::Field(field) => Some(field),
            ColumnSource::Constant(_) => None,
        })
    }

    /// Returns whether a record meets all conditions. A blank meets no condition that calculates with it or orders it.
    ///
    /// # Errors
    /// If a condition can't be decided, such as a comparison of a text with a number.
    pub fn selects(&self, entry: &Entry<'_>) -> Result<bool, Error> {
        for Condition(condition) in &self.conditions {
            match condition.holds(&Fields { entry, paths: condition.columns(), zone: TimeZone::UTC }) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) if error.is_about_blank() => return Ok(false),
                Err(error) => {
                    let id = text(entry.field("id")).into_owned();
                    return Err(Error::Undecided { id, reason: error.message });
                }
            }
        }
        Ok(true)
    }
}

impl Field {
    /// Formats the value of the field. `json` is its JSON.
    pub fn format<'a>(&self, json: Option<&'a str>, value: Value<'a>) -> Value<'a> {
        let text = text(json);
        if text.is_empty() {
            return match &self.default {
                Some(default) => Value::Text(Cow::Owned(default.clone())),
                None => value,
            };
        }
        if let Some(mapped) = self.map.get(&*text) {
            return Value::Text(Cow::Owned(mapped.clone()));
        }
        if let Some(decimals) = self.decimals
            && let Ok(number) = decimal::parse(&text)
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

impl Context for Fields<'_, '_> {
    fn value(&self, column: usize) -> Result<language::Value<'_>, String> {
        let json = json_at(self.entry, &self.paths[column]);
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
        let found = text(json_at(self.entry, &self.paths[column]));
        decimal::parse(&found).map(|number| (number, None)).map_err(|_| format!("'{found}' is not a number"))
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

//! The content of an export template, and functions to apply a template to values. Pure.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use regex::Regex;
use sheetport_client::pages::{Entry, object_fields};
use sheetport_sheet::write::{Style, Value};
use sheetport_values::decimal;

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

#[derive(Clone, Debug)]
pub struct Condition {
    pub path: String,
    pub test: Test,
}

/// A test of a field's text. Missing fields and nulls are empty.
#[derive(Clone, Debug)]
pub enum Test {
    OneOf(Vec<String>),
    NoneOf(Vec<String>),
    Matches(Regex),
    AtLeast(String),
    AtMost(String),
    Blank(bool),
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

    /// Returns whether a record meets all conditions.
    pub fn selects(&self, entry: &Entry<'_>) -> bool {
        self.conditions.iter().all(|condition| condition.test.holds(&text(json_at(entry, &condition.path))))
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

impl Test {
    fn holds(&self, text: &str) -> bool {
        match self {
            Test::OneOf(texts) => texts.iter().any(|one| one == text),
            Test::NoneOf(texts) => texts.iter().all(|one| one != text),
            Test::Matches(pattern) => pattern.is_match(text),
            Test::AtLeast(bound) => !text.is_empty() && compare(text, bound) != Ordering::Less,
            Test::AtMost(bound) => !text.is_empty() && compare(text, bound) != Ordering::Greater,
            Test::Blank(wanted) => text.is_empty() == *wanted,
        }
    }
}

/// Compares numbers by value, times by time, and everything else as text.
fn compare(one: &str, other: &str) -> Ordering {
    if let (Ok(one), Ok(other)) = (decimal::parse(one), decimal::parse(other)) {
        return one.cmp(&other);
    }
    match (time(one), time(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        _ => one.cmp(other),
    }
}

/// Parses a time. A date means its start in UTC.
fn time(text: &str) -> Option<jiff::Timestamp> {
    text.parse().ok().or_else(|| {
        let date: jiff::civil::Date = text.parse().ok()?;
        date.to_zoned(TimeZone::UTC).ok().map(|start| start.timestamp())
    })
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

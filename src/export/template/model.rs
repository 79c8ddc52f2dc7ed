//! What an export template says, and what follows for a value.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use regex::Regex;
use rust_decimal::{Decimal, RoundingStrategy};

use crate::client::pages::Entry;
use crate::client::pages::read::{fields_of, unquoted};
use crate::export::columns;
use crate::sheet::write::{Style, Value};

#[derive(Clone, Debug)]
pub struct Template {
    pub name: String,
    /// The records that it is for; nothing where it fits any.
    pub record: Option<String>,
    /// No columns of its own mean all.
    pub columns: Vec<Column>,
    /// After its own columns come all other fields.
    pub others: bool,
    /// All of them hold for a record that is in the file.
    pub conditions: Vec<Condition>,
    pub sort: Vec<SortBy>,
    /// The path of an array of which each element gets a row.
    pub explode: Option<String>,
    /// How a text file is written, where flags do not say it.
    pub style: Style,
}

#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub source: Source,
}

#[derive(Clone, Debug)]
pub enum Source {
    Constant(String),
    Field(Field),
}

/// A field, and how its value looks. What is not said leaves it as it came.
#[derive(Clone, Debug, Default)]
pub struct Field {
    /// Names with dots between them.
    pub path: String,
    /// A number has so many decimals; halves go away from zero.
    pub decimals: Option<u32>,
    /// A moment looks like this, in the zone.
    pub date: Option<String>,
    pub zone: Option<TimeZone>,
    /// What each value becomes; others stay.
    pub map: BTreeMap<String, String>,
    /// What a blank becomes.
    pub default: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Condition {
    pub path: String,
    pub test: Test,
}

/// A blank, an absent field and null are all the empty text here.
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
    /// Whether a record is in the file.
    pub fn takes(&self, entry: Entry<'_>) -> bool {
        self.conditions.iter().all(|condition| condition.test.holds(&text(json_at(entry, &condition.path))))
    }
}

impl Field {
    /// How the value of the field looks.
    pub fn value<'a>(&self, json: Option<&'a str>, value: Value<'a>) -> Value<'a> {
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
        if let Some(places) = self.decimals
            && let Ok(number) = Decimal::from_str_exact(&text).or_else(|_| Decimal::from_scientific(&text))
        {
            let rounded = number.round_dp_with_strategy(places, RoundingStrategy::MidpointAwayFromZero);
            let places = usize::try_from(places).unwrap_or_default();
            return Value::Digits(format!("{rounded:.places$}"));
        }
        if let Some(format) = &self.date
            && let Ok(moment) = text.parse::<jiff::Timestamp>()
        {
            let zoned = moment.to_zoned(self.zone.clone().unwrap_or(TimeZone::UTC));
            if let Ok(shown) = jiff::fmt::strtime::format(format, &zoned) {
                return Value::Text(Cow::Owned(shown));
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

/// Numbers as numbers, moments as moments, all else as text.
fn compare(one: &str, other: &str) -> Ordering {
    if let (Ok(one), Ok(other)) = (one.parse::<Decimal>(), other.parse::<Decimal>()) {
        return one.cmp(&other);
    }
    match (moment(one), moment(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        _ => one.cmp(other),
    }
}

/// A date alone is its first moment in UTC.
fn moment(text: &str) -> Option<jiff::Timestamp> {
    text.parse().ok().or_else(|| {
        let day: jiff::civil::Date = text.parse().ok()?;
        day.to_zoned(TimeZone::UTC).ok().map(|start| start.timestamp())
    })
}

/// The JSON of an entry's field at a dotted path.
pub fn json_at<'a>(entry: Entry<'a>, path: &str) -> Option<&'a str> {
    let mut names = path_names(path).into_iter();
    let first = names.next()?;
    let found = entry.fields().find(|(name, _)| unquoted(name) == first);
    names.try_fold(found?.1, |json, wanted| {
        fields_of(json)?.into_iter().find(|(name, _)| unquoted(name) == wanted).map(|(_, value)| value)
    })
}

/// The words that conditions and orders go by; nothing and null are empty.
pub fn text(json: Option<&str>) -> Cow<'_, str> {
    match columns::value(json, false) {
        Value::Blank => Cow::Borrowed(""),
        Value::Text(text) => text,
        Value::Number(text) | Value::DateTime { text, .. } => Cow::Borrowed(text),
        Value::Digits(digits) => Cow::Owned(digits),
        Value::Boolean(boolean) => Cow::Borrowed(if boolean { "true" } else { "false" }),
    }
}

fn path_names(path: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut chars = path.chars();
    while let Some(c) = chars.next() {
        match (c, names.last_mut()) {
            ('.', _) => names.push(String::new()),
            ('\\', Some(name)) => name.extend(chars.next()),
            (c, Some(name)) => name.push(c),
            (_, None) => {}
        }
    }
    names
}

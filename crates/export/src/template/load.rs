//! Parses an export template from TOML, or returns all mistakes with their lines and fixes.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::tz::TimeZone;
use regex::Regex;
use serde::Deserialize;
use sheetport_documents::{Mistake, Mistakes, Notes, TomlFile};
use sheetport_sheet::Options;
use sheetport_sheet::write::Style;
use toml::Spanned;

use super::model::{Column, ColumnSource, Condition, Field, SortBy, Template, Test};
use crate::locale::has_decimal_comma;

/// Parses the TOML in `source`. `name` is the template's name in messages, and `records` are the exportable kinds.
pub fn load(name: &str, source: &str, records: &[&str]) -> Result<Template, Mistakes> {
    let (raw, notes) = Notes::read(TomlFile { what: "export template", name, source });
    let checker = Checker { notes };
    let template = raw.map(|raw| checker.template(raw, records));
    checker.notes.finish(template)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTemplate {
    record: Option<Spanned<String>>,
    #[serde(default, rename = "description")]
    _description: String,
    #[serde(default)]
    columns: Vec<Spanned<RawColumn>>,
    #[serde(default)]
    others: bool,
    #[serde(default, rename = "where")]
    conditions: Vec<Spanned<RawCondition>>,
    #[serde(default)]
    sort: Vec<Spanned<String>>,
    explode: Option<Spanned<String>>,
    locale: Option<Spanned<String>>,
    delimiter: Option<Spanned<String>>,
    #[serde(default)]
    bom: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawColumn {
    name: Option<Spanned<String>>,
    field: Option<Spanned<String>>,
    value: Option<Spanned<toml::Value>>,
    decimals: Option<Spanned<i64>>,
    date: Option<Spanned<String>>,
    zone: Option<Spanned<String>>,
    map: Option<Spanned<BTreeMap<String, toml::Value>>>,
    default: Option<Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCondition {
    field: Spanned<String>,
    equals: Option<Spanned<toml::Value>>,
    not: Option<Spanned<toml::Value>>,
    matches: Option<Spanned<String>>,
    at_least: Option<Spanned<toml::Value>>,
    at_most: Option<Spanned<toml::Value>>,
    blank: Option<Spanned<bool>>,
}

struct Checker<'a> {
    notes: Notes<'a>,
}

impl Checker<'_> {
    /// Checks everything, and notes all mistakes. What is wrong is missing in the result.
    fn template(&self, raw: RawTemplate, records: &[&str]) -> Template {
        let keep = &self.notes;
        if let Some(record) = raw.record.as_ref().filter(|record| !records.contains(&record.get_ref().as_str())) {
            let message = format!("'{}' cannot be exported", record.get_ref());
            keep.unknown(record.span(), message, record.get_ref(), records);
        }
        let others = raw.others || raw.columns.is_empty();
        let mut columns: Vec<Column> = Vec::new();
        for column in raw.columns {
            let span = column.span();
            let Some(column) = keep.keep(self.column(column)) else { continue };
            if columns.iter().any(|other| other.name == column.name) {
                let message = format!("two columns are called '{}'", column.name);
                keep.note(span, message, Some("give one of them another name"));
            }
            columns.push(column);
        }
        let locale = raw.locale.as_ref().and_then(|locale| {
            keep.keep(has_decimal_comma(locale.get_ref()).ok_or_else(|| {
                let message = format!("unknown locale '{}'", locale.get_ref());
                self.error(locale.span(), message, "such as \"de\", \"fr\" or \"en\"")
            }))
        });
        let delimiter = raw.delimiter.as_ref().and_then(|word| {
            let read = Options::delimiter_named(word.get_ref());
            keep.keep(read.map_err(|reason| self.error(word.span(), reason, "such as \";\" or \"tab\"")))
        });
        Template {
            record: raw.record.map(Spanned::into_inner),
            others,
            columns,
            conditions: raw.conditions.into_iter().filter_map(|raw| keep.keep(self.condition(raw))).collect(),
            sort: raw.sort.iter().filter_map(|by| keep.keep(self.sort(by))).collect(),
            explode: raw.explode.as_ref().and_then(|path| keep.keep(self.path(path))),
            style: Style { delimiter, decimal_comma: locale.unwrap_or(false), bom: raw.bom, raw: false },
        }
    }

    fn column(&self, raw: Spanned<RawColumn>) -> Result<Column, Mistake> {
        let span = raw.span();
        let raw = raw.into_inner();
        let (source, default_name) = match (&raw.field, &raw.value) {
            (Some(field), None) => {
                let path = self.path(field)?;
                let field = self.field(path.clone(), &raw)?;
                (ColumnSource::Field(field), Some(path.replace("\\.", ".")))
            }
            (None, Some(value)) => {
                let formats = [
                    raw.decimals.as_ref().map(Spanned::span),
                    raw.date.as_ref().map(Spanned::span),
                    raw.zone.as_ref().map(Spanned::span),
                    raw.map.as_ref().map(Spanned::span),
                    raw.default.as_ref().map(Spanned::span),
                ];
                if let Some(span) = formats.into_iter().flatten().next() {
                    return Err(self.error(span, "a constant cannot be formatted", "remove this line"));
                }
                (ColumnSource::Constant(self.constant(value)?), None)
            }
            (Some(_), Some(value)) => {
                let message = "this column has both a field and a value";
                return Err(self.error(value.span(), message, "keep one of them"));
            }
            (None, None) => {
                let hint = "add field = \"…\" for a field of the record, or value = \"…\" for a constant";
                return Err(self.error(span, "this column has neither a field nor a value", hint));
            }
        };
        let name = match (raw.name, default_name) {
            (Some(name), _) if name.get_ref().trim().is_empty() => {
                return Err(self.error(name.span(), "the name of a column cannot be blank", "write the header"));
            }
            (Some(name), _) => name.into_inner(),
            (None, Some(name)) => name,
            (None, None) => return Err(self.error(span, "a constant needs a name", "add name = \"…\"")),
        };
        Ok(Column { name, source })
    }

    fn field(&self, path: String, raw: &RawColumn) -> Result<Field, Mistake> {
        let decimals = raw.decimals.as_ref().map(|places| {
            let count = u32::try_from(*places.get_ref()).ok().filter(|count| *count <= 15);
            count.ok_or_else(|| self.error(places.span(), "decimals must be a number from 0 to 15", "such as 2"))
        });
        if let Some(date) = &raw.date {
            let moment = jiff::Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
            if jiff::fmt::strtime::format(date.get_ref(), &moment).is_err() {
                let hint = "such as \"%d.%m.%Y\" or \"%Y-%m-%d %H:%M\"";
                return Err(self.error(date.span(), "invalid date format", hint));
            }
        }
        let zone = raw.zone.as_ref().map(|zone| {
            let found = TimeZone::get(zone.get_ref());
            found.map_err(|_| {
                let message = format!("unknown time zone '{}'", zone.get_ref());
                self.error(zone.span(), message, "such as \"Europe/Berlin\"")
            })
        });
        if let (Some(zone), None) = (&raw.zone, &raw.date) {
            return Err(self.error(zone.span(), "a time zone needs a date format", "add date = \"%d.%m.%Y %H:%M\""));
        }
        let mut map = BTreeMap::new();
        if let Some(raw) = &raw.map {
            for (from, to) in raw.get_ref() {
                map.insert(from.clone(), self.constant(&Spanned::new(raw.span(), to.clone()))?);
            }
        }
        let default = raw.default.as_ref().map(|default| self.constant(default)).transpose()?;
        Ok(Field {
            path,
            decimals: decimals.transpose()?,
            date: raw.date.as_ref().map(|date| date.get_ref().clone()),
            zone: zone.transpose()?,
            map,
            default,
        })
    }

    fn condition(&self, raw: Spanned<RawCondition>) -> Result<Condition, Mistake> {
        let span = raw.span();
        let raw = raw.into_inner();
        let path = self.path(&raw.field)?;
        let mut tests = Vec::new();
        if let Some(value) = &raw.equals {
            tests.push(Test::OneOf(self.constants(value)?));
        }
        if let Some(value) = &raw.not {
            tests.push(Test::NoneOf(self.constants(value)?));
        }
        if let Some(pattern) = &raw.matches {
            tests.push(Test::Matches(self.regex(pattern)?));
        }
        if let Some(bound) = &raw.at_least {
            tests.push(Test::AtLeast(self.constant(bound)?));
        }
        if let Some(bound) = &raw.at_most {
            tests.push(Test::AtMost(self.constant(bound)?));
        }
        if let Some(blank) = &raw.blank {
            tests.push(Test::Blank(*blank.get_ref()));
        }
        match (tests.pop(), tests.is_empty()) {
            (Some(test), true) => Ok(Condition { path, test }),
            (found, _) => {
                let message = match found {
                    None => "this condition has no test",
                    Some(_) => "this condition has more than one test",
                };
                let hint = "use one of equals, not, matches, at_least, at_most and blank; add another [[where]] for each further test";
                Err(self.error(span, message, hint))
            }
        }
    }

    fn sort(&self, by: &Spanned<String>) -> Result<SortBy, Mistake> {
        let (descending, path) = match by.get_ref().strip_prefix('-') {
            Some(path) => (true, path),
            None => (false, by.get_ref().as_str()),
        };
        let path = self.path(&Spanned::new(by.span(), path.to_owned()))?;
        Ok(SortBy { path, descending })
    }

    fn path(&self, path: &Spanned<String>) -> Result<String, Mistake> {
        match path.get_ref().split('.').any(|name| name.trim().is_empty()) {
            true => Err(self.error(path.span(), "empty field name", "such as \"price\" or \"address.city\"")),
            false => Ok(path.get_ref().clone()),
        }
    }

    fn constants(&self, value: &Spanned<toml::Value>) -> Result<Vec<String>, Mistake> {
        match value.get_ref() {
            toml::Value::Array(values) => {
                values.iter().map(|one| self.constant(&Spanned::new(value.span(), one.clone()))).collect()
            }
            _ => self.constant(value).map(|text| vec![text]),
        }
    }

    fn constant(&self, value: &Spanned<toml::Value>) -> Result<String, Mistake> {
        match value.get_ref() {
            toml::Value::String(text) => Ok(text.clone()),
            toml::Value::Integer(number) => Ok(number.to_string()),
            // As in the source, so that 1.50 keeps its zero.
            toml::Value::Float(number) => {
                let written = self.notes.file().source.get(value.span()).filter(|text| text.parse::<f64>().is_ok());
                Ok(written.map_or_else(|| number.to_string(), str::to_owned))
            }
            toml::Value::Boolean(boolean) => Ok(boolean.to_string()),
            toml::Value::Datetime(moment) => Ok(moment.to_string()),
            other => {
                let message = format!("expected a string, a number or a date, found {}", other.type_str());
                Err(self.error(value.span(), message, "write it in quotes"))
            }
        }
    }

    fn regex(&self, pattern: &Spanned<String>) -> Result<Regex, Mistake> {
        Regex::new(pattern.get_ref()).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let message = format!("invalid regular expression: {reason}");
            self.error(pattern.span(), message, "in TOML, strings in 'single quotes' keep backslashes")
        })
    }

    fn error(&self, span: Range<usize>, message: impl Into<String>, hint: impl Into<String>) -> Mistake {
        self.notes.file().mistake(span, message, Some(hint.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_mistakes_of_a_template_are_found_at_their_places() {
        let source = "\
record = \"itmes\"
ohters = true
[[columns]]
field = \"price\"
decimals = 99
bom = 1
[[columns]]
value = 3
[[where]]
field = \"price\"
";
        let mistakes = load("t.toml", source, &["items", "orders"]).expect_err("a template with mistakes");
        let found: Vec<_> = mistakes.iter().map(|mistake| (mistake.position(), mistake.message.as_str())).collect();
        let expected = [
            (Some((1, 10)), "'itmes' cannot be exported"),
            (Some((2, 1)), "unknown key 'ohters'"),
            (Some((5, 12)), "decimals must be a number from 0 to 15"),
            (Some((6, 1)), "unknown key 'bom'"),
            (Some((7, 1)), "a constant needs a name"),
            (Some((9, 1)), "this condition has no test"),
        ];
        assert_eq!(found, expected);
    }
}

//! Parses an export template from TOML, or returns all mistakes with their lines and fixes.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use jiff::tz::TimeZone;
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use sheetport_documents::{Mistake, Mistakes, Notes, TomlFile};
use sheetport_mapping::language::{Expression, ExpressionError, quoted, row_value};
use sheetport_sheet::Options;
use sheetport_sheet::write::Style;
use toml::Spanned;

use super::model::{Column, ColumnSource, Field, Format, Formula, SortBy, SortKey, Template};
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
    #[serde(rename = "where")]
    conditions: Option<Spanned<RawConditions>>,
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
    text: Option<Spanned<String>>,
    decimals: Option<Spanned<i64>>,
    date: Option<Spanned<String>>,
    zone: Option<Spanned<String>>,
    map: Option<Spanned<BTreeMap<String, toml::Value>>>,
    default: Option<Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTest {
    field: Spanned<String>,
    equals: Option<Spanned<toml::Value>>,
    not: Option<Spanned<toml::Value>>,
    matches: Option<Spanned<String>>,
    at_least: Option<Spanned<toml::Value>>,
    at_most: Option<Spanned<toml::Value>>,
    blank: Option<Spanned<bool>>,
}

/// A condition, or a list of conditions.
enum RawConditions {
    One(String),
    Many(Vec<Spanned<RawCondition>>),
}

/// A condition, or a test of a field in the notation of earlier templates.
enum RawCondition {
    Written(String),
    Test(Box<RawTest>),
}

impl<'de> Deserialize<'de> for RawConditions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ConditionsVisitor;
        impl<'de> Visitor<'de> for ConditionsVisitor {
            type Value = RawConditions;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a condition such as 'price >= 10', or a list of conditions")
            }

            fn visit_str<E: de::Error>(self, condition: &str) -> Result<RawConditions, E> {
                Ok(RawConditions::One(condition.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<RawConditions, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(RawConditions::Many)
            }
        }
        deserializer.deserialize_any(ConditionsVisitor)
    }
}

impl<'de> Deserialize<'de> for RawCondition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ConditionVisitor;
        impl<'de> Visitor<'de> for ConditionVisitor {
            type Value = RawCondition;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a condition such as 'price >= 10'")
            }

            fn visit_str<E: de::Error>(self, condition: &str) -> Result<RawCondition, E> {
                Ok(RawCondition::Written(condition.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawCondition, A::Error> {
                Box::deserialize(MapAccessDeserializer::new(map)).map(RawCondition::Test)
            }
        }
        deserializer.deserialize_any(ConditionVisitor)
    }
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
        let starts: Vec<usize> = raw.columns.iter().map(|column| column.span().start).collect();
        for (index, column) in raw.columns.into_iter().enumerate() {
            let span = column.span();
            let lines = span.start..starts.get(index + 1).copied().unwrap_or(keep.file().source.len());
            // The wrong key may be the one that is missing.
            if column.get_ref().field.is_none() && keep.has_mistake_in(&lines) {
                continue;
            }
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
            conditions: raw.conditions.map(|raw| self.conditions(raw)).unwrap_or_default(),
            sort: raw.sort.iter().filter_map(|by| keep.keep(self.sort(by, &columns))).collect(),
            columns,
            explode: raw.explode.as_ref().and_then(|path| keep.keep(self.path(path))),
            style: Style { delimiter, decimal_comma: locale.unwrap_or(false), bom: raw.bom, raw: false },
            ..Template::of_everything()
        }
    }

    fn column(&self, raw: Spanned<RawColumn>) -> Result<Column, Mistake> {
        let span = raw.span();
        let raw = raw.into_inner();
        let (source, default_name) = match (&raw.field, &raw.text, &raw.value) {
            (Some(field), None, None) => {
                let path = self.path(field)?;
                let name = path.replace("\\.", ".");
                (ColumnSource::Field(Field { path, format: self.format(&raw)? }), Some(name))
            }
            (None, Some(text), None) => (ColumnSource::Computed(self.computed(text)?, self.format(&raw)?), None),
            (None, None, Some(value)) => {
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
            (None, None, None) => {
                let hint = "add field = \"…\" for a field of the record, text = \"{{ … }}\" for an expression, or value = \"…\" \
                            for a constant";
                return Err(self.error(span, "this column has neither a field nor a value", hint));
            }
            (_, text, value) => {
                let place = value.as_ref().map(Spanned::span).or(text.as_ref().map(Spanned::span)).unwrap_or(span);
                let message = "this column has more than one of field, text and value";
                return Err(self.error(place, message, "keep one of them"));
            }
        };
        let name = match (raw.name, default_name) {
            (Some(name), _) if name.get_ref().trim().is_empty() => {
                return Err(self.error(name.span(), "the name of a column cannot be blank", "write the header"));
            }
            (Some(name), _) => name.into_inner(),
            (None, Some(name)) => name,
            (None, None) if raw.text.is_some() => {
                return Err(self.error(span, "a computed column needs a name", "add name = \"…\""));
            }
            (None, None) => return Err(self.error(span, "a constant needs a name", "add name = \"…\"")),
        };
        Ok(Column { name, source })
    }

    fn format(&self, raw: &RawColumn) -> Result<Format, Mistake> {
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
        Ok(Format {
            decimals: decimals.transpose()?,
            date: raw.date.as_ref().map(|date| date.get_ref().clone()),
            zone: zone.transpose()?,
            map,
            default,
        })
    }

    fn conditions(&self, raw: Spanned<RawConditions>) -> Vec<Formula> {
        let span = raw.span();
        let conditions = match raw.into_inner() {
            RawConditions::One(written) => vec![Spanned::new(span, RawCondition::Written(written))],
            RawConditions::Many(conditions) => conditions,
        };
        let read = |raw: Spanned<RawCondition>| {
            let span = raw.span();
            match raw.into_inner() {
                RawCondition::Written(written) => self.condition(&written, span),
                RawCondition::Test(test) => {
                    let (written, span) = self.translated(&test, span)?;
                    self.condition(&written, span)
                }
            }
        };
        conditions.into_iter().filter_map(|raw| self.notes.keep(read(raw))).collect()
    }

    /// Parses a condition written at `span`.
    fn condition(&self, written: &str, span: Range<usize>) -> Result<Formula, Mistake> {
        let parsed = Expression::parse_condition(written);
        let expression = parsed.map_err(|error| self.misread(written, span.clone(), error))?;
        self.formula(written, span, expression)
    }

    /// Parses the text of a computed column.
    fn computed(&self, text: &Spanned<String>) -> Result<Formula, Mistake> {
        let (written, span) = (text.get_ref(), text.span());
        let expression = Expression::parse(written).map_err(|error| self.misread(written, span.clone(), error))?;
        self.formula(written, span, expression)
    }

    /// Returns a mistake in the expression `written` at `span`.
    fn misread(&self, written: &str, span: Range<usize>, error: ExpressionError) -> Mistake {
        let in_toml = self.notes.file().source.get(span.clone()).and_then(|text| text.find(written));
        let place = in_toml.map_or(span.clone(), |at| {
            let position = |offset: usize| span.start + at + offset.min(written.len());
            position(error.range.start)..position(error.range.end.max(error.range.start))
        });
        self.error(place, error.message, "docs/expressions.md describes expressions")
    }

    fn formula(&self, written: &str, span: Range<usize>, expression: Expression) -> Result<Formula, Mistake> {
        Formula::new(written, expression).map_err(|(message, hint)| self.error(span, message, hint))
    }

    /// Returns the condition that a test of a field means, and its place for mistakes.
    fn translated(&self, raw: &RawTest, span: Range<usize>) -> Result<(String, Range<usize>), Mistake> {
        let field = row_value(&self.path(&raw.field)?);
        let mut tests = Vec::new();
        for (value, word) in [(&raw.equals, "in"), (&raw.not, "not in")] {
            if let Some(value) = value {
                tests.push((format!("{field} {word} [{}]", self.constants(value)?), value.span()));
            }
        }
        if let Some(pattern) = &raw.matches {
            tests.push((format!("{field} | matches({})", quoted(pattern.get_ref())), pattern.span()));
        }
        for (bound, sign) in [(&raw.at_least, ">="), (&raw.at_most, "<=")] {
            if let Some(bound) = bound {
                tests.push((format!("{field} {sign} {}", self.literal(bound)?), bound.span()));
            }
        }
        if let Some(blank) = &raw.blank {
            let sign = if *blank.get_ref() { "==" } else { "!=" };
            tests.push((format!("{field} {sign} ''"), blank.span()));
        }
        match (tests.pop(), tests.is_empty()) {
            (Some(test), true) => Ok(test),
            (found, _) => {
                let message = match found {
                    None => "this condition has no test",
                    Some(_) => "this condition has more than one test",
                };
                let hint = format!("write where = '{field} == \"…\"', also with >=, <=, in […] and matches(\"…\")");
                Err(self.error(span, message, hint))
            }
        }
    }

    fn sort(&self, by: &Spanned<String>, columns: &[Column]) -> Result<SortBy, Mistake> {
        let (descending, path) = match by.get_ref().strip_prefix('-') {
            Some(path) => (true, path),
            None => (false, by.get_ref().as_str()),
        };
        let path = self.path(&Spanned::new(by.span(), path.to_owned()))?;
        Ok(SortBy { key: SortKey::of(path, columns), descending })
    }

    fn path(&self, path: &Spanned<String>) -> Result<String, Mistake> {
        match path.get_ref().split('.').any(|name| name.trim().is_empty()) {
            true => Err(self.error(path.span(), "empty field name", "such as \"price\" or \"address.city\"")),
            false => Ok(path.get_ref().clone()),
        }
    }

    /// Returns constants of a list as in an expression.
    fn constants(&self, value: &Spanned<toml::Value>) -> Result<String, Mistake> {
        let toml::Value::Array(values) = value.get_ref() else { return self.literal(value) };
        let literals = values.iter().map(|one| self.literal(&Spanned::new(value.span(), one.clone())));
        Ok(literals.collect::<Result<Vec<_>, _>>()?.join(", "))
    }

    /// Returns a constant as in an expression.
    fn literal(&self, value: &Spanned<toml::Value>) -> Result<String, Mistake> {
        let text = self.constant(value)?;
        let is_number = value.get_ref().is_integer() || value.get_ref().is_float();
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
        Ok(if is_number && is_plain { text } else { quoted(&text) })
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

    fn error(&self, span: Range<usize>, message: impl Into<String>, hint: impl Into<String>) -> Mistake {
        self.notes.file().mistake(span, message, Some(hint.into()))
    }
}

#[cfg(test)]
mod tests {
    use sheetport_client::pages::Entry;

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
field = 3
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
            (Some((8, 9)), "field must be text in quotes, but this is the number 3"),
            (Some((9, 1)), "a constant needs a name"),
            (Some((11, 1)), "this condition has no test"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn conditions_are_expressions_over_the_fields_of_records() {
        let record = r#"{"id": 7, "price": 10.50, "status": "active", "sku": "0042", "is_set": false, "note": null,
            "updated_at": "2026-11-28T12:00:00Z", "address": {"city": "Ulm"}}"#;
        let selects = |source: &str| {
            let template = load("t.toml", source, &["items"]).unwrap_or_else(|mistakes| panic!("{source}: {mistakes}"));
            template.selects(&Entry::new(record))
        };
        for (source, expected) in [
            ("where = 'price >= 10'", true),
            ("where = 'price >= 10 and status != \"active\"'", false),
            ("where = ['price >= 10', 'note == \"\"']", true),
            ("where = \"row['address.city'] == 'Ulm'\"", true),
            ("where = 'note > 3'", false),
            ("[[where]]\nfield = \"price\"\nat_least = 10\n[[where]]\nfield = \"price\"\nat_most = 10.5", true),
            ("[[where]]\nfield = \"price\"\nat_least = 11", false),
            ("[[where]]\nfield = \"status\"\nequals = [\"draft\", \"active\"]", true),
            ("[[where]]\nfield = \"status\"\nnot = \"active\"", false),
            ("[[where]]\nfield = \"sku\"\nequals = 42", false),
            ("[[where]]\nfield = \"sku\"\nequals = \"0042\"", true),
            ("[[where]]\nfield = \"sku\"\nmatches = '^00\\d+$'", true),
            ("[[where]]\nfield = \"is_set\"\nequals = false", true),
            ("[[where]]\nfield = \"note\"\nblank = true", true),
            ("[[where]]\nfield = \"is_set\"\nblank = false", true),
            ("[[where]]\nfield = \"updated_at\"\nat_least = 2026-11-28", true),
            ("[[where]]\nfield = \"updated_at\"\nat_least = \"2026-11-29\"", false),
            ("[[where]]\nfield = \"address.city\"\nequals = \"Ulm\"", true),
        ] {
            assert_eq!(selects(source).ok(), Some(expected), "{source}");
        }
        let error = selects("where = 'status > 3'").expect_err("a text is no number");
        assert!(error.to_string().contains("the record 7"), "{error}");
    }
}

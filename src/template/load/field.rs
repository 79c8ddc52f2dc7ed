//! How one field gets its value: which keys go together, and which fit the field's type.

use std::ops::Range;

use jiff::tz::TimeZone;
use toml::Spanned;

use super::super::language::Expression;
use super::super::model::{
    Checks, Constant, Damaged, DateRule, FieldRule, NumberRule, OnBlank, Place, Replace, Source, Split, Translate,
    ValueMap,
};
use super::super::value::date::{self, DateFormat, Order};
use super::super::value::locale::Locale;
use super::super::value::lookup::{Lookup, LookupError};
use super::super::value::number::{self, Percent};
use super::Checker;
use super::raw::{RawField, RawLookup};
use crate::decimal::{self, Decimal};
use crate::diagnostics::Mistake;
use crate::records::{Field, JsonType};

/// What `[sheet]` says for all fields.
pub(super) struct Defaults {
    pub locale: Option<Locale>,
    pub order: Option<Order>,
    pub time_zone: Option<TimeZone>,
}

impl Checker<'_> {
    pub(super) fn field(
        &self,
        field: &'static Field,
        place: Place,
        span: Range<usize>,
        mut raw: RawField,
        defaults: &Defaults,
    ) -> Result<FieldRule, Mistake> {
        let source = self.source(field, &span, &mut raw)?;
        let on_blank = self.on_blank(field, raw.on_blank, raw.default)?;
        if let Some(clear) = raw.clear.as_ref().filter(|_| !field.nullable) {
            let message = format!("{} can't be null, so nothing clears it", field.name);
            return Err(self.error(clear.span(), message, Some("remove clear")));
        }
        let translate = match (raw.map, raw.lookup) {
            (Some(_), Some(lookup)) => {
                return Err(self.error(
                    lookup.span(),
                    format!("{} has both a map and a lookup", field.name),
                    Some("keep one of them"),
                ));
            }
            (Some(map), None) => {
                let span = map.span();
                let entries = map.into_inner().into_iter().map(|(from, to)| {
                    let to = self.constant(field, &Spanned::new(span.clone(), to))?;
                    Ok((from, to))
                });
                Some(Translate::Map(ValueMap::new(entries.collect::<Result<_, Mistake>>()?)))
            }
            (None, Some(lookup)) => Some(Translate::Lookup(self.lookup(lookup)?)),
            (None, None) => None,
        };
        let is_number = matches!(field.json, JsonType::Number | JsonType::Integer);
        let is_date = field.json == JsonType::DateTime;
        let number_key = [
            raw.scale.as_ref().map(|key| (key.span(), "scale")),
            raw.round.as_ref().map(|key| (key.span(), "round")),
            raw.percent.as_ref().map(|key| (key.span(), "percent")),
            raw.minimum.as_ref().map(|key| (key.span(), "minimum")),
            raw.maximum.as_ref().map(|key| (key.span(), "maximum")),
        ];
        if let Some((span, key)) = number_key.into_iter().flatten().next().filter(|_| !is_number) {
            let message = format!("{key} is for numbers, and {} is a {}", field.name, what(field.json));
            return Err(self.error(span, message, Some(format!("remove {key}"))));
        }
        let date_key = [
            raw.format.as_ref().map(|key| (key.span(), "format")),
            raw.time_zone.as_ref().map(|key| (key.span(), "time_zone")),
        ];
        if let Some((span, key)) = date_key.into_iter().flatten().next().filter(|_| !is_date) {
            let message = format!("{key} is for dates, and {} is a {}", field.name, what(field.json));
            return Err(self.error(span, message, Some(format!("remove {key}"))));
        }
        let round = match &raw.round {
            None => None,
            Some(places) => match u32::try_from(*places.get_ref()) {
                Ok(count) if count <= 28 => Some(count),
                _ => {
                    let message = "round is a number of decimals from 0 to 28";
                    return Err(self.error(places.span(), message, Some("2 is for prices")));
                }
            },
        };
        let formats = raw.format.map(|formats| self.formats(formats.span(), formats.into_inner().0)).transpose()?;
        let order = raw.locale.as_ref().and_then(|name| date::order_of(name.get_ref()));
        Ok(FieldRule {
            field,
            place,
            is_name: place == Place::Id || field.is_name(),
            source,
            optional: raw.optional,
            trim: raw.trim,
            clear: raw.clear.map(Spanned::into_inner),
            on_blank,
            replace: raw
                .replace
                .map(|replaces| replaces.0)
                .unwrap_or_default()
                .into_iter()
                .map(|replace| Ok(Replace { pattern: self.regex(&replace.pattern)?, with: replace.with }))
                .collect::<Result<_, Mistake>>()?,
            split: match raw.split {
                None => None,
                Some(split) if split.at.get_ref().is_empty() => {
                    let hint = "at is the text between the parts, such as \"/\"";
                    return Err(self.error(split.at.span(), "a split needs a text to split at", Some(hint)));
                }
                Some(split) if *split.take.get_ref() == 0 => {
                    let hint = "1 is the first part, -1 the last";
                    return Err(self.error(split.take.span(), "there is no part 0", Some(hint)));
                }
                Some(split) => Some(Split { at: split.at.into_inner(), take: split.take.into_inner() }),
            },
            translate,
            number: NumberRule {
                locale: raw.locale.as_ref().map(|name| self.locale(name)).transpose()?.or(defaults.locale),
                percent: self.choice(raw.percent, &[("whole", Percent::Whole), ("fraction", Percent::Fraction)])?,
                scale: raw.scale.as_ref().map(|scale| self.decimal(scale, "scale")).transpose()?,
                round,
            },
            date: DateRule {
                formats: formats.unwrap_or_default(),
                order: order.or(defaults.order),
                time_zone: match &raw.time_zone {
                    Some(name) => Some(self.time_zone(name)?),
                    None => defaults.time_zone.clone(),
                },
            },
            checks: Checks {
                allowed: raw.allowed.map(Spanned::into_inner).unwrap_or_default(),
                pattern: raw.pattern.as_ref().map(|pattern| self.regex(pattern)).transpose()?,
                minimum: raw.minimum.as_ref().map(|bound| self.decimal(bound, "minimum")).transpose()?,
                maximum: raw.maximum.as_ref().map(|bound| self.decimal(bound, "maximum")).transpose()?,
            },
            damaged: self
                .choice(raw.damaged, &[("error", Damaged::Error), ("accept", Damaged::Accept)])?
                .unwrap_or(Damaged::Error),
            span,
        })
    }

    fn source(&self, field: &'static Field, span: &Range<usize>, raw: &mut RawField) -> Result<Source, Mistake> {
        let said = [
            raw.column.as_ref().map(|key| (key.span(), "column")),
            raw.columns.as_ref().map(|key| (key.span(), "columns")),
            raw.text.as_ref().map(|key| (key.span(), "text")),
            raw.value.as_ref().map(|key| (key.span(), "value")),
        ];
        let mut said = said.into_iter().flatten();
        let Some((_, first)) = said.next() else {
            let hint = "say where it comes from: column = \"…\" for a column of the sheet, text = \"{{ … }}\" for \
                        several, value = … for a constant";
            return Err(self.error(span.clone(), format!("{} has no source", field.name), Some(hint)));
        };
        if let Some((span, second)) = said.next() {
            let message = format!("{} has both a {first} and a {second}", field.name);
            return Err(self.error(span, message, Some("keep one of them")));
        }
        let join = raw.join.take();
        if let Some(join) = join.as_ref().filter(|_| first != "columns") {
            let hint = "write columns = [\"…\", \"…\"] beside it";
            return Err(self.error(join.span(), "join is for several columns", Some(hint)));
        }
        if let Some(columns) = raw.column.take() {
            return Ok(Source::Column(columns.into_inner().0));
        }
        if let Some(columns) = raw.columns.take() {
            let with = join.map_or_else(|| " ".to_owned(), Spanned::into_inner);
            return Ok(Source::Joined { columns: columns.into_inner().0, with });
        }
        if let Some(text) = raw.text.take() {
            let expression = self.expression(&text)?;
            return Ok(Source::Text { expression: Box::new(expression), written: text.into_inner() });
        }
        match raw.value.take() {
            Some(value) => self.constant(field, &value).map(Source::Constant),
            None => Ok(Source::Constant(Constant::Null)),
        }
    }

    /// The place of a mistake within an expression is known where the TOML holds it to the letter.
    fn expression(&self, text: &Spanned<String>) -> Result<Expression, Mistake> {
        Expression::parse(text.get_ref()).map_err(|error| {
            let whole = text.span();
            let written = self.file.source.get(whole.clone()).unwrap_or_default();
            let place = written.find(text.get_ref().as_str()).map(|at| {
                let from = whole.start + at + error.range.start.min(text.get_ref().len());
                from..(whole.start + at + error.range.end.min(text.get_ref().len())).max(from)
            });
            self.error(
                place.unwrap_or(whole),
                error.message,
                Some("docs/expressions.md lists what an expression can have"),
            )
        })
    }

    fn lookup(&self, raw: Spanned<RawLookup>) -> Result<Lookup, Mistake> {
        let raw = raw.into_inner();
        let file = raw.file.get_ref();
        let rows = (self.tables)(file).map_err(|reason| {
            let hint = "the file's place is counted from the template's folder";
            self.error(raw.file.span(), format!("the lookup table can't be read: {reason}"), Some(hint))
        })?;
        let is_blank = |row: &Vec<String>| row.iter().all(|cell| cell.trim().is_empty());
        let header = rows.iter().position(|row| !is_blank(row)).unwrap_or_default();
        let below = rows.get(header + 1..).unwrap_or_default();
        let first_row = u64::try_from(header).unwrap_or_default() + 2;
        let header = rows.get(header).map(Vec::as_slice).unwrap_or_default();
        let (from, to) = (&raw.from, &raw.to);
        Lookup::from_rows(header, below, first_row, from.get_ref(), to.get_ref()).map_err(|error| {
            let (span, hint) = match &error {
                LookupError::MissingColumn { column, .. } | LookupError::DuplicateColumn { column }
                    if column == to.get_ref() =>
                {
                    (to.span(), "name a column of the table's header")
                }
                LookupError::MissingColumn { .. } | LookupError::DuplicateColumn { .. } => {
                    (from.span(), "name a column of the table's header")
                }
                LookupError::Conflict { .. } => (raw.file.span(), "keep one of them"),
                LookupError::TooLarge => (raw.file.span(), "leave out what the sheets don't have"),
            };
            self.error(span, format!("{file}: {error}"), Some(hint))
        })
    }

    fn formats(&self, span: Range<usize>, patterns: Vec<String>) -> Result<Vec<DateFormat>, Mistake> {
        let parse = |pattern: String| {
            DateFormat::parse(&pattern)
                .map_err(|error| self.error(span.clone(), error.to_string(), Some("one is \"DD.MM.YYYY\"")))
        };
        patterns.into_iter().map(parse).collect()
    }

    fn on_blank(
        &self,
        field: &'static Field,
        on_blank: Option<Spanned<String>>,
        default: Option<Spanned<toml::Value>>,
    ) -> Result<OnBlank, Mistake> {
        let span = on_blank.as_ref().map(Spanned::span);
        let choices = [
            ("omit", OnBlank::Omit),
            ("null", OnBlank::Null),
            ("error", OnBlank::Error),
            ("default", OnBlank::Default(Constant::Null)),
        ];
        let chosen = self.choice(on_blank, &choices)?;
        match (chosen, default, span) {
            (None | Some(OnBlank::Default(_)), Some(default), _) => {
                Ok(OnBlank::Default(self.constant(field, &default)?))
            }
            (Some(_), Some(default), _) => Err(self.error(
                default.span(),
                "a default needs on_blank = \"default\"",
                Some("change on_blank, or remove the default"),
            )),
            (Some(OnBlank::Default(_)), None, Some(span)) => {
                Err(self.error(span, "on_blank = \"default\" needs a default", Some("add default = …")))
            }
            (Some(OnBlank::Omit), None, Some(span)) if field.required => Err(self.error(
                span,
                format!("{} is required and can't be left out", field.name),
                Some("use on_blank = \"error\""),
            )),
            (Some(OnBlank::Null), None, Some(span)) if !field.nullable => {
                Err(self.error(span, format!("{} can't be null", field.name), Some("use on_blank = \"error\"")))
            }
            (Some(chosen), None, _) => Ok(chosen),
            (None, None, _) if field.required => Ok(OnBlank::Error),
            (None, None, _) => Ok(OnBlank::Omit),
        }
    }

    fn constant(&self, field: &'static Field, value: &Spanned<toml::Value>) -> Result<Constant, Mistake> {
        match (field.json, value.get_ref()) {
            (JsonType::String, toml::Value::String(text)) => Ok(Constant::Text(text.clone())),
            (JsonType::DateTime, toml::Value::String(text)) if date::iso::parse(text).is_ok() => {
                Ok(Constant::Text(text.clone()))
            }
            (JsonType::DateTime, toml::Value::Datetime(at)) => Ok(Constant::Text(at.to_string().replace(' ', "T"))),
            (JsonType::Number | JsonType::Integer, toml::Value::Integer(number)) => {
                Ok(Constant::Number(Decimal::from(*number)))
            }
            (JsonType::Number, toml::Value::Float(number)) if number.is_finite() => {
                let number = decimal::parse(&number.to_string());
                let too_long =
                    |error| self.error(value.span(), format!("this number {error}"), Some("use fewer digits"));
                Ok(Constant::Number(number.map_err(too_long)?))
            }
            (JsonType::Boolean, toml::Value::Boolean(boolean)) => Ok(Constant::Boolean(*boolean)),
            (json, other) => {
                let message =
                    format!("{} is a {} in the service, and this is a {}", field.name, what(json), other.type_str());
                let hint = match json {
                    JsonType::String => "write it in quotes",
                    JsonType::DateTime => "write it like \"2026-01-31\" or \"2026-01-31T08:30:00Z\"",
                    JsonType::Boolean => "write true or false",
                    JsonType::Integer => "write a whole number, without quotes",
                    _ => "write it without quotes",
                };
                Err(self.error(value.span(), message, Some(hint)))
            }
        }
    }

    /// Parses a TOML number, or one in quotes with more digits than a double can hold.
    fn decimal(&self, value: &Spanned<toml::Value>, key: &str) -> Result<Decimal, Mistake> {
        let digits = match value.get_ref() {
            toml::Value::Integer(number) => Some(number.to_string()),
            toml::Value::Float(number) if number.is_finite() => Some(number.to_string()),
            toml::Value::String(text) => Some(text.clone()),
            _ => None,
        };
        digits
            .and_then(|digits| number::parse(&digits, None, None).ok())
            .ok_or_else(|| self.error(value.span(), format!("{key} is a number"), Some("such as 100 or 0.01")))
    }
}

fn what(json: JsonType) -> &'static str {
    match json {
        JsonType::String => "text",
        JsonType::DateTime => "date",
        JsonType::Number => "number",
        JsonType::Integer => "whole number",
        JsonType::Boolean => "boolean",
        JsonType::Strings | JsonType::Object(_) | JsonType::Objects(_) => "structure",
    }
}

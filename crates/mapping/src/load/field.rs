//! Checks a field: source, keys for the type of the field, and constants.

use std::collections::HashMap;
use std::ops::Range;

use jiff::tz::TimeZone;
use sheetport_documents::Mistake;
use sheetport_records::{Field, Input, JsonType};
use sheetport_values::check_digit::{SCHEMES, Scheme};
use sheetport_values::date::{self, DateFormat};
use sheetport_values::decimal::{self, Decimal};
use sheetport_values::locale::{Locale, Order, order_of};
use sheetport_values::normalize::folded_word;
use sheetport_values::number::Percent;
use toml::Spanned;

use super::super::builtin;
use super::super::language::Expression;
use super::super::model::{
    Checks, Constant, Damaged, DateRule, FieldRule, LINE_NUMBER, NumberRule, OnBlank, Otherwise, Place, Replace,
    Source, Split, Translate, ValueMap, has_line_number,
};
use super::checker::Checker;
use super::raw::{OneOrMany, RawField, RawLookup, RawMap, RawSplit, column_names};
use crate::lookup::{Lookup, LookupColumns, LookupError, LookupReader, MAX_ENTRIES, TableError};

/// Maximum number of decimals of `round`.
const MAX_DECIMALS: u32 = 28;
/// Maximum number of `replace` steps of a field.
const MAX_REPLACES: usize = 100;
/// Maximum number of columns of a field.
const MAX_COLUMNS: usize = 1000;

/// Keys of `[sheet]` with an effect on all fields.
pub(super) struct SheetDefaults {
    pub locale: Option<Locale>,
    pub order: Option<Order>,
    pub time_zone: Option<TimeZone>,
}

/// A key and its place in the template.
type Key = (&'static str, Range<usize>);

/// What the constants of a field have to satisfy.
struct Constants<'a> {
    field: &'static Field,
    checks: &'a Checks,
}

impl Checker<'_> {
    pub(super) fn field(
        &self,
        (input, field): (&'static Input, &'static Field),
        place: Place,
        span: Range<usize>,
        mut raw: RawField,
        defaults: &SheetDefaults,
    ) -> Option<FieldRule> {
        let fits = self.keep(self.check_keys_for_type(field, &raw));
        let checks = self.checks(&mut raw);
        let constants = Constants { field, checks: &checks };
        let source = self.source(&constants, place, &span, &mut raw);
        let order = raw.locale.as_ref().and_then(|name| order_of(name.get_ref()));
        let locale = raw.locale.as_ref().and_then(|name| self.keep(self.locale(name)));
        let time_zone = raw.time_zone.as_ref().and_then(|name| self.keep(self.time_zone(name)));
        let damaged = [("error", Damaged::Error), ("accept", Damaged::Accept)];
        let damaged = self.keep(self.choice("damaged", raw.damaged, &damaged));
        let resolve = self.resolve(input, field.name, raw.resolve.take());
        let on_blank = self.keep(self.on_blank(&constants, raw.on_blank, raw.default));
        let replaces = raw.replace.map_or_else(Vec::new, |replaces| replaces.0);
        self.keep(self.count("replace", replaces.len(), MAX_REPLACES, span.clone()))?;
        let replaces = replaces.into_iter();
        let replace = replaces.filter_map(|replace| {
            Some(Replace { pattern: self.keep(self.regex(&replace.pattern))?, with: replace.with })
        });
        let replace = replace.collect();
        let split = raw.split.and_then(|split| self.keep(self.split(split)));
        let translates = raw.map.is_some() || raw.lookup.is_some();
        let translate = self.translate(&constants, raw.map, raw.lookup, source.as_ref());
        let otherwise = raw.otherwise.and_then(|value| {
            if !translates && !self.is_incomplete(&[table_of(place), field.name]) {
                let hint = "add map = { … } or lookup = { … }";
                self.note(self.error(value.span(), "otherwise is for a map or a lookup", Some(hint)));
            }
            let has_several_columns = translate.as_ref().is_some_and(Translate::compares_several_columns);
            if has_several_columns && value.get_ref().as_str() == Some("keep") {
                let message = "several columns have no single value to keep";
                self.note(self.error(value.span(), message, Some("write otherwise = \"error\", or a value")));
            }
            self.keep(self.otherwise(&constants, value))
        });
        let percent = [("whole", Percent::Whole), ("fraction", Percent::Fraction)];
        let percent = self.keep(self.choice("percent", raw.percent, &percent)).flatten();
        let number = NumberRule {
            locale: locale.unwrap_or(defaults.locale),
            percent,
            scale: raw.scale.as_ref().and_then(|scale| self.keep(self.decimal(scale, "scale"))),
            round: raw.round.as_ref().and_then(|places| self.keep(self.decimals(places))),
        };
        let date = DateRule {
            formats: raw.format.map_or_else(Vec::new, |formats| self.formats(formats)),
            order: order.or(defaults.order),
            time_zone: time_zone.or_else(|| defaults.time_zone.clone()),
        };
        fits?;
        Some(FieldRule {
            field,
            place,
            is_name: place == Place::Id || field.is_name(),
            has_usual_names: matches!(&source, Some(Source::Column(names)) if builtin::are_usual_names(names)),
            source: source?,
            optional: raw.optional,
            trim: raw.trim,
            clear: raw.clear.map(Spanned::into_inner),
            on_blank: on_blank?,
            replace,
            split,
            translate,
            otherwise: otherwise.unwrap_or(Otherwise::Error),
            number,
            date,
            checks,
            damaged: damaged?.unwrap_or(Damaged::Error),
            resolve,
            is_guess: raw.guess,
            span,
        })
    }

    /// Reads the checks of a field.
    fn checks(&self, raw: &mut RawField) -> Checks {
        let decimal = |key: &str, value: &Option<Spanned<toml::Value>>| {
            value.as_ref().and_then(|value| self.keep(self.decimal(value, key)))
        };
        let (minimum, maximum) = (decimal("minimum", &raw.minimum), decimal("maximum", &raw.maximum));
        if let (Some(minimum), Some(maximum), Some(written)) = (minimum, maximum, &raw.maximum)
            && minimum > maximum
        {
            let message = format!("the maximum {maximum} is less than the minimum {minimum}, so no number is allowed");
            self.note(self.error(written.span(), message, Some("swap them")));
        }
        let schemes: Vec<_> = SCHEMES.iter().map(named).collect();
        Checks {
            allowed: raw.allowed.take().map_or_else(Vec::new, Spanned::into_inner),
            pattern: raw.pattern.as_ref().and_then(|pattern| self.keep(self.regex(pattern))),
            minimum,
            maximum,
            check: self.keep(self.choice("check", raw.check.take(), &schemes)).flatten(),
            is_unique: raw.unique,
        }
    }

    /// Refuses keys for fields of another type.
    fn check_keys_for_type(&self, field: &Field, raw: &RawField) -> Result<(), Mistake> {
        let number_keys = [
            key("scale", &raw.scale),
            key("round", &raw.round),
            key("percent", &raw.percent),
            key("minimum", &raw.minimum),
            key("maximum", &raw.maximum),
        ];
        let date_keys = [key("format", &raw.format), key("time_zone", &raw.time_zone)];
        let text_keys = [key("check", &raw.check)];
        let is_number = field.json.is_number();
        let is_date = field.json == JsonType::DateTime;
        let misplaced = |keys: &[Option<Key>], fits: bool| keys.iter().flatten().next().cloned().filter(|_| !fits);
        for (misplaced, types) in [
            (misplaced(&number_keys, is_number), "numbers"),
            (misplaced(&date_keys, is_date), "dates"),
            (misplaced(&text_keys, field.json == JsonType::String), "texts"),
        ] {
            if let Some((key, span)) = misplaced {
                let message = format!("{key} is for {types}, and {} is a {}", field.name, type_name(field.json));
                return Err(self.error(span, message, Some(format!("remove {key}"))));
            }
        }
        match key("clear", &raw.clear) {
            Some((_, span)) if !field.nullable => Err(self.error(
                span,
                format!("{} can't be null, so it cannot be cleared", field.name),
                Some("remove clear"),
            )),
            _ => Ok(()),
        }
    }

    /// Returns the source of a field, or `None` after noting mistakes.
    fn source(
        &self,
        constants: &Constants<'_>,
        place: Place,
        span: &Range<usize>,
        raw: &mut RawField,
    ) -> Option<Source> {
        let field = constants.field;
        let sources = [
            key("column", &raw.column),
            key("columns", &raw.columns),
            key("text", &raw.text),
            key("value", &raw.value),
        ];
        let is_incomplete = self.is_incomplete(&[table_of(place), field.name]);
        let mut sources = sources.into_iter().flatten();
        let first = sources.next();
        if let (Some((first, _)), Some((second, span))) = (&first, sources.next()) {
            let message = format!("{} has both a {first} and a {second}", field.name);
            return self.keep(Err(self.error(span, message, Some("keep one of them"))));
        }
        let join = raw.join.take();
        if let Some(join) = join.as_ref().filter(|_| raw.columns.is_none() && !is_incomplete) {
            let hint = "add columns = [\"…\", \"…\"]";
            return self.keep(Err(self.error(join.span(), "join is for several columns", Some(hint))));
        }
        let source = if let Some(columns) = raw.column.take() {
            Some(Source::Column(column_names(columns.into_inner())))
        } else if let Some(columns) = raw.columns.take() {
            self.keep(self.count("columns", columns.get_ref().0.len(), MAX_COLUMNS, columns.span()))?;
            let with = join.map_or_else(|| " ".to_owned(), Spanned::into_inner);
            Some(Source::Joined { columns: columns.into_inner().0.into_iter().map(column_names).collect(), with })
        } else if let Some(text) = raw.text.take() {
            let expression = Box::new(self.keep(self.expression(&text, Expression::parse))?);
            Some(Source::Text { expression, written: text.into_inner() })
        } else if let Some(value) = raw.value.take() {
            self.keep(self.constant(constants, &value)).map(Source::Constant)
        } else if is_incomplete {
            // The source is among the wrong keys.
            None
        } else {
            let hint = "add column = \"…\" for a column of the sheet, text = \"{{ … }}\" for several, or value = … for a constant";
            self.keep(Err(self.error(span.clone(), format!("{} has no source", field.name), Some(hint))))
        };
        let is_numbered = |source: &Source| source.columns().iter().any(|names| has_line_number(names));
        if place != Place::Line && source.as_ref().is_some_and(is_numbered) {
            let (_, span) = first?;
            let message = format!("{LINE_NUMBER} stands for the number of a line, but {} is not in a line", field.name);
            let hint = "write the name of one column, or move the field to [lines]";
            return self.keep(Err(self.error(span, message, Some(hint))));
        }
        source
    }

    fn split(&self, split: RawSplit) -> Result<Split, Mistake> {
        if split.at.get_ref().is_empty() {
            let hint = "at is the text between the parts, such as \"/\"";
            return Err(self.error(split.at.span(), "a split needs a text to split at", Some(hint)));
        }
        if *split.take.get_ref() == 0 {
            let hint = "1 is the first part, -1 the last";
            return Err(self.error(split.take.span(), "parts are counted from 1", Some(hint)));
        }
        Ok(Split { at: split.at.into_inner(), take: split.take.into_inner() })
    }

    fn translate(
        &self,
        constants: &Constants<'_>,
        map: Option<Spanned<RawMap>>,
        lookup: Option<Spanned<RawLookup>>,
        source: Option<&Source>,
    ) -> Option<Translate> {
        match (map, lookup) {
            (Some(_), Some(lookup)) => {
                let message = format!("{} has both a map and a lookup", constants.field.name);
                self.keep(Err(self.error(lookup.span(), message, Some("keep one of them"))))
            }
            (Some(map), None) => Some(Translate::Map(self.map(constants, map.into_inner()))),
            (None, Some(lookup)) => self.keep(self.lookup(lookup.into_inner(), source)).map(Translate::Lookup),
            (None, None) => None,
        }
    }

    fn map(&self, constants: &Constants<'_>, raw: RawMap) -> ValueMap {
        let mut raw: Vec<(Spanned<String>, Spanned<toml::Value>)> = raw.into_iter().collect();
        raw.sort_by_key(|(from, _)| from.span().start);
        let mut entries: Vec<(String, Constant)> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (from, to) in raw {
            let Some(to) = self.keep(self.constant(constants, &to)) else { continue };
            let (span, from) = (from.span(), from.into_inner());
            if from.trim().is_empty() {
                let hint = "write on_blank = \"null\", or default = …";
                let message = format!("blank cells of {} are not translated by its map", constants.field.name);
                self.note(self.error(span, message, Some(hint)));
                continue;
            }
            match known.get(&folded_word(&from)).and_then(|index| entries.get(*index)) {
                Some((other, value)) if *value != to => {
                    let message =
                        format!("'{other}' and '{from}' are the same word, because case and width do not matter");
                    self.note(self.error(span, message, Some("keep one of them")));
                }
                _ => {
                    known.entry(folded_word(&from)).or_insert(entries.len());
                    entries.push((from, to));
                }
            }
        }
        ValueMap::new(entries)
    }

    fn lookup(&self, raw: RawLookup, source: Option<&Source>) -> Result<Lookup, Mistake> {
        let RawLookup { file, sheet, from, to } = &raw;
        let columns = LookupColumns { from: from.get_ref().0.clone(), to: to.get_ref().clone() };
        let parts = match source {
            Some(Source::Joined { columns, .. }) => columns.len(),
            _ => 1,
        };
        if columns.from.is_empty() || columns.from.len() > 1 && columns.from.len() != parts {
            let message = format!("the lookup compares {} columns, but the field has {parts}", columns.from.len());
            let hint = "write one column of the field for each of from: columns = [\"…\", \"…\"]";
            return Err(self.error(from.span(), message, Some(hint)));
        }
        let file = match (file, sheet) {
            (Some(file), None) => file,
            (None, Some(sheet)) => return Ok(Lookup::pending(columns, sheet.get_ref().clone())),
            (_, Some(sheet)) => {
                let message = "a lookup has either a file or a sheet";
                return Err(self.error(sheet.span(), message, Some("keep one of them")));
            }
            (None, None) => {
                let hint = "add file = \"…\" for a file beside the template, or sheet = \"…\" for a sheet of the same workbook";
                return Err(self.error(to.span(), "the lookup has no table", Some(hint)));
            }
        };
        let name = file.get_ref();
        (self.tables)(name, LookupReader::new(columns, MAX_ENTRIES)).map_err(|error| {
            let (span, hint) = match &error {
                TableError::Unreadable(_) => (file.span(), "the path is relative to the template's folder"),
                TableError::Unusable(fault) => match fault {
                    LookupError::MissingColumn { column, .. } | LookupError::DuplicateColumn { column } => {
                        let span = if column == to.get_ref() { to.span() } else { from.span() };
                        (span, "use the name of a column of the table")
                    }
                    LookupError::Conflict { .. } => (file.span(), "keep one of them"),
                    LookupError::TooLarge => (file.span(), "remove entries that the sheets don't have"),
                },
            };
            let message = match &error {
                TableError::Unreadable(_) => error.to_string(),
                TableError::Unusable(fault) => format!("{name}: {fault}"),
            };
            self.error(span, message, Some(hint))
        })
    }

    /// Checks the handling of values that are missing in a map or lookup.
    fn otherwise(&self, constants: &Constants<'_>, value: Spanned<toml::Value>) -> Result<Otherwise, Mistake> {
        match value.get_ref() {
            toml::Value::String(word) if word == "error" => Ok(Otherwise::Error),
            toml::Value::String(word) if word == "keep" => Ok(Otherwise::Keep),
            _ => self.constant(constants, &value).map(Otherwise::Value),
        }
    }

    fn formats(&self, patterns: Spanned<OneOrMany<String>>) -> Vec<DateFormat> {
        let span = patterns.span();
        let parse = |pattern: String| {
            DateFormat::parse(&pattern)
                .map_err(|error| self.error(span.clone(), error.to_string(), Some("an example is \"DD.MM.YYYY\"")))
        };
        patterns.into_inner().0.into_iter().filter_map(|pattern| self.keep(parse(pattern))).collect()
    }

    fn on_blank(
        &self,
        constants: &Constants<'_>,
        on_blank: Option<Spanned<String>>,
        default: Option<Spanned<toml::Value>>,
    ) -> Result<OnBlank, Mistake> {
        let field = constants.field;
        let span = on_blank.as_ref().map(Spanned::span);
        let choices = [
            ("omit", OnBlank::Omit),
            ("null", OnBlank::Null),
            ("error", OnBlank::Error),
            ("default", OnBlank::Default(Constant::Null)),
        ];
        let chosen = self.choice("on_blank", on_blank, &choices)?;
        match (chosen, default, span) {
            (None | Some(OnBlank::Default(_)), Some(default), _) => {
                Ok(OnBlank::Default(self.constant(constants, &default)?))
            }
            (Some(_), Some(default), _) => {
                let hint = "change on_blank, or remove the default";
                Err(self.error(default.span(), "a default needs on_blank = \"default\"", Some(hint)))
            }
            (Some(OnBlank::Default(_)), None, Some(span)) => {
                Err(self.error(span, "on_blank = \"default\" needs a default", Some("add default = …")))
            }
            (Some(OnBlank::Omit), None, Some(span)) if field.required => {
                let message = format!("{} is required and cannot be left out", field.name);
                Err(self.error(span, message, Some("use on_blank = \"error\"")))
            }
            (Some(OnBlank::Null), None, Some(span)) if !field.nullable => {
                Err(self.error(span, format!("{} can't be null", field.name), Some("use on_blank = \"error\"")))
            }
            (Some(chosen), None, _) => Ok(chosen),
            (None, None, _) if field.required => Ok(OnBlank::Error),
            (None, None, _) => Ok(OnBlank::Omit),
        }
    }

    /// Reads a constant. Fails if the checks of its field refuse the constant. Constants of a base template are checked in each
    /// row instead, because the template may have narrowed the checks.
    fn constant(&self, constants: &Constants<'_>, value: &Spanned<toml::Value>) -> Result<Constant, Mistake> {
        let Constants { field, checks } = constants;
        let constant = self.typed(field, value)?;
        let is_in_base = self.files.is_in_base(&value.span());
        let checked = if is_in_base { Ok(()) } else { constant.check(checks) };
        checked.map_err(|cause| {
            let message = format!("this value of {} is refused by its own checks: it {}", field.name, cause.message());
            self.error(value.span(), message, Some("change the value, or the check"))
        })?;
        Ok(constant)
    }

    /// Reads a constant of the field's type.
    fn typed(&self, field: &Field, value: &Spanned<toml::Value>) -> Result<Constant, Mistake> {
        match (field.json, value.get_ref()) {
            (JsonType::String, toml::Value::String(text)) if field.is_currency() => {
                Ok(Constant::Text(self.currency(text, value.span())?.to_string()))
            }
            (JsonType::String, toml::Value::String(text)) => Ok(Constant::Text(text.clone())),
            (JsonType::DateTime, toml::Value::String(text)) if date::iso::parse(text).is_ok() => {
                Ok(Constant::Text(text.clone()))
            }
            (JsonType::DateTime, toml::Value::Datetime(at)) => Ok(Constant::Text(at.to_string().replace(' ', "T"))),
            (JsonType::Number | JsonType::Integer, toml::Value::Integer(number)) => {
                Ok(Constant::Number(Decimal::from(*number)))
            }
            (JsonType::Number, toml::Value::Float(number)) if number.is_finite() => {
                let too_long =
                    |error| self.error(value.span(), format!("this number {error}"), Some("use fewer digits"));
                decimal::parse(&number.to_string()).map(Constant::Number).map_err(too_long)
            }
            (JsonType::Boolean, toml::Value::Boolean(boolean)) => Ok(Constant::Boolean(*boolean)),
            (json, other) => {
                let (name, wanted, found) = (field.name, type_name(json), kind_of(other));
                let message = format!("the service expects a {wanted} for {name}, but this is a {found}");
                let hint = match json {
                    JsonType::String => "write it in quotes",
                    JsonType::DateTime => "write it like \"2026-01-31\" or \"2026-01-31T08:30:00Z\"",
                    JsonType::Boolean => "write true or false",
                    JsonType::Integer => "write a whole number, without quotes",
                    JsonType::Number | JsonType::Strings | JsonType::Object(_) | JsonType::Objects(_) => {
                        "write it without quotes"
                    }
                };
                Err(self.error(value.span(), message, Some(hint)))
            }
        }
    }

    /// Parses a TOML number, or a quoted number with more digits than a float can hold.
    fn decimal(&self, value: &Spanned<toml::Value>, key: &str) -> Result<Decimal, Mistake> {
        let digits = match value.get_ref() {
            toml::Value::Integer(number) => Some(number.to_string()),
            toml::Value::Float(number) if number.is_finite() => Some(number.to_string()),
            toml::Value::String(text) => Some(text.clone()),
            _ => None,
        };
        digits
            .and_then(|digits| decimal::parse(&digits).ok())
            .ok_or_else(|| self.error(value.span(), format!("{key} must be a number"), Some("such as 100 or 0.01")))
    }

    fn decimals(&self, count: &Spanned<i64>) -> Result<u32, Mistake> {
        u32::try_from(*count.get_ref()).ok().filter(|count| *count <= MAX_DECIMALS).ok_or_else(|| {
            let message = format!("round must be a number of decimals from 0 to {MAX_DECIMALS}");
            self.error(count.span(), message, Some("2 is usual for prices"))
        })
    }
}

fn named(scheme: &'static Scheme) -> (&'static str, &'static Scheme) {
    (scheme.name, scheme)
}

/// Returns the table of a template with the fields of a place.
fn table_of(place: Place) -> &'static str {
    match place {
        Place::Line => "lines",
        Place::Id | Place::Record | Place::Option | Place::Command => "fields",
    }
}

fn key<T>(name: &'static str, value: &Option<Spanned<T>>) -> Option<Key> {
    value.as_ref().map(|value| (name, value.span()))
}

fn kind_of(value: &toml::Value) -> &'static str {
    match value {
        toml::Value::String(_) => "text",
        toml::Value::Integer(_) | toml::Value::Float(_) => "number",
        toml::Value::Boolean(_) => "boolean",
        toml::Value::Datetime(_) => "date",
        toml::Value::Array(_) => "list",
        toml::Value::Table(_) => "table",
    }
}

fn type_name(json: JsonType) -> &'static str {
    match json {
        JsonType::String => "text",
        JsonType::DateTime => "date",
        JsonType::Number => "number",
        JsonType::Integer => "whole number",
        JsonType::Boolean => "boolean",
        JsonType::Strings | JsonType::Object(_) | JsonType::Objects(_) => "structure",
    }
}

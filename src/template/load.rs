//! Reading a template: TOML to a checked [`Template`], or the first mistake with its line and the remedy.

use std::collections::BTreeMap;
use std::ops::Range;

use regex::Regex;
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use toml::Spanned;

use super::error::Error;
use super::locale::{self, Locale};
use super::model::{
    ColumnName, Constant, Damaged, Example, ExampleCell, FieldRule, HeaderRow, OnBlank, Percent, SheetRules,
    SheetSelect, SkipRule, Source, Template,
};
use super::nearest::nearest;
use crate::records::{Field, Input, JsonType, RecordKind};
use crate::sheet::Options;

/// Checks the TOML in `source`; `name` is what messages call the template.
pub fn load(name: &str, source: &str) -> Result<Template, Error> {
    let raw: RawTemplate = toml::from_str(source).map_err(|error| syntax_error(name, source, &error))?;
    Checker { name, source }.template(raw)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTemplate {
    record: Spanned<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    sheet: RawSheet,
    fields: BTreeMap<Spanned<String>, Spanned<RawField>>,
    #[serde(default)]
    examples: Vec<Spanned<RawExample>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSheet {
    name: Option<String>,
    index: Option<Spanned<i64>>,
    header: Option<Spanned<toml::Value>>,
    locale: Option<Spanned<String>>,
    skip_where: Option<RawSkip>,
    delimiter: Option<Spanned<String>>,
    encoding: Option<Spanned<String>>,
    quote: Option<Spanned<String>>,
    escape: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSkip {
    column: Spanned<RawColumn>,
    matches: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawField {
    column: Option<Spanned<RawColumns>>,
    value: Option<Spanned<toml::Value>>,
    #[serde(default)]
    optional: bool,
    #[serde(default)]
    trim: bool,
    map: Option<toml::map::Map<String, toml::Value>>,
    on_blank: Option<Spanned<String>>,
    default: Option<Spanned<toml::Value>>,
    round: Option<Spanned<i64>>,
    locale: Option<Spanned<String>>,
    percent: Option<Spanned<String>>,
    pattern: Option<Spanned<String>>,
    damaged: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawExample {
    row: toml::map::Map<String, toml::Value>,
    sends: toml::map::Map<String, toml::Value>,
}

struct RawColumn(ColumnName);
struct RawColumns(Vec<ColumnName>);

struct Checker<'a> {
    name: &'a str,
    source: &'a str,
}

impl Checker<'_> {
    fn template(&self, raw: RawTemplate) -> Result<Template, Error> {
        let known = RecordKind::ALL.iter().map(|kind| kind.name());
        let record = RecordKind::from_name(raw.record.get_ref())
            .ok_or_else(|| self.unknown(raw.record.span(), "kind of record", raw.record.get_ref(), known))?;
        let input = record.input();
        let sheet_locale = raw.sheet.locale.as_ref().map(|name| self.locale(name)).transpose()?;
        let mut fields = Vec::new();
        for (name, rule) in raw.fields {
            let field = input.field(name.get_ref()).ok_or_else(|| {
                self.unknown(
                    name.span(),
                    &format!("field of {record}"),
                    name.get_ref(),
                    input.fields.iter().map(|f| f.name),
                )
            })?;
            fields.push(self.field(field, name.span(), rule.into_inner(), sheet_locale)?);
        }
        fields.sort_by_key(|rule| input.fields.iter().position(|field| field.name == rule.field.name));
        if let Some(missing) =
            input.fields.iter().find(|field| field.required && !fields.iter().any(|rule| rule.field.name == field.name))
        {
            let hint = format!("add a table [fields.{}] with column = \"…\": {}", missing.name, missing.doc);
            return Err(self.error(
                raw.record.span(),
                format!("{record} needs the field {}", missing.name),
                Some(hint),
            ));
        }
        Ok(Template {
            name: self.name.to_owned(),
            source: self.source.to_owned(),
            record,
            description: raw.description,
            sheet: self.sheet(raw.sheet)?,
            fields,
            examples: raw.examples.into_iter().map(|example| self.example(example, input)).collect::<Result<_, _>>()?,
        })
    }

    fn sheet(&self, raw: RawSheet) -> Result<SheetRules, Error> {
        let text = self.text(&raw)?;
        let select = match (raw.name, raw.index) {
            (Some(_), Some(index)) => {
                return Err(self.error(
                    index.span(),
                    "a sheet has a name or an index here, not both",
                    Some("keep one of them"),
                ));
            }
            (Some(name), None) if name == "*" => SheetSelect::All,
            (Some(name), None) => SheetSelect::Name(name),
            (None, Some(index)) => SheetSelect::Index(self.count(&index, "the first sheet is 1")?),
            (None, None) => SheetSelect::FirstThatFits,
        };
        let header = match raw.header.as_ref().map(|header| (header.span(), header.get_ref())) {
            None => HeaderRow::Auto,
            Some((_, toml::Value::String(text))) if text == "auto" => HeaderRow::Auto,
            Some((_, toml::Value::Integer(row))) if *row > 0 => HeaderRow::Number(row.unsigned_abs()),
            Some((span, _)) => {
                return Err(self.error(
                    span,
                    "header is \"auto\" or the header's row number",
                    Some("the first row is 1"),
                ));
            }
        };
        let skip_where = match raw.skip_where {
            None => None,
            Some(skip) => Some(SkipRule { column: skip.column.into_inner().0, matches: self.regex(&skip.matches)? }),
        };
        Ok(SheetRules { select, header, skip_where, text })
    }

    /// How a text file is to be read: the same words as the flags know.
    fn text(&self, raw: &RawSheet) -> Result<Options, Error> {
        let mark = |key: &Option<Spanned<String>>, read: fn(&str) -> Result<Option<u8>, String>| {
            let read = |word: &Spanned<String>| {
                read(word.get_ref()).map_err(|reason| self.error(word.span(), reason, None::<String>))
            };
            key.as_ref().map(read).transpose()
        };
        if let Some(label) = raw.encoding.as_ref().filter(|label| !Options::is_encoding(label.get_ref())) {
            return Err(self.error(
                label.span(),
                format!("'{}' is no encoding", label.get_ref()),
                Some("one is \"utf-8\", another \"windows-1252\""),
            ));
        }
        Ok(Options {
            delimiter: mark(&raw.delimiter, |word| Options::delimiter_named(word).map(Some))?.flatten(),
            encoding: raw.encoding.as_ref().map(|label| label.get_ref().clone()),
            quote: mark(&raw.quote, Options::mark_named)?,
            escape: mark(&raw.escape, Options::mark_named)?,
        })
    }

    fn field(
        &self,
        field: &'static Field,
        span: Range<usize>,
        raw: RawField,
        sheet_locale: Option<Locale>,
    ) -> Result<FieldRule, Error> {
        let source = match (raw.column, raw.value) {
            (Some(columns), None) => Source::Column(columns.into_inner().0),
            (None, Some(value)) => Source::Constant(self.constant(field, &value)?),
            (Some(_), Some(value)) => {
                return Err(self.error(
                    value.span(),
                    format!("{} has both a column and a value", field.name),
                    Some("keep one of them"),
                ));
            }
            (None, None) => {
                let hint =
                    "say where it comes from: column = \"…\" for a column of the sheet, value = … for a constant";
                return Err(self.error(span, format!("{} has neither a column nor a value", field.name), Some(hint)));
            }
        };
        let on_blank = self.on_blank(field, raw.on_blank, raw.default)?;
        let map = raw.map.unwrap_or_default().into_iter().map(|(from, to)| {
            let to = self.constant(field, &Spanned::new(span.clone(), to))?;
            Ok((from, to))
        });
        let round = match raw.round {
            None => None,
            Some(places) if field.json != JsonType::Number => {
                return Err(self.error(
                    places.span(),
                    format!("{} is text, which can't be rounded", field.name),
                    Some("remove round"),
                ));
            }
            Some(places) => match u32::try_from(*places.get_ref()) {
                Ok(count) if count <= 28 => Some(count),
                _ => {
                    return Err(self.error(
                        places.span(),
                        "round is a number of decimals from 0 to 28",
                        None::<String>,
                    ));
                }
            },
        };
        Ok(FieldRule {
            field,
            source,
            optional: raw.optional,
            trim: raw.trim,
            map: map.collect::<Result<_, Error>>()?,
            on_blank,
            round,
            locale: raw.locale.as_ref().map(|name| self.locale(name)).transpose()?.or(sheet_locale),
            percent: self.choice(raw.percent, &[("whole", Percent::Whole), ("fraction", Percent::Fraction)])?,
            pattern: raw.pattern.as_ref().map(|pattern| self.regex(pattern)).transpose()?,
            damaged: self
                .choice(raw.damaged, &[("error", Damaged::Error), ("accept", Damaged::Accept)])?
                .unwrap_or(Damaged::Error),
            span,
        })
    }

    fn on_blank(
        &self,
        field: &'static Field,
        on_blank: Option<Spanned<String>>,
        default: Option<Spanned<toml::Value>>,
    ) -> Result<OnBlank, Error> {
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

    fn constant(&self, field: &'static Field, value: &Spanned<toml::Value>) -> Result<Constant, Error> {
        match (field.json, value.get_ref()) {
            (JsonType::String, toml::Value::String(text)) => Ok(Constant::Text(text.clone())),
            (JsonType::Number, toml::Value::Integer(number)) => Ok(Constant::Number(number.to_string())),
            (JsonType::Number, toml::Value::Float(number)) if number.is_finite() => {
                Ok(Constant::Number(number.to_string()))
            }
            (json, other) => {
                let message = format!("{} is a {json} in the service, and this is a {}", field.name, other.type_str());
                let hint = match json {
                    JsonType::String => "write it in quotes",
                    _ => "write it without quotes",
                };
                Err(self.error(value.span(), message, Some(hint)))
            }
        }
    }

    fn example(&self, raw: Spanned<RawExample>, input: &'static Input) -> Result<Example, Error> {
        let span = raw.span();
        let raw = raw.into_inner();
        let mut row = Vec::new();
        for (column, value) in raw.row {
            let cell = match value {
                toml::Value::String(text) => ExampleCell::Text(text),
                toml::Value::Integer(number) => ExampleCell::Number(number as f64),
                toml::Value::Float(number) => ExampleCell::Number(number),
                toml::Value::Boolean(boolean) => ExampleCell::Boolean(boolean),
                other => {
                    let message = format!(
                        "an example's cell is text, a number or a boolean, and '{column}' is a {}",
                        other.type_str()
                    );
                    return Err(self.error(span, message, None::<String>));
                }
            };
            row.push((column, cell));
        }
        let mut sends = serde_json::Map::new();
        for (name, value) in raw.sends {
            if input.field(&name).is_none() {
                return Err(self.unknown(
                    span,
                    &format!("field of {}", input.name),
                    &name,
                    input.fields.iter().map(|f| f.name),
                ));
            }
            let json = serde_json::to_value(&value)
                .map_err(|error| self.error(span.clone(), error.to_string(), None::<String>))?;
            sends.insert(name, json);
        }
        Ok(Example { row, sends, span })
    }

    fn locale(&self, name: &Spanned<String>) -> Result<Locale, Error> {
        locale::find(name.get_ref()).ok_or_else(|| self.unknown(name.span(), "locale", name.get_ref(), locale::names()))
    }

    fn regex(&self, pattern: &Spanned<String>) -> Result<Regex, Error> {
        Regex::new(pattern.get_ref()).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            self.error(
                pattern.span(),
                format!("this is not a regular expression: {reason}"),
                Some("in TOML, 'single quotes' keep backslashes as they are"),
            )
        })
    }

    fn count(&self, number: &Spanned<i64>, hint: &str) -> Result<usize, Error> {
        match usize::try_from(*number.get_ref()) {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(self.error(number.span(), "this is a number from 1", Some(hint))),
        }
    }

    fn choice<T: Clone>(
        &self,
        chosen: Option<Spanned<String>>,
        choices: &[(&'static str, T)],
    ) -> Result<Option<T>, Error> {
        let Some(chosen) = chosen else { return Ok(None) };
        match choices.iter().find(|(name, _)| name == chosen.get_ref()) {
            Some((_, value)) => Ok(Some(value.clone())),
            None => {
                Err(self.unknown(chosen.span(), "choice here", chosen.get_ref(), choices.iter().map(|(name, _)| *name)))
            }
        }
    }

    fn unknown<'a>(
        &self,
        span: Range<usize>,
        what: &str,
        word: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Error {
        let known: Vec<&str> = known.into_iter().collect();
        self.error(span, format!("'{word}' is no {what}"), Some(suggestion(word, &known)))
    }

    fn error(&self, span: Range<usize>, message: impl Into<String>, hint: Option<impl Into<String>>) -> Error {
        Error {
            template: self.name.to_owned(),
            message: message.into(),
            hint: hint.map(Into::into),
            place: Some((self.source.to_owned(), span)),
        }
    }
}

fn suggestion(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None => format!("it is one of: {}", known.join(", ")),
    }
}

/// Turns the parser's own words into ours: an unknown key gets the nearest known one.
fn syntax_error(name: &str, source: &str, error: &toml::de::Error) -> Error {
    let message = error.message().to_owned();
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (message, hint) = match quoted.split_first() {
        Some((word, known)) if message.starts_with("unknown field") && !known.is_empty() => {
            (format!("'{word}' is no key here"), Some(suggestion(word, known)))
        }
        Some((word, _)) if message.starts_with("missing field") => {
            (format!("the key {word} is missing"), Some(format!("add {word} = … here")))
        }
        _ => (message, None),
    };
    // A key that is missing from the whole file is reported at its very beginning, which points at nothing.
    let span = error.span().unwrap_or(0..0);
    Error { template: name.to_owned(), message, hint, place: Some((source.to_owned(), span)) }
}

impl<'de> Deserialize<'de> for RawColumn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct One;
        impl Visitor<'_> for One {
            type Value = RawColumn;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a column's header, its letters or its number")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<RawColumn, E> {
                if name.trim().is_empty() {
                    return Err(E::custom("a column's name can't be blank"));
                }
                Ok(RawColumn(ColumnName::Named(name.to_owned())))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<RawColumn, E> {
                match usize::try_from(number) {
                    Ok(number @ 1..=16_384) => Ok(RawColumn(ColumnName::Number(number))),
                    _ => Err(E::custom("columns are counted from 1 to 16384")),
                }
            }
        }
        deserializer.deserialize_any(One)
    }
}

impl<'de> Deserialize<'de> for RawColumns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = RawColumns;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a column, or a list of columns of which the first that is there counts")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<RawColumns, E> {
                RawColumn::deserialize(de::value::StrDeserializer::new(name)).map(|column| RawColumns(vec![column.0]))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<RawColumns, E> {
                RawColumn::deserialize(de::value::I64Deserializer::new(number)).map(|column| RawColumns(vec![column.0]))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<RawColumns, A::Error> {
                let mut columns = Vec::new();
                while let Some(RawColumn(column)) = list.next_element()? {
                    columns.push(column);
                }
                if columns.is_empty() {
                    return Err(de::Error::custom("a list of columns can't be empty"));
                }
                Ok(RawColumns(columns))
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

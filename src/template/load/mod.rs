//! Reading a template: TOML to a checked [`Template`], or the first mistake with its line and the remedy.

mod example;
mod field;
mod raw;
mod sheet;

use std::collections::BTreeMap;
use std::ops::Range;

use regex::Regex;
use toml::Spanned;

use self::field::Defaults;
use self::raw::{RawField, RawGroup, RawTemplate};
use super::model::{Duplicates, FieldRule, Group, GroupRows, OnBlank, Place, Template};
use super::value::date;
use super::value::locale::{self, Locale};
use crate::diagnostics::{Mistake, TomlFile, suggestion};
use crate::records::{Field, Input, RecordKind};

/// Gives the rows of a table that a template names, each at its place and blank ones as none, or says why it can't. Templates are read without
/// knowing where they come from, so the caller knows where such a file lies.
pub type Tables<'a> = &'a dyn Fn(&str) -> Result<Vec<Vec<String>>, String>;

/// For templates that have no file beside them.
pub fn no_tables(name: &str) -> Result<Vec<Vec<String>>, String> {
    Err(format!("{name} can't be read: this template has no folder of its own"))
}

/// Checks the TOML in `source`; `name` is what messages call the template.
pub fn load(name: &str, source: &str, tables: Tables<'_>) -> Result<Template, Mistake> {
    let file = TomlFile { what: "template", name, source };
    let raw: RawTemplate = toml::from_str(source).map_err(|error| file.syntax(&error))?;
    Checker { file, tables }.template(raw)
}

struct Checker<'a> {
    file: TomlFile<'a>,
    tables: Tables<'a>,
}

impl Checker<'_> {
    fn template(&self, raw: RawTemplate) -> Result<Template, Mistake> {
        let kinds = RecordKind::ALL.iter().map(|kind| kind.name());
        let record = RecordKind::from_name(raw.record.get_ref())
            .ok_or_else(|| self.unknown(raw.record.span(), "kind of record", raw.record.get_ref(), kinds))?;
        let input = record.input();
        let defaults = Defaults {
            locale: raw.sheet.locale.as_ref().map(|name| self.locale(name)).transpose()?,
            order: raw.sheet.locale.as_ref().and_then(|name| date::order_of(name.get_ref())),
            time_zone: raw.sheet.time_zone.as_ref().map(|name| self.time_zone(name)).transpose()?,
        };
        let fields = self.fields(record, raw.fields, &defaults)?;
        let lines = self.lines(record, raw.lines, &defaults)?;
        let group = raw.group.map(|group| self.group(record, group)).transpose()?;
        self.require(input, &raw.record, &fields, &lines)?;
        let duplicates = self.choice(
            raw.duplicates,
            &[("error", Duplicates::Error), ("first", Duplicates::First), ("last", Duplicates::Last)],
        )?;
        let fill_span = raw.sheet.fill_down.as_ref().map_or(0..0, Spanned::span);
        let template = Template {
            name: self.file.name.to_owned(),
            source: self.file.source.to_owned(),
            record,
            description: raw.description,
            sheet: self.sheet(raw.sheet)?,
            group,
            duplicates: duplicates.unwrap_or(Duplicates::Error),
            fields,
            lines,
            examples: raw.examples.into_iter().map(|example| self.example(example, input)).collect::<Result<_, _>>()?,
        };
        self.check_filled(&template, fill_span)?;
        Ok(template)
    }

    fn fields(
        &self,
        record: RecordKind,
        raw: BTreeMap<Spanned<String>, Spanned<RawField>>,
        defaults: &Defaults,
    ) -> Result<Vec<FieldRule>, Mistake> {
        let input = record.input();
        let mut rules = Vec::new();
        for (name, rule) in raw {
            let Some(field) = input.field(name.get_ref()) else {
                if let Some((lines, _)) = input.lines().filter(|(_, fields)| has(fields, name.get_ref())) {
                    let message = format!("{} is a field of the {}'s {}", name.get_ref(), record, lines.name);
                    let hint = format!("write [lines.{}] instead", name.get_ref());
                    return Err(self.error(name.span(), message, Some(hint)));
                }
                let known = input.mappable().map(|field| field.name);
                return Err(self.unknown(name.span(), &format!("field of {record}"), name.get_ref(), known));
            };
            let place = match field.name {
                name if input.id.as_ref().is_some_and(|id| id.name == name) => Place::Id,
                name if input.options().any(|option| option.name == name) => Place::Option,
                _ => Place::Record,
            };
            rules.push(self.field(field, place, name.span(), rule.into_inner(), defaults)?);
        }
        rules.sort_by_key(|rule| input.mappable().position(|field| field.name == rule.field.name));
        Ok(rules)
    }

    fn lines(
        &self,
        record: RecordKind,
        raw: BTreeMap<Spanned<String>, Spanned<RawField>>,
        defaults: &Defaults,
    ) -> Result<Vec<FieldRule>, Mistake> {
        let Some((_, fields)) = record.input().lines() else {
            return match raw.into_keys().next() {
                None => Ok(Vec::new()),
                Some(name) => {
                    let message = format!("a record of the kind {record} has no lines");
                    let hint = format!("write [fields.{}] instead", name.get_ref());
                    Err(self.error(name.span(), message, Some(hint)))
                }
            };
        };
        let mut rules = Vec::new();
        for (name, rule) in raw {
            let Some(field) = fields.iter().find(|field| field.name == name.get_ref()) else {
                let what = format!("field of a line of {record}");
                return Err(self.unknown(name.span(), &what, name.get_ref(), fields.iter().map(|field| field.name)));
            };
            rules.push(self.field(field, Place::Line, name.span(), rule.into_inner(), defaults)?);
        }
        rules.sort_by_key(|rule| fields.iter().position(|field| field.name == rule.field.name));
        Ok(rules)
    }

    fn group(&self, record: RecordKind, raw: Spanned<RawGroup>) -> Result<Group, Mistake> {
        let span = raw.span();
        if record.input().lines().is_none() {
            let message = format!("a record of the kind {record} is made of one row");
            return Err(self.error(span, message, Some("remove [group]")));
        }
        let raw = raw.into_inner();
        let rows = self.choice(raw.rows, &[("anywhere", GroupRows::Anywhere), ("together", GroupRows::Together)])?;
        let blank_is_above = self.choice(raw.on_blank, &[("error", false), ("above", true)])?;
        Ok(Group {
            by: raw.by.into_inner().0,
            rows: rows.unwrap_or(GroupRows::Anywhere),
            blank_is_above: blank_is_above.unwrap_or(false),
            span,
        })
    }

    /// What the service requires must be said by the template.
    fn require(
        &self,
        input: &'static Input,
        record: &Spanned<String>,
        fields: &[FieldRule],
        lines: &[FieldRule],
    ) -> Result<(), Mistake> {
        let missing = |wanted: &Field, rules: &[FieldRule], table: &str| {
            if !wanted.required || rules.iter().any(|rule| rule.field.name == wanted.name) {
                return Ok(());
            }
            let hint = format!("add a table [{table}.{}] with column = \"…\": {}", wanted.name, wanted.doc);
            let line = if table == "lines" { "a line of " } else { "" };
            Err(self.error(record.span(), format!("{line}{} needs the field {}", input.name, wanted.name), Some(hint)))
        };
        input.fields().try_for_each(|field| missing(field, fields, "fields"))?;
        if let Some((list, line_fields)) = input.lines()
            && (list.required || !lines.is_empty())
        {
            line_fields.iter().try_for_each(|field| missing(field, lines, "lines"))?;
        }
        let named = |rule: &FieldRule| input.key.contains(&rule.field.name);
        if input.create.is_none() && !fields.iter().any(named) {
            let hint = format!("add a table [fields.{}] with column = \"…\"", input.key.last().unwrap_or(&"id"));
            let message = format!("{} needs one of the fields {}", input.name, input.key.join(", "));
            return Err(self.error(record.span(), message, Some(hint)));
        }
        let loose = |rule: &&FieldRule| rule.field.required && (rule.optional || rule.on_blank == OnBlank::Omit);
        if let Some(rule) = fields.iter().chain(lines).find(loose) {
            return Err(self.error(
                rule.span.clone(),
                format!("{} is required and can't be left out", rule.field.name),
                Some("remove optional, and use on_blank = \"error\" or a default"),
            ));
        }
        Ok(())
    }

    fn locale(&self, name: &Spanned<String>) -> Result<Locale, Mistake> {
        locale::find(name.get_ref()).ok_or_else(|| self.unknown(name.span(), "locale", name.get_ref(), locale::names()))
    }

    fn time_zone(&self, name: &Spanned<String>) -> Result<jiff::tz::TimeZone, Mistake> {
        date::zone(name.get_ref()).map_err(|unknown| {
            let hint = match unknown.nearest {
                Some(nearest) => format!("did you mean {nearest}?"),
                None => "one is \"Europe/Berlin\", another \"UTC\"".to_owned(),
            };
            self.error(name.span(), format!("'{}' is no time zone", unknown.name), Some(hint))
        })
    }

    fn regex(&self, pattern: &Spanned<String>) -> Result<Regex, Mistake> {
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

    fn count(&self, number: &Spanned<i64>, hint: &str) -> Result<usize, Mistake> {
        match usize::try_from(*number.get_ref()) {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(self.error(number.span(), "this is a number from 1", Some(hint))),
        }
    }

    fn choice<T: Clone>(
        &self,
        chosen: Option<Spanned<String>>,
        choices: &[(&'static str, T)],
    ) -> Result<Option<T>, Mistake> {
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
    ) -> Mistake {
        let known: Vec<&str> = known.into_iter().collect();
        self.error(span, format!("'{word}' is no {what}"), Some(suggestion(word, &known)))
    }

    fn error(&self, span: Range<usize>, message: impl Into<String>, hint: Option<impl Into<String>>) -> Mistake {
        self.file.mistake(span, message, hint.map(Into::into))
    }
}

fn has(fields: &[Field], name: &str) -> bool {
    fields.iter().any(|field| field.name == name)
}

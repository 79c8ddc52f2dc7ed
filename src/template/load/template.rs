//! Checks a template: kind of record, names of fields, groups, and required fields.

use std::collections::BTreeMap;

use toml::Spanned;

use super::super::model::{Duplicates, FieldRule, Group, GroupRows, OnBlank, Place, Template};
use super::super::value::locale::order_of;
use super::checker::Checker;
use super::field::SheetDefaults;
use super::raw::{RawField, RawGroup, RawTemplate, column_names};
use crate::diagnostics::Mistake;
use crate::records::{Field, Input, RecordKind};

/// The tables of the fields of a record or of lines.
type RawFields = BTreeMap<Spanned<String>, Spanned<RawField>>;

impl Checker<'_> {
    pub(super) fn template(&self, raw: RawTemplate) -> Result<Template, Mistake> {
        let kinds = RecordKind::ALL.iter().map(|kind| kind.name());
        let record = RecordKind::from_name(raw.record.get_ref())
            .ok_or_else(|| self.unknown(raw.record.span(), "kind of record", raw.record.get_ref(), kinds))?;
        let locale = raw.sheet.locale.as_ref();
        let defaults = SheetDefaults {
            locale: locale.map(|name| self.locale(name)).transpose()?,
            order: locale.and_then(|name| order_of(name.get_ref())),
            time_zone: raw.sheet.time_zone.as_ref().map(|name| self.time_zone(name)).transpose()?,
        };
        let fields = self.fields(record, raw.fields, &defaults)?;
        let lines = self.lines(record, raw.lines, &defaults)?;
        let group = raw.group.map(|group| self.group(record, group)).transpose()?;
        let input = record.input();
        self.check_required(input, &raw.record, &fields, &lines)?;
        let duplicates = self.choice(
            raw.duplicates,
            &[("error", Duplicates::Error), ("first", Duplicates::First), ("last", Duplicates::Last)],
        )?;
        let fill_down = raw.sheet.fill_down.as_ref().map(Spanned::span);
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
        if let Some(span) = fill_down {
            self.check_filled_columns(&template, span)?;
        }
        Ok(template)
    }

    fn fields(&self, kind: RecordKind, raw: RawFields, defaults: &SheetDefaults) -> Result<Vec<FieldRule>, Mistake> {
        let input = kind.input();
        let is_line_field =
            |name: &str| input.lines().filter(|(_, fields)| fields.iter().any(|field| field.name == name));
        let mut rules = Vec::new();
        for (name, rule) in raw {
            let Some(field) = input.field(name.get_ref()) else {
                if let Some((lines, _)) = is_line_field(name.get_ref()) {
                    let message = format!("{} is a field of the {kind}'s {}", name.get_ref(), lines.name);
                    let hint = format!("write [lines.{}] instead", name.get_ref());
                    return Err(self.error(name.span(), message, Some(hint)));
                }
                let known = input.mappable().map(|field| field.name);
                return Err(self.unknown(name.span(), &format!("field of {kind}"), name.get_ref(), known));
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

    fn lines(&self, kind: RecordKind, raw: RawFields, defaults: &SheetDefaults) -> Result<Vec<FieldRule>, Mistake> {
        let lines = kind.input().lines();
        let mut rules = Vec::new();
        for (name, rule) in raw {
            let Some((_, fields)) = lines else {
                let hint = format!("write [fields.{}] instead", name.get_ref());
                return Err(self.error(name.span(), format!("records of kind {kind} have no lines"), Some(hint)));
            };
            let Some(field) = fields.iter().find(|field| field.name == name.get_ref()) else {
                let known = fields.iter().map(|field| field.name);
                return Err(self.unknown(name.span(), &format!("field of a line of {kind}"), name.get_ref(), known));
            };
            rules.push(self.field(field, Place::Line, name.span(), rule.into_inner(), defaults)?);
        }
        rules.sort_by_key(|rule| {
            lines.and_then(|(_, fields)| fields.iter().position(|field| field.name == rule.field.name))
        });
        Ok(rules)
    }

    fn group(&self, kind: RecordKind, raw: Spanned<RawGroup>) -> Result<Group, Mistake> {
        let span = raw.span();
        if kind.input().lines().is_none() {
            let message = format!("each row is one {kind}, so rows cannot be grouped");
            return Err(self.error(span, message, Some("remove [group]")));
        }
        let raw = raw.into_inner();
        let rows = self.choice(raw.rows, &[("anywhere", GroupRows::Anywhere), ("together", GroupRows::Together)])?;
        let blank_is_above = self.choice(raw.on_blank, &[("error", false), ("above", true)])?;
        Ok(Group {
            by: raw.by.into_inner().0.into_iter().map(column_names).collect(),
            rows: rows.unwrap_or(GroupRows::Anywhere),
            blank_is_above: blank_is_above.unwrap_or(false),
            span,
        })
    }

    /// Checks that the template has all required fields, and that they are never left out.
    fn check_required(
        &self,
        input: &'static Input,
        record: &Spanned<String>,
        fields: &[FieldRule],
        lines: &[FieldRule],
    ) -> Result<(), Mistake> {
        let check = |wanted: &Field, rules: &[FieldRule], table: &str, owner: &str| {
            if !wanted.required || rules.iter().any(|rule| rule.field.name == wanted.name) {
                return Ok(());
            }
            let hint = format!("add a table [{table}.{}] with column = \"…\": {}", wanted.name, wanted.doc);
            Err(self.error(record.span(), format!("{owner} needs the field {}", wanted.name), Some(hint)))
        };
        input.fields().try_for_each(|field| check(field, fields, "fields", input.name))?;
        if let Some((list, line_fields)) = input.lines()
            && (list.required || !lines.is_empty())
        {
            let owner = format!("a line of {}", input.name);
            line_fields.iter().try_for_each(|field| check(field, lines, "lines", &owner))?;
        }
        let is_key = |rule: &FieldRule| input.key.contains(&rule.field.name);
        if let Some(key) = input.key.last()
            && input.create.is_none()
            && !fields.iter().any(is_key)
        {
            let message = format!("{} needs one of the fields {}", input.name, input.key.join(", "));
            let hint = format!("add a table [fields.{key}] with column = \"…\"");
            return Err(self.error(record.span(), message, Some(hint)));
        }
        let can_lack = |rule: &&FieldRule| rule.field.required && (rule.optional || rule.on_blank == OnBlank::Omit);
        if let Some(rule) = fields.iter().chain(lines).find(can_lack) {
            let message = format!("{} is required and cannot be left out", rule.field.name);
            let hint = "remove optional, and use on_blank = \"error\" or a default";
            return Err(self.error(rule.span.clone(), message, Some(hint)));
        }
        Ok(())
    }
}

//! Checks a template: kind of record, names of fields, groups, and required fields.

use std::collections::BTreeMap;
use std::ops::Range;

use sheetport_documents::Mistake;
use sheetport_findings::{Code, Only};
use sheetport_records::{Field, Input, RecordKind, transaction};
use sheetport_values::decimal::Decimal;
use sheetport_values::locale::order_of;
use toml::Spanned;

use super::super::commands::COMMAND;
use super::super::model::{Duplicates, FieldRule, Group, GroupRows, OnBlank, Place, Template};
use super::super::modes::{NOT_NEW, why_not_fill, why_not_only};
use super::checker::Checker;
use super::field::SheetDefaults;
use super::raw::{RawField, RawGroup, RawTemplate, column_names};

/// The tables of the fields of a record or of lines.
type RawFields = BTreeMap<Spanned<String>, RawField>;

/// The names of the fields with a table, valid or not.
struct Declared {
    fields: Vec<String>,
    lines: Vec<String>,
}

impl Checker<'_> {
    /// Checks a template. Returns `None` after noting mistakes.
    pub(super) fn template(&self, raw: RawTemplate, source: String) -> Option<Template> {
        let locale = raw.sheet.locale.as_ref();
        let defaults = SheetDefaults {
            locale: locale.and_then(|name| self.keep(self.locale(name)).flatten()),
            order: locale.and_then(|name| order_of(name.get_ref())),
            time_zone: raw.sheet.time_zone.as_ref().and_then(|name| self.keep(self.time_zone(name))),
        };
        let fill_down = raw.sheet.fill_down.as_ref().map(Spanned::span);
        let sheet = self.sheet(raw.sheet, &defaults);
        let handlings = [
            ("error", Duplicates::Error),
            ("first", Duplicates::First),
            ("last", Duplicates::Last),
            ("send", Duplicates::Send),
        ];
        let duplicates_span = raw.duplicates.as_ref().map(Spanned::span);
        let duplicates = self.keep(self.choice("duplicates", raw.duplicates, &handlings));
        let accepts = raw.accept.into_iter().filter_map(|code| self.keep(self.question(code))).collect();
        let only_span = raw.only.as_ref().map(Spanned::span);
        let choices = Only::ALL.map(|only| (only.name(), only));
        let only = self.keep(self.choice("only", raw.only, &choices)).flatten();
        // Without a kind of record, no field can be checked.
        let (record, counts, written) = self.kind(raw.record)?;
        let input = if counts { &transaction::COUNT } else { record.input() };
        if let (Some(Some(Duplicates::Send)), Some(span)) = (duplicates, duplicates_span)
            && !input.must_not_repeat()
        {
            let message = format!("{} with the same identifier overwrite each other", input.plural);
            self.note(self.error(span, message, Some("write \"first\" or \"last\" instead")));
        }
        if let (Some(only), Some(span)) = (only, only_span)
            && let Some(why) = if counts { Some(NOT_NEW.to_owned()) } else { why_not_only(record, only) }
        {
            let message = format!("only = \"{}\" is not possible: {why}", only.name());
            self.note(self.error(span, message, Some("leave out this key")));
        }
        let fill_blank = raw.fill_blank.as_ref().is_some_and(|fills| *fills.get_ref());
        if let (true, Some(fills)) = (fill_blank, &raw.fill_blank)
            && let Some(why) = why_not_fill(record)
        {
            let message = format!("fill_blank is not possible: {why}");
            self.note(self.error(fills.span(), message, Some("leave out this key")));
        }
        let missing = raw.missing.and_then(|missing| self.keep(self.missing(record, missing)));
        let declared = |raw: &RawFields, table: &str| -> Vec<String> {
            let removed = self.removed.keys_of(&[table]).into_iter().map(str::to_owned);
            raw.keys().map(|name| name.get_ref().clone()).chain(removed).collect()
        };
        let declared = Declared { fields: declared(&raw.fields, "fields"), lines: declared(&raw.lines, "lines") };
        let fields = self.fields(input, raw.fields, &defaults);
        let lines = self.lines(record, raw.lines, &defaults);
        let unpivot = raw.unpivot.and_then(|unpivot| self.keep(self.unpivot(unpivot)));
        let group = raw.group.and_then(|group| self.keep(self.group(record, group)));
        self.check_required(input, &written, &declared);
        for rule in fields.iter().chain(&lines) {
            self.keep(self.check_presence(rule));
        }
        let examples = raw.examples.into_iter().filter_map(|example| self.keep(self.example(example, input))).collect();
        let mut template = Template {
            name: self.files.all().first().map(|file| file.name.clone())?,
            source,
            defaulted: None,
            lookups: None,
            parameters: self.parameters.clone(),
            record,
            counts,
            is_record_guess: raw.record_guess,
            description: raw.description,
            sheet: sheet?,
            unpivot,
            group,
            duplicates: duplicates?.unwrap_or(Duplicates::Error),
            accepts,
            only,
            fill_blank,
            missing,
            fields,
            lines,
            record_rules: Vec::new(),
            examples,
        };
        if let Some((word, cause)) = template.wrong_command()
            && let Some(rule) = template.fields.iter().find(|rule| rule.place == Place::Command)
        {
            let message = format!("'{word}' {}", cause.message());
            self.note(self.error(rule.span.clone(), message, Some(cause.remedy())));
        }
        self.check_unpivot(&mut template);
        self.check_lettered_columns(&template);
        if let Some(span) = fill_down {
            self.keep(self.check_filled_columns(&template, span));
        }
        template.record_rules =
            raw.rules.into_iter().filter_map(|rule| self.keep(self.rule(&template, rule))).collect();
        Some(template)
    }

    /// Returns the code of a question.
    fn question(&self, code: Spanned<String>) -> Result<Code, Mistake> {
        let questions = || Code::questions().map(Code::name);
        let unknown = || self.unknown(code.span(), "question", code.get_ref(), questions());
        Code::named(code.get_ref()).filter(|code| code.asks().is_some()).ok_or_else(unknown)
    }

    /// Returns the kind of record, whether its records are counted stocks, and its place in the file.
    fn kind(&self, name: Option<Spanned<String>>) -> Option<(RecordKind, bool, Range<usize>)> {
        let kinds = || RecordKind::ALL.iter().map(|kind| kind.name()).chain([transaction::COUNT.name]);
        let Some(name) = name else {
            if !self.is_incomplete(&[]) {
                let hint = format!("add record = \"…\" with one of {}", kinds().collect::<Vec<_>>().join(", "));
                self.note(self.error(0..0, "the key record is missing", Some(hint)));
            }
            return None;
        };
        let unknown = || self.unknown(name.span(), "kind of record", name.get_ref(), kinds());
        if name.get_ref() == transaction::COUNT.name {
            return Some((RecordKind::InventoryTransaction, true, name.span()));
        }
        self.keep(RecordKind::from_name(name.get_ref()).ok_or_else(unknown)).map(|kind| (kind, false, name.span()))
    }

    fn fields(&self, input: &'static Input, raw: RawFields, defaults: &SheetDefaults) -> Vec<FieldRule> {
        let is_line_field =
            |name: &str| input.lines().filter(|(_, fields)| fields.iter().any(|field| field.name == name));
        let counts = input.name == transaction::COUNT.name;
        let mut rules = Vec::new();
        for (name, rule) in raw {
            // A count is neither new nor known.
            if name.get_ref() == COMMAND.name && !counts {
                rules.extend(self.field((input, &COMMAND), Place::Command, name.span(), rule, defaults));
                continue;
            }
            let Some(field) = input.field(name.get_ref()) else {
                if let Some((lines, _)) = is_line_field(name.get_ref()) {
                    let message = format!("{} is a field of the {}'s {}", name.get_ref(), input.name, lines.name);
                    let hint = format!("write [lines.{}] instead", name.get_ref());
                    self.note(self.error(name.span(), message, Some(hint)));
                    continue;
                }
                let command = (!counts).then_some(COMMAND.name);
                let known = input.mappable().map(|field| field.name).chain(command);
                self.note(self.unknown(name.span(), &format!("field of {}", input.name), name.get_ref(), known));
                continue;
            };
            let place = match field.name {
                name if input.id.as_ref().is_some_and(|id| id.name == name) => Place::Id,
                name if input.options().any(|option| option.name == name) => Place::Option,
                _ => Place::Record,
            };
            let mut rule = self.field((input, field), place, name.span(), rule, defaults);
            if let Some(rule) = rule.as_mut().filter(|rule| counts && rule.field.name == transaction::COUNTED) {
                rule.checks.minimum.get_or_insert(Decimal::ZERO);
            }
            rules.extend(rule);
        }
        let places = input.mappable().count();
        rules.sort_by_key(|rule| input.mappable().position(|field| field.name == rule.field.name).unwrap_or(places));
        rules
    }

    fn lines(&self, kind: RecordKind, raw: RawFields, defaults: &SheetDefaults) -> Vec<FieldRule> {
        let lines = kind.input().lines();
        let mut rules = Vec::new();
        for (name, rule) in raw {
            let Some((_, fields)) = lines else {
                let hint = format!("write [fields.{}] instead", name.get_ref());
                self.note(self.error(name.span(), format!("records of kind {kind} have no lines"), Some(hint)));
                continue;
            };
            let Some(field) = fields.iter().find(|field| field.name == name.get_ref()) else {
                let known = fields.iter().map(|field| field.name);
                self.note(self.unknown(name.span(), &format!("field of a line of {kind}"), name.get_ref(), known));
                continue;
            };
            rules.extend(self.field((kind.input(), field), Place::Line, name.span(), rule, defaults));
        }
        rules.sort_by_key(|rule| {
            lines.and_then(|(_, fields)| fields.iter().position(|field| field.name == rule.field.name))
        });
        rules
    }

    fn group(&self, kind: RecordKind, raw: Spanned<RawGroup>) -> Result<Group, Mistake> {
        let span = raw.span();
        if kind.input().lines().is_none() {
            let message = format!("each row is one {kind}, so rows cannot be grouped");
            return Err(self.error(span, message, Some("remove [group]")));
        }
        let raw = raw.into_inner();
        let rows =
            self.choice("rows", raw.rows, &[("anywhere", GroupRows::Anywhere), ("together", GroupRows::Together)])?;
        let blank_is_above = self.choice("on_blank", raw.on_blank, &[("error", false), ("above", true)])?;
        Ok(Group {
            by: raw.by.into_inner().0.into_iter().map(column_names).collect(),
            rows: rows.unwrap_or(GroupRows::Anywhere),
            blank_is_above: blank_is_above.unwrap_or(false),
            is_guess: raw.guess,
            span,
        })
    }

    /// Checks that the template has all required fields.
    fn check_required(&self, input: &'static Input, record: &Range<usize>, declared: &Declared) {
        let check = |wanted: &Field, declared: &[String], table: &str, owner: &str| {
            if wanted.required && !declared.iter().any(|name| name == wanted.name) {
                let hint = format!("add a table [{table}.{}] with column = \"…\": {}", wanted.name, wanted.doc);
                self.note(self.error(record.clone(), format!("{owner} needs the field {}", wanted.name), Some(hint)));
            }
        };
        input.fields().for_each(|field| check(field, &declared.fields, "fields", input.name));
        if let Some((list, line_fields)) = input.lines()
            && (list.required || !declared.lines.is_empty())
        {
            let owner = format!("a line of {}", input.name);
            line_fields.iter().for_each(|field| check(field, &declared.lines, "lines", &owner));
        }
        if let Some(key) = input.key.last()
            && input.create.is_none()
            && !declared.fields.iter().any(|name| input.key.contains(&name.as_str()))
        {
            let message = format!("{} needs one of the fields {}", input.name, input.key.join(", "));
            let hint = format!("add a table [fields.{key}] with column = \"…\"");
            self.note(self.error(record.clone(), message, Some(hint)));
        }
    }

    /// Checks that a required field is never omitted.
    fn check_presence(&self, rule: &FieldRule) -> Result<(), Mistake> {
        if !rule.field.required || !(rule.optional || rule.on_blank == OnBlank::Omit) {
            return Ok(());
        }
        let message = format!("{} is required and cannot be left out", rule.field.name);
        let hint = "remove optional, and use on_blank = \"error\" or a default";
        Err(self.error(rule.span.clone(), message, Some(hint)))
    }
}

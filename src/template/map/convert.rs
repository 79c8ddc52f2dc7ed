//! One cell to one JSON value: changed as text, converted to the field's type, checked.

use std::borrow::Cow;

use super::super::date;
use super::super::digits;
use super::super::identifier;
use super::super::model::{Checks, Damaged, FieldRule, Split, Translate};
use super::super::number;
use super::super::problem::Cause;
use super::super::survey::DateColumn;
use super::super::words;
use super::{json, text_of};
use crate::diagnostics::nearest;
use crate::records::JsonType;
use crate::sheet::Cell;

/// How the cells of one rule become values.
pub(super) struct Conversion<'a> {
    pub rule: &'a FieldRule,
    /// How the dates of its column are written.
    pub date: &'a DateColumn,
}

impl Conversion<'_> {
    /// Writes the value that a cell becomes. False: the cell is blank.
    pub fn write(&self, cell: Cell<'_>, out: &mut Vec<u8>) -> Result<bool, Cause> {
        if cell.is_blank() {
            return Ok(false);
        }
        if !self.rule.changes_text() {
            return self.convert(cell, out).map(|()| true);
        }
        let mut text = text_of(cell)?;
        if self.rule.trim || self.rule.translate.is_some() {
            text = trimmed(text);
        }
        if self.rule.clear.as_deref().is_some_and(|clear| clear == text.trim()) {
            out.extend_from_slice(b"null");
            return Ok(true);
        }
        for replace in &self.rule.replace {
            if let Cow::Owned(changed) = replace.pattern.replace_all(&text, replace.with.as_str()) {
                text = Cow::Owned(changed);
            }
        }
        if let Some(split) = &self.rule.split {
            text = Cow::Owned(part(&text, split)?.trim().to_owned());
        }
        if text.trim().is_empty() {
            return Ok(false);
        }
        match &self.rule.translate {
            Some(Translate::Map(map)) => match map.get(&text) {
                Some(constant) => {
                    json::constant(out, constant);
                    Ok(true)
                }
                None => Err(Cause::NotMapped {
                    known: map.known().map(str::to_owned).collect(),
                    nearest: nearest(&text, map.known()).map(str::to_owned),
                }),
            },
            Some(Translate::Lookup(lookup)) => match lookup.get(&text) {
                Some("") => Ok(false),
                Some(found) => self.convert(Cell::Text(found), out).map(|()| true),
                None => Err(Cause::NotFound { nearest: lookup.nearest(&text).map(str::to_owned) }),
            },
            // A number or a date that nothing changed keeps its type.
            None if matches!(&text, Cow::Borrowed(_)) || matches!(cell, Cell::Text(_)) => {
                self.convert(Cell::Text(&text), out).map(|()| true)
            }
            None if text == cell.shown() => self.convert(cell, out).map(|()| true),
            None => self.convert(Cell::Text(&text), out).map(|()| true),
        }
    }

    fn convert(&self, cell: Cell<'_>, out: &mut Vec<u8>) -> Result<(), Cause> {
        match self.rule.field.json {
            JsonType::Number | JsonType::Integer => self.number(cell, out),
            JsonType::Boolean => {
                let said = match cell {
                    Cell::Boolean(said) => Some(said),
                    cell => words::boolean(text_of(cell)?.trim()),
                };
                out.extend_from_slice(if said.ok_or(Cause::NotABoolean)? { b"true" } else { b"false" });
                Ok(())
            }
            JsonType::DateTime => self.date(cell, out),
            // Lists and objects are made of several fields and are no field's own.
            JsonType::String | JsonType::Strings | JsonType::Object(_) | JsonType::Objects(_) => self.text(cell, out),
        }
    }

    fn text(&self, cell: Cell<'_>, out: &mut Vec<u8>) -> Result<(), Cause> {
        let accepts = self.rule.damaged == Damaged::Accept;
        let text = match cell {
            Cell::Text(text) => Cow::Borrowed(if self.rule.trim { text.trim() } else { text }),
            Cell::Number(number) if self.rule.is_name => {
                Cow::Owned(identifier::from_double(number).map_err(Cause::Damaged)?)
            }
            Cell::Date(_) | Cell::DateTime(_) if self.rule.is_name && !accepts => {
                return Err(Cause::Damaged(identifier::Damage::Date));
            }
            cell => text_of(cell)?,
        };
        if self.rule.is_name
            && !accepts
            && let Some(damage) = identifier::damage(&text)
        {
            return Err(Cause::Damaged(damage));
        }
        check_text(&self.rule.checks, &text)?;
        json::text(out, &text);
        Ok(())
    }

    fn number(&self, cell: Cell<'_>, out: &mut Vec<u8>) -> Result<(), Cause> {
        let rule = &self.rule.number;
        let mut digits: Cow<'_, str> = match cell {
            Cell::Text(text) => number::read(text, rule.locale, rule.percent),
            Cell::Number(number) => number::from_double(number).map(Cow::Owned),
            Cell::Percent(number) => number::from_percent(number, rule.percent).map(Cow::Owned),
            _ => Err(number::Fault::NotANumber),
        }
        .map_err(Cause::NotANumber)?;
        if let Some(factor) = rule.scale {
            digits = Cow::Owned(digits::scale(&digits, factor).map_err(Cause::NotANumber)?);
        }
        if let Some(places) = rule.round {
            digits = match digits {
                Cow::Borrowed(borrowed) => digits::to_places(borrowed, places),
                Cow::Owned(owned) => Cow::Owned(digits::round(&owned, places)),
            };
        }
        let mut digits = &*digits;
        if self.rule.field.json == JsonType::Integer {
            digits = digits::integer(digits).map_err(Cause::NotANumber)?;
        }
        let checks = &self.rule.checks;
        if let Some(bound) = checks.minimum.as_ref().filter(|bound| digits::compare(digits, bound).is_lt()) {
            return Err(Cause::TooSmall(bound.clone()));
        }
        if let Some(bound) = checks.maximum.as_ref().filter(|bound| digits::compare(digits, bound).is_gt()) {
            return Err(Cause::TooLarge(bound.clone()));
        }
        check_text(checks, digits)?;
        out.extend_from_slice(digits.as_bytes());
        Ok(())
    }

    fn date(&self, cell: Cell<'_>, out: &mut Vec<u8>) -> Result<(), Cause> {
        let read = match cell {
            Cell::Text(text) => self.date.read(text.trim(), &self.rule.date.formats)?,
            // A plain number may still be a date by its digits, such as 20251231.
            Cell::Number(_) => self.date.read(&text_of(cell)?, &self.rule.date.formats)?,
            cell => date::from_cell(cell).ok_or(Cause::NoDate)?,
        };
        let sent = date::send(read, self.rule.date.time_zone.as_ref()).map_err(Cause::NotADate)?;
        check_text(&self.rule.checks, &sent)?;
        json::text(out, &sent);
        Ok(())
    }
}

fn check_text(checks: &Checks, text: &str) -> Result<(), Cause> {
    if !checks.allowed.is_empty() && !checks.allowed.iter().any(|allowed| allowed == text) {
        let nearest = nearest(text, checks.allowed.iter().map(String::as_str)).map(str::to_owned);
        return Err(Cause::NotAllowed { allowed: checks.allowed.clone(), nearest });
    }
    match &checks.pattern {
        Some(pattern) if !pattern.is_match(text) => Err(Cause::Pattern(pattern.to_string())),
        _ => Ok(()),
    }
}

fn trimmed(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) if text.trim().len() == text.len() => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}

/// The part of a text that a split takes.
fn part<'t>(text: &'t str, split: &Split) -> Result<&'t str, Cause> {
    let nth = usize::try_from(split.take.unsigned_abs().saturating_sub(1)).unwrap_or(usize::MAX);
    let part = match split.take > 0 {
        true => text.split(&split.at).nth(nth),
        false => text.rsplit(&split.at).nth(nth),
    };
    part.ok_or_else(|| Cause::NoSuchPart { at: split.at.clone(), take: split.take })
}

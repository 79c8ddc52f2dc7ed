//! Conversion of a cell to a JSON value of the field's type.

use std::borrow::Cow;

use super::super::model::{Checks, Damaged, FieldRule, Otherwise, Split, Translate};
use super::super::problem::Cause;
use super::super::value::date::{self, Detected};
use super::super::value::number::{self, NumberError, Percent};
use super::super::value::typed::Value;
use super::super::value::{boolean, identifier};
use super::date_survey::parse_date;
use super::json;
use crate::decimal::{self, Decimal};
use crate::diagnostics::nearest;
use crate::records::JsonType;
use crate::sheet::Cell;

/// Converts the cells of one rule.
pub(super) struct Conversion<'a> {
    pub(super) rule: &'a FieldRule,
    /// The date format of the column.
    pub(super) date: &'a Detected,
}

impl Conversion<'_> {
    /// Appends the value of a cell to `out`. Returns `false` if the cell is blank.
    pub(super) fn write(&self, cell: Cell<'_>, out: &mut Vec<u8>) -> Result<bool, Cause> {
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
                None => self.otherwise(cell, &text, out, || Cause::NotMapped {
                    known: map.keys().map(str::to_owned).collect(),
                    nearest: nearest(&text, map.keys()).map(str::to_owned),
                }),
            },
            Some(Translate::Lookup(lookup)) => match lookup.get(&text) {
                Some(found) if found.is_blank() => Ok(false),
                Some(found) => self.found(found, out).map(|()| true),
                None => self.otherwise(cell, &text, out, || Cause::NotFound { nearest: lookup.nearest(&text) }),
            },
            None => self.unchanged(cell, &text, out).map(|()| true),
        }
    }

    /// Handles a value that the map or lookup does not have.
    fn otherwise(
        &self,
        cell: Cell<'_>,
        text: &str,
        out: &mut Vec<u8>,
        cause: impl FnOnce() -> Cause,
    ) -> Result<bool, Cause> {
        match &self.rule.otherwise {
            Otherwise::Error => Err(cause()),
            Otherwise::Keep => self.unchanged(cell, text, out).map(|()| true),
            Otherwise::Value(constant) => {
                json::constant(out, constant);
                Ok(true)
            }
        }
    }

    /// Converts a value of a lookup table. A number is never read as text again.
    fn found(&self, value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), Cause> {
        let is_number = matches!(self.rule.field.json, JsonType::Number | JsonType::Integer);
        match value {
            Value::Error(_) => Err(Cause::CellError),
            Value::Number(number) if is_number => self.checked_number(*number, out),
            Value::Percent(fraction) if is_number => match self.rule.number.percent {
                Some(Percent::Whole) => self.checked_number(fraction * Decimal::ONE_HUNDRED, out),
                Some(Percent::Fraction) => self.checked_number(*fraction, out),
                None => Err(Cause::NotANumber(NumberError::PercentUnclear)),
            },
            Value::Boolean(boolean) => self.convert(Cell::Boolean(*boolean), out),
            Value::Date(date) => self.convert(Cell::Date(*date), out),
            Value::DateTime(at) => self.convert(Cell::DateTime(*at), out),
            Value::Time(time) => self.convert(Cell::Time(*time), out),
            Value::Blank | Value::Text(_) | Value::Number(_) | Value::Percent(_) | Value::Money(..) => {
                self.convert(Cell::Text(&value.text()), out)
            }
        }
    }

    /// Converts a cell that the steps before left as it is, or its changed text.
    fn unchanged(&self, cell: Cell<'_>, text: &str, out: &mut Vec<u8>) -> Result<(), Cause> {
        match cell {
            // An unchanged number or date keeps its type.
            Cell::Text(_) => self.convert(Cell::Text(text), out),
            _ if text == cell.shown() => self.convert(cell, out),
            _ => self.convert(Cell::Text(text), out),
        }
    }

    fn convert(&self, cell: Cell<'_>, out: &mut Vec<u8>) -> Result<(), Cause> {
        match self.rule.field.json {
            JsonType::Number | JsonType::Integer => self.number(cell, out),
            JsonType::Boolean => {
                let value = match cell {
                    Cell::Boolean(value) => Some(value),
                    cell => boolean::parse(&text_of(cell)?),
                };
                out.extend_from_slice(if value.ok_or(Cause::NotABoolean)? { b"true" } else { b"false" });
                Ok(())
            }
            JsonType::DateTime => self.date(cell, out),
            // Lists and objects consist of several fields, so no single rule has these types.
            JsonType::String | JsonType::Strings | JsonType::Object(_) | JsonType::Objects(_) => self.text(cell, out),
        }
    }

    fn text(&self, cell: Cell<'_>, out: &mut Vec<u8>) -> Result<(), Cause> {
        let accepts = self.rule.damaged == Damaged::Accept;
        let text = match cell {
            Cell::Text(text) => Cow::Borrowed(if self.rule.trim { text.trim() } else { text }),
            Cell::Number(number) if self.rule.is_name => {
                Cow::Owned(identifier::from_f64(number).map_err(Cause::Damaged)?)
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
        let number = match cell {
            Cell::Text(text) => number::parse(text, rule.locale, rule.percent),
            Cell::Number(number) => number::from_f64(number),
            Cell::Percent(number) => number::from_percent(number, rule.percent),
            _ => Err(NumberError::NotANumber),
        }
        .map_err(Cause::NotANumber)?;
        self.checked_number(number, out)
    }

    /// Scales, rounds and checks a number.
    fn checked_number(&self, mut number: Decimal, out: &mut Vec<u8>) -> Result<(), Cause> {
        let rule = &self.rule.number;
        if let Some(factor) = rule.scale {
            number = number::multiply(number, factor).map_err(|error| Cause::NotANumber(error.into()))?;
        }
        if let Some(places) = rule.round {
            number = decimal::round(number, places);
        }
        if self.rule.field.json == JsonType::Integer {
            number = decimal::to_integer(number).ok_or(Cause::NotANumber(NumberError::NotWhole))?;
        }
        let checks = &self.rule.checks;
        if let Some(bound) = checks.minimum.filter(|bound| number < *bound) {
            return Err(Cause::TooSmall(bound));
        }
        if let Some(bound) = checks.maximum.filter(|bound| number > *bound) {
            return Err(Cause::TooLarge(bound));
        }
        let digits = number.to_string();
        check_text(checks, &digits)?;
        out.extend_from_slice(digits.as_bytes());
        Ok(())
    }

    fn date(&self, cell: Cell<'_>, out: &mut Vec<u8>) -> Result<(), Cause> {
        let date = match cell {
            Cell::Text(text) => parse_date(text.trim(), &self.rule.date.formats, self.date)?,
            // A number can be a date, such as 20251231.
            Cell::Number(_) => parse_date(&text_of(cell)?, &self.rule.date.formats, self.date)?,
            cell => date::from_cell(cell).ok_or(Cause::NoDate)?,
        };
        let iso = date::to_iso(date, self.rule.date.time_zone.as_ref()).map_err(Cause::NotADate)?;
        check_text(&self.rule.checks, &iso)?;
        json::text(out, &iso);
        Ok(())
    }
}

fn check_text(checks: &Checks, text: &str) -> Result<(), Cause> {
    if !checks.allowed.is_empty() && !checks.allowed.iter().any(|allowed| allowed == text) {
        let nearest = nearest(text, checks.allowed.iter().map(String::as_str)).map(str::to_owned);
        return Err(Cause::NotAllowed { allowed: checks.allowed.clone(), nearest });
    }
    match &checks.pattern {
        Some(pattern) if !pattern.is_match(text) => return Err(Cause::Pattern(pattern.to_string())),
        _ => {}
    }
    checks.check.map_or(Ok(()), |scheme| scheme.check(text).map_err(Cause::CheckDigit))
}

fn trimmed(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) if text.trim().len() == text.len() => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}

/// Splits a text and returns the requested part.
fn part<'t>(text: &'t str, split: &Split) -> Result<&'t str, Cause> {
    let nth = usize::try_from(split.take.unsigned_abs().saturating_sub(1)).unwrap_or(usize::MAX);
    let part = match split.take > 0 {
        true => text.split(&split.at).nth(nth),
        false => text.rsplit(&split.at).nth(nth),
    };
    part.ok_or_else(|| Cause::NoSuchPart { at: split.at.clone(), take: split.take })
}

/// Formats a cell as text, with numbers rounded to 15 significant digits.
pub(super) fn text_of(cell: Cell<'_>) -> Result<Cow<'_, str>, Cause> {
    match cell {
        Cell::Number(number) => {
            let number = number::from_f64(number).map_err(Cause::NotANumber)?;
            Ok(Cow::Owned(number.to_string()))
        }
        cell => Ok(cell.shown()),
    }
}

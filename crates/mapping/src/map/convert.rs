//! Conversion of a value to JSON of the field's type.

use sheetport_documents::nearest;
use sheetport_records::JsonType;
use sheetport_values::budget::Budget;
use sheetport_values::currency::{Currency, CurrencyMark};
use sheetport_values::date::{self, Detected};
use sheetport_values::decimal::{self, Decimal};
use sheetport_values::normalize::trimmed;
use sheetport_values::number::style::ColumnStyle;
use sheetport_values::number::{self, Notation, NumberError, Percent, literal};
use sheetport_values::pattern;
use sheetport_values::{boolean, identifier};
use std::borrow::Cow;

use super::super::model::{Damaged, FieldRule, Otherwise, Split, Translate};
use super::super::problem::{Cause, excerpt};
use super::super::words::total_rows::{is_total_of, is_total_row};
use super::json;
use super::survey::parse_date;
use crate::typed_value::Value;

/// Converts the values of one rule.
pub(super) struct Conversion<'a> {
    pub(super) rule: &'a FieldRule,
    /// The date format of the column.
    pub(super) date: &'a Detected,
    /// The name of the sheet's locale.
    pub(super) locale: Option<&'a str>,
    /// The currency of signs that can stand for it.
    pub(super) currency: Option<Currency>,
    /// The budget of the row.
    pub(super) budget: &'a Budget,
    /// Whether the sheet is an export, whose texts are those of the service.
    pub(super) is_export: bool,
}

/// The value of a rule before its steps.
pub(super) struct Input<'a> {
    pub(super) value: Value<'a>,
    /// The notation of numbers, if the value is text.
    pub(super) notation: Notation<'a>,
    /// The function that produced the value, unless the value is from a cell.
    pub(super) step: Option<&'static str>,
    /// The displayed text of a workbook cell, if different from the text of the value.
    pub(super) shown: Option<&'a str>,
}

impl<'a> Input<'a> {
    pub(super) fn cell(value: Value<'a>, notation: Notation<'a>) -> Input<'a> {
        Input { value, notation, step: None, shown: None }
    }
}

/// The result of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    Blank,
    Value {
        /// The currency beside a number.
        currency: Option<CurrencyMark>,
        doubt: Option<Doubt>,
    },
}

/// A reason to warn of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// The number probably lacks a percent sign. The argument is the meaning of percent signs.
    PercentSign(Percent),
    /// The number format displays a word that is not sent.
    Word,
}

impl Written {
    pub(super) const PLAIN: Written = Written::Value { currency: None, doubt: None };
}

impl Conversion<'_> {
    /// Applies the steps of the rule and appends the value to `out`.
    pub(super) fn write(&self, input: Input<'_>, out: &mut String) -> Result<Written, Cause> {
        let Input { value, notation, step, shown } = input;
        if value.is_blank() {
            return Ok(Written::Blank);
        }
        if !self.rule.changes_text() {
            return self.convert(&value, notation, out).map_err(|cause| after(step, &value, cause));
        }
        let original = value.text();
        let mut changed = Changed { text: Cow::Borrowed(original.as_ref()), step };
        let written = self.change((&value, &original, shown), notation, &mut changed, out);
        written.map_err(|cause| after(changed.step, &Value::Text(changed.text), cause))
    }

    /// Applies the steps that change a value as text, and converts the result. `changed` receives the value after its last
    /// change.
    fn change<'v>(
        &self,
        (value, original, shown): (&Value<'_>, &'v str, Option<&str>),
        notation: Notation<'_>,
        changed: &mut Changed<'v>,
        out: &mut String,
    ) -> Result<Written, Cause> {
        if self.rule.trim || self.rule.translate.is_some() {
            changed.text = Cow::Borrowed(original.trim());
        }
        if self.rule.clear.as_deref().is_some_and(|clear| clear == changed.text.trim()) {
            out.push_str("null");
            return Ok(Written::PLAIN);
        }
        for replace in &self.rule.replace {
            let replaced = pattern::replace_all(&replace.pattern, &changed.text, &replace.with, self.budget);
            if let Cow::Owned(replaced) = replaced.map_err(Cause::TooMuch)? {
                *changed = Changed { text: Cow::Owned(replaced), step: Some("replace") };
            }
        }
        if let Some(split) = &self.rule.split {
            let part = part(&changed.text, split)?.trim();
            self.spend(changed.text.len(), part.len())?;
            let part = part.to_owned();
            *changed = Changed { text: Cow::Owned(part), step: Some("split") };
        }
        let text = changed.text.as_ref();
        if text.trim().is_empty() {
            return Ok(Written::Blank);
        }
        let unchanged = |out: &mut String| match value {
            Value::Text(_) => self.convert(&Value::Text(Cow::Borrowed(text)), notation, out),
            // An unchanged number or date keeps its type. The text of a changed value has a decimal point.
            value if text == original.trim() => self.convert(value, notation, out),
            _ => self.convert(&Value::Text(Cow::Borrowed(text)), Notation::Canonical, out),
        };
        // Trailing zeros from a number format are insignificant, and the displayed text may have been copied.
        let bare = match value {
            Value::Number(number) if number.scale() > 0 && text == original.trim() => {
                Some(number.normalize().to_string())
            }
            _ => None,
        };
        let others = || [bare.as_deref(), shown].into_iter().flatten();
        let cause = match &self.rule.translate {
            Some(Translate::Map(map)) => {
                match self
                    .spend(text.len(), 0)
                    .map(|()| map.get(text).or_else(|| others().find_map(|other| map.get(other))))?
                {
                    Some(constant) => {
                        constant.check(&self.rule.checks)?;
                        json::constant(out, constant);
                        return Ok(Written::PLAIN);
                    }
                    None => Cause::NotMapped {
                        known: map.keys().map(str::to_owned).collect(),
                        nearest: nearest(text, map.keys()).map(str::to_owned),
                    },
                }
            }
            Some(Translate::Lookup(lookup)) => {
                match self
                    .spend(text.len(), 0)
                    .map(|()| lookup.get(text).or_else(|| others().find_map(|other| lookup.get(other))))?
                {
                    Some(found) if found.is_blank() => return Ok(Written::Blank),
                    Some(Value::Error(_)) => return Err(Cause::CellError),
                    Some(found) => {
                        let notation =
                            Notation::Column { locale: self.rule.number.locale, style: &ColumnStyle::UNKNOWN };
                        let written = self.convert(found, notation, out);
                        if written.is_err() {
                            *changed = Changed { text: Cow::Owned(found.text().into_owned()), step: Some("lookup") };
                        }
                        return written;
                    }
                    None => Cause::NotFound { nearest: lookup.nearest(text) },
                }
            }
            None => return unchanged(out),
        };
        match &self.rule.otherwise {
            Otherwise::Error => Err(cause),
            Otherwise::Keep => unchanged(out),
            Otherwise::Value(constant) => {
                constant.check(&self.rule.checks)?;
                json::constant(out, constant);
                Ok(Written::PLAIN)
            }
        }
    }

    /// Takes a step from the budget of the row. `read` and `made` are the lengths of the texts in bytes.
    fn spend(&self, read: usize, made: usize) -> Result<(), Cause> {
        self.budget.step(read).and_then(|()| self.budget.text(made)).map_err(Cause::TooMuch)
    }

    fn convert(&self, value: &Value<'_>, notation: Notation<'_>, out: &mut String) -> Result<Written, Cause> {
        match self.rule.field.json {
            JsonType::Number | JsonType::Integer => return self.number(value, notation, out),
            JsonType::Boolean => {
                let value = match value {
                    Value::Boolean(value) => Some(*value),
                    value => boolean::parse(&value.text()),
                };
                out.push_str(if value.ok_or(Cause::NotABoolean)? { "true" } else { "false" });
            }
            JsonType::DateTime => self.date(value, out)?,
            JsonType::String if self.rule.field.is_currency() => self.currency(&value.text(), out)?,
            // Lists and objects consist of several fields, so no single rule has these types.
            JsonType::String | JsonType::Strings | JsonType::Object(_) | JsonType::Objects(_) => {
                self.text(value, out)?
            }
        }
        Ok(Written::PLAIN)
    }

    fn text(&self, value: &Value<'_>, out: &mut String) -> Result<(), Cause> {
        let accepts = self.rule.damaged == Damaged::Accept;
        if self.rule.is_name && !accepts {
            let damage = match value {
                Value::Date(_) | Value::DateTime(_) => Some(identifier::Damage::Date),
                Value::Time(_) => Some(identifier::Damage::Time),
                _ => None,
            };
            damage.map_or(Ok(()), |damage| Err(Cause::Damaged(damage)))?;
        }
        let text = value.text();
        let text = if self.rule.trim { trimmed(&text) } else { &text };
        let names_something = self.rule.is_name || self.rule.field.is_label();
        if names_something
            && !accepts
            && !self.is_export
            && (matches!(value, Value::Boolean(_)) || identifier::is_boolean(text))
        {
            return Err(Cause::Damaged(identifier::Damage::Boolean));
        }
        if self.rule.is_name && !accepts {
            let total = || (is_total_row(text) || is_total_of(text)).then_some(identifier::Damage::Total);
            // An upload compares the texts of an export with those of the service, which may have any.
            let is_of_service = |damage: &identifier::Damage| {
                use identifier::Damage as D;
                let is_possible = match damage {
                    D::Boolean | D::LineBreak | D::Decimal | D::Calculated | D::Time | D::Formula | D::Quoted => true,
                    D::Placeholder => true,
                    D::Exponent | D::Date | D::Rounded | D::Invisible | D::Total | D::Grouped | D::Ditto => false,
                };
                self.is_export && is_possible
            };
            let damage = identifier::damage(text).filter(|damage| !is_of_service(damage));
            if let Some(damage) = damage.or_else(total) {
                return Err(Cause::Damaged(damage));
            }
        } else if !accepts && identifier::is_ditto(text) {
            return Err(Cause::Damaged(identifier::Damage::Ditto));
        } else if !accepts
            && !self.is_export
            && self.rule.field.is_title()
            && let Some(damage) = identifier::stand_in(text)
            // A name may quote a formula; reports make it harmless.
            && damage != identifier::Damage::Formula
        {
            return Err(Cause::Damaged(damage));
        }
        self.rule.checks.text(text)?;
        json::text(out, text);
        Ok(())
    }

    /// Writes the ISO 4217 code of a currency.
    fn currency(&self, text: &str, out: &mut String) -> Result<(), Cause> {
        let mark = CurrencyMark::parse(text).ok_or(Cause::NotACurrency)?;
        let currency = mark.currency_with(self.currency, self.locale).ok_or(Cause::NotACurrency)?;
        self.rule.checks.text(currency.as_str())?;
        json::text(out, currency.as_str());
        Ok(())
    }

    fn number(&self, value: &Value<'_>, notation: Notation<'_>, out: &mut String) -> Result<Written, Cause> {
        let rule = &self.rule.number;
        let Amount { mut number, currency, has_percent_sign, has_word } =
            self.parse_number(value, notation).map_err(Cause::NotANumber)?;
        if currency.is_some() && !self.rule.field.is_money {
            return Err(Cause::NotANumber(NumberError::Money));
        }
        if has_percent_sign && self.rule.field.is_tax() && rule.scale.is_none() {
            let hundred = if rule.percent == Some(Percent::Fraction) { Decimal::ONE } else { Decimal::ONE_HUNDRED };
            if number.abs() > hundred {
                return Err(Cause::NotANumber(NumberError::OverAHundredPercent));
            }
        }
        let without_sign = rule.percent.filter(|percent| {
            let is_odd = match percent {
                Percent::Whole => !number.is_zero() && number.abs() < Decimal::ONE,
                Percent::Fraction => number.abs() > Decimal::ONE,
            };
            is_odd && !has_percent_sign && rule.scale.is_none()
        });
        let doubt = without_sign.map(Doubt::PercentSign).or(has_word.then_some(Doubt::Word));
        let mut step = None;
        if let Some(factor) = rule.scale {
            number = number::multiply(number, factor).map_err(|error| Cause::NotANumber(error.into()))?;
            step = Some("scale");
        }
        if let Some(places) = rule.round {
            let rounded = decimal::round(number, places);
            step = if rounded == number { step } else { Some("round") };
            number = rounded;
        }
        self.checked_number(number, out).map_err(|cause| after(step, &Value::Number(number), cause))?;
        Ok(Written::Value { currency, doubt })
    }

    /// Checks a number and appends it to `out`.
    fn checked_number(&self, mut number: Decimal, out: &mut String) -> Result<(), Cause> {
        if self.rule.field.json == JsonType::Integer {
            number = decimal::to_integer(number).ok_or(Cause::NotANumber(NumberError::NotWhole))?;
        }
        let start = out.len();
        decimal::write(number, out);
        self.rule.checks.number(number, &out[start..])
    }

    fn parse_number(&self, value: &Value<'_>, notation: Notation<'_>) -> Result<Amount, NumberError> {
        let percent = self.rule.number.percent;
        let of_percentage = |fraction: Decimal| match percent {
            Some(Percent::Whole) => Ok(number::multiply(fraction, Decimal::ONE_HUNDRED)?),
            Some(Percent::Fraction) => Ok(fraction),
            None => Err(NumberError::PercentUnclear),
        };
        let mut has_word = false;
        let (number, currency, has_percent_sign) = match value {
            Value::Text(text) => {
                let parsed = number::parse_in(text, notation)?;
                (parsed.resolve(percent)?, parsed.currency, parsed.has_percent_sign)
            }
            Value::Number(number) => (*number, None, false),
            Value::Money(amount, currency) => (*amount, Some(*currency), false),
            Value::Percent(fraction) => (of_percentage(*fraction)?, None, true),
            Value::Formatted(number, shown) => {
                let is_money = self.rule.field.is_money;
                match literal::beside(*number, shown, is_money) {
                    // The template converts the number.
                    Err(NumberError::Multiple(_)) if self.rule.number.scale.is_some() => (*number, None, false),
                    Err(error) => return Err(error),
                    Ok(beside) if beside.has_percent_sign => {
                        (of_percentage(number::multiply(*number, Decimal::new(1, 2))?)?, None, true)
                    }
                    Ok(beside) => {
                        has_word = beside.word.is_some_and(|word| is_money || !word.is_unit);
                        (*number, beside.currency, false)
                    }
                }
            }
            _ => return Err(NumberError::NotANumber),
        };
        Ok(Amount { number, currency, has_percent_sign, has_word })
    }

    fn date(&self, value: &Value<'_>, out: &mut String) -> Result<(), Cause> {
        let date = match value {
            Value::Text(text) => parse_date(text.trim(), &self.rule.date.formats, self.date)?,
            // A number can be a date, such as 20251231.
            Value::Number(_) => parse_date(&value.text(), &self.rule.date.formats, self.date)?,
            value => value.parsed_date().ok_or(Cause::NoDate)?,
        };
        let iso = date::to_iso(date, self.rule.date.time_zone.as_ref()).map_err(Cause::NotADate)?;
        self.rule.checks.text(&iso)?;
        json::text(out, &iso);
        Ok(())
    }
}

/// A value after the steps so far.
struct Changed<'a> {
    text: Cow<'a, str>,
    /// The last step that changed the value.
    step: Option<&'static str>,
}

/// A number as read.
struct Amount {
    number: Decimal,
    /// The currency beside the number.
    currency: Option<CurrencyMark>,
    has_percent_sign: bool,
    /// Whether the number format displays a word that matters for the field and is not sent.
    has_word: bool,
}

/// Adds the value and the last step that changed it to a cause, unless the cause already names a step.
fn after(step: Option<&'static str>, value: &Value<'_>, cause: Cause) -> Cause {
    match (step, cause) {
        (None, cause) | (Some(_), cause @ (Cause::AfterStep { .. } | Cause::TooMuch(_))) => cause,
        (Some(step), cause) => Cause::AfterStep { step, value: excerpt(&value.text()), cause: Box::new(cause) },
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

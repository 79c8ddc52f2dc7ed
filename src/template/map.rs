//! A row of the sheet to the body of a request, or to everything that is wrong with the row.

use std::borrow::Cow;

use super::bind::Layout;
use super::identifier;
use super::model::{Constant, Damaged, FieldRule, OnBlank, Source, Template};
use super::nearest::nearest;
use super::number;
use super::problem::{Cause, Problem};
use crate::records::JsonType;
use crate::sheet::cell::NOT_CALCULATED;
use crate::sheet::{Cell, Row, write};

/// A template and where its columns are.
#[derive(Clone, Copy)]
pub struct Mapper<'t> {
    template: &'t Template,
    layout: &'t Layout,
}

/// What became of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mapped {
    /// The template leaves such rows out.
    Skipped,
    Record {
        key: String,
        body: String,
    },
    Rejected {
        key: Option<String>,
        problems: Vec<Problem>,
    },
}

/// A field's value on its way into the body.
enum Value<'a> {
    Text(Cow<'a, str>),
    Number(Cow<'a, str>),
    Null,
}

impl<'t> Mapper<'t> {
    pub fn new(template: &'t Template, layout: &'t Layout) -> Mapper<'t> {
        Mapper { template, layout }
    }

    /// Maps one row. All problems of the row are found, not only the first.
    pub fn map(&self, row: &Row) -> Mapped {
        if self.is_skipped(row) {
            return Mapped::Skipped;
        }
        let mut body = Vec::with_capacity(160);
        let mut key = None;
        let mut problems = Vec::new();
        for (rule, column) in self.template.fields.iter().zip(&self.layout.columns) {
            match self.value(rule, *column, row) {
                Ok(None) => {}
                Ok(Some(value)) => {
                    push_field(&mut body, rule.field.name, &value);
                    if rule.field.name == self.template.record.input().key
                        && let Value::Text(text) = value
                    {
                        key = Some(text.into_owned());
                    }
                }
                Err(cause) => problems.push(self.problem(rule, *column, row, cause)),
            }
        }
        body.push(b'}');
        match key {
            Some(key) if problems.is_empty() => {
                Mapped::Record { key, body: String::from_utf8_lossy(&body).into_owned() }
            }
            key => Mapped::Rejected { key, problems },
        }
    }

    fn is_skipped(&self, row: &Row) -> bool {
        match (&self.template.sheet.skip_where, self.layout.skip_column) {
            (Some(skip), Some(column)) => skip.matches.is_match(&self.cell(row, column).shown()),
            _ => false,
        }
    }

    /// The cell at `column`; in one of our reports, as it was before a formula in it was defused.
    fn cell<'r>(&self, row: &'r Row, column: usize) -> Cell<'r> {
        match row.get(column) {
            Cell::Text(text) if self.layout.is_report => Cell::Text(write::restore(text)),
            cell => cell,
        }
    }

    fn value<'r>(&self, rule: &'r FieldRule, column: Option<usize>, row: &'r Row) -> Result<Option<Value<'r>>, Cause> {
        let column = match (&rule.source, column) {
            (Source::Constant(constant), _) => return Ok(Some(stated(constant))),
            (Source::Column(_), None) => return Ok(None),
            (Source::Column(_), Some(column)) => column,
        };
        let cell = self.cell(row, column);
        match cell {
            Cell::Error(NOT_CALCULATED) => return Err(Cause::NotCalculated),
            Cell::Error(_) => return Err(Cause::CellError),
            _ => {}
        }
        if cell.is_blank() {
            return match &rule.on_blank {
                OnBlank::Omit => Ok(None),
                OnBlank::Null => Ok(Some(Value::Null)),
                OnBlank::Error => Err(Cause::Blank),
                OnBlank::Default(constant) => Ok(Some(stated(constant))),
            };
        }
        if !rule.map.is_empty() {
            return looked_up(rule, &cell.shown()).map(Some);
        }
        match rule.field.json {
            JsonType::Number | JsonType::Integer => {
                digits(rule, cell).map(|digits| Some(Value::Number(Cow::Owned(digits))))
            }
            // No record that can be uploaded has fields of the others yet.
            JsonType::String | JsonType::Boolean | JsonType::Strings | JsonType::Object(_) | JsonType::Objects(_) => {
                self.text(rule, cell).map(|text| Some(Value::Text(text)))
            }
        }
    }

    fn text<'r>(&self, rule: &FieldRule, cell: Cell<'r>) -> Result<Cow<'r, str>, Cause> {
        let is_key = rule.field.name == self.template.record.input().key;
        let text = match cell {
            Cell::Text(text) => Cow::Borrowed(if rule.trim { text.trim() } else { text }),
            Cell::Number(number) if is_key => Cow::Owned(identifier::from_double(number).map_err(Cause::Damaged)?),
            Cell::Number(number) => Cow::Owned(number::from_double(number).map_err(Cause::NotANumber)?),
            Cell::Date(_) | Cell::DateTime(_) if is_key && rule.damaged == Damaged::Error => {
                return Err(Cause::Damaged(identifier::Damage::Date));
            }
            cell => Cow::Owned(cell.shown().into_owned()),
        };
        if is_key
            && rule.damaged == Damaged::Error
            && let Some(damage) = identifier::damage(&text)
        {
            return Err(Cause::Damaged(damage));
        }
        match &rule.pattern {
            Some(pattern) if !pattern.is_match(&text) => Err(Cause::Pattern(pattern.to_string())),
            _ => Ok(text),
        }
    }

    fn problem(&self, rule: &FieldRule, column: Option<usize>, row: &Row, cause: Cause) -> Problem {
        let header = column.and_then(|index| self.layout.header.names.get(index)).cloned().unwrap_or_default();
        let value = column.map(|index| self.cell(row, index).shown().into_owned()).unwrap_or_default();
        Problem { column, header, field: rule.field.name, value, cause }
    }
}

fn stated(constant: &Constant) -> Value<'_> {
    match constant {
        Constant::Text(text) => Value::Text(Cow::Borrowed(text)),
        Constant::Number(digits) => Value::Number(Cow::Borrowed(digits)),
        Constant::Null => Value::Null,
    }
}

/// Looks the cell up in the rule's value map: to the letter first, then without regard to case.
fn looked_up<'r>(rule: &'r FieldRule, shown: &str) -> Result<Value<'r>, Cause> {
    let wanted = shown.trim();
    let exact = rule.map.iter().find(|(from, _)| from == wanted);
    let found = exact.or_else(|| rule.map.iter().find(|(from, _)| from.to_lowercase() == wanted.to_lowercase()));
    match found {
        Some((_, to)) => Ok(stated(to)),
        None => Err(Cause::NotMapped {
            known: rule.map.iter().map(|(from, _)| from.clone()).collect(),
            nearest: nearest(wanted, rule.map.iter().map(|(from, _)| from.as_str())).map(str::to_owned),
        }),
    }
}

fn digits(rule: &FieldRule, cell: Cell<'_>) -> Result<String, Cause> {
    let digits = match cell {
        Cell::Text(text) => number::parse(text, rule.locale, rule.percent),
        Cell::Number(number) => number::from_double(number),
        _ => Err(number::Fault::NotANumber),
    }
    .map_err(Cause::NotANumber)?;
    Ok(match rule.round {
        Some(places) => number::round(&digits, places),
        None => digits,
    })
}

/// Adds a member to the JSON object that `body` holds so far. Digits go in to the letter, which a number type of any
/// kind would not promise.
fn push_field(body: &mut Vec<u8>, name: &str, value: &Value<'_>) {
    body.push(if body.is_empty() { b'{' } else { b',' });
    push_text(body, name);
    body.push(b':');
    match value {
        Value::Text(text) => push_text(body, text),
        Value::Number(digits) => body.extend_from_slice(digits.as_bytes()),
        Value::Null => body.extend_from_slice(b"null"),
    }
}

fn push_text(body: &mut Vec<u8>, text: &str) {
    let written = serde_json::to_writer(body, text);
    debug_assert!(written.is_ok(), "writing text to memory can't fail");
}

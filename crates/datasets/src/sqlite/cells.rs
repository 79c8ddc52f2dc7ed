//! Values as SQLite stores them.

use std::borrow::Cow;

use rusqlite::types::{ToSqlOutput, ValueRef};
use serde_json::{Map, Number};

use crate::exact::Exact;
use crate::kind::{Kind, Value};
use crate::moment::in_utc;

/// A value to be stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Null,
    Text(&'a str),
    OwnText(String),
    Integer(i64),
    Real(f64),
}

impl<'a> Cell<'a> {
    /// Returns a value for a column of this type, or `None` if the type does not hold it.
    pub(super) fn new(value: &Value<'a>, kind: Option<Kind>) -> Option<Cell<'a>> {
        Some(match (kind, *value) {
            (_, Value::Null) => Cell::Null,
            (None | Some(Kind::Text), Value::Text(text)) => Cell::Text(text),
            (None | Some(Kind::Text), Value::Number(digits)) => Cell::Text(digits),
            (None | Some(Kind::Text), Value::Boolean(boolean)) => Cell::Text(if boolean { "true" } else { "false" }),
            (Some(Kind::Integer), Value::Number(digits)) => Cell::Integer(Exact::parse(digits)?.to_integer()?),
            (Some(Kind::Decimal { .. }), Value::Number(digits)) => match Exact::parse(digits)?.to_integer() {
                Some(integer) => Cell::Integer(integer),
                None => Cell::Real(digits.parse().ok()?),
            },
            (Some(Kind::DateTime), Value::Text(text)) => match in_utc(text)? {
                Cow::Borrowed(text) => Cell::Text(text),
                Cow::Owned(text) => Cell::OwnText(text),
            },
            (Some(Kind::Boolean), Value::Boolean(boolean)) => Cell::Integer(boolean.into()),
            _ => return None,
        })
    }

    /// Whether a stored value is the same.
    pub(super) fn is(&self, stored: ValueRef<'_>) -> bool {
        match (self, stored) {
            (Cell::Null, ValueRef::Null) => true,
            (Cell::Text(text), ValueRef::Text(stored)) => text.as_bytes() == stored,
            (Cell::OwnText(text), ValueRef::Text(stored)) => text.as_bytes() == stored,
            (Cell::Integer(integer), ValueRef::Integer(stored)) => *integer == stored,
            (Cell::Real(real), ValueRef::Real(stored)) => real.to_bits() == stored.to_bits(),
            _ => false,
        }
    }

    pub(super) fn to_sql(&self) -> ToSqlOutput<'_> {
        ToSqlOutput::Borrowed(match self {
            Cell::Null => ValueRef::Null,
            Cell::Text(text) => ValueRef::Text(text.as_bytes()),
            Cell::OwnText(text) => ValueRef::Text(text.as_bytes()),
            Cell::Integer(integer) => ValueRef::Integer(*integer),
            Cell::Real(real) => ValueRef::Real(*real),
        })
    }

    pub(super) fn to_json(&self, kind: Option<Kind>) -> serde_json::Value {
        json(
            match self.to_sql() {
                ToSqlOutput::Borrowed(value) => value,
                _ => ValueRef::Null,
            },
            kind,
        )
    }
}

/// Returns a stored value as JSON.
pub(super) fn json(stored: ValueRef<'_>, kind: Option<Kind>) -> serde_json::Value {
    match stored {
        ValueRef::Null => serde_json::Value::Null,
        ValueRef::Integer(integer) if kind == Some(Kind::Boolean) => (integer != 0).into(),
        ValueRef::Integer(integer) => integer.into(),
        ValueRef::Real(real) => Number::from_f64(real).map_or(serde_json::Value::Null, serde_json::Value::Number),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned().into(),
    }
}

/// Returns an object as JSON, or `None` if it is empty.
pub(super) fn object(fields: Map<String, serde_json::Value>) -> Option<String> {
    (!fields.is_empty()).then(|| serde_json::Value::Object(fields).to_string())
}

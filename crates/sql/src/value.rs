//! Values of parameters.

use sqlx::Arguments;
use sqlx::error::BoxDynError;
use sqlx::postgres::PgArguments;
use sqlx::sqlite::SqliteArguments;

/// The value of a parameter. NULL also has a type, because PostgreSQL requires one.
#[derive(Clone, Debug)]
pub enum Value {
    Int(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

impl Value {
    pub(super) fn add_to_sqlite(self, arguments: &mut SqliteArguments) -> Result<(), BoxDynError> {
        match self {
            Value::Int(value) => arguments.add(value),
            Value::Text(value) => arguments.add(value),
            Value::Bytes(value) => arguments.add(value),
        }
    }

    pub(super) fn add_to_postgres(self, arguments: &mut PgArguments) -> Result<(), BoxDynError> {
        match self {
            Value::Int(value) => arguments.add(value),
            Value::Text(value) => arguments.add(value.map(storable)),
            Value::Bytes(value) => arguments.add(value),
        }
    }
}

impl Value {
    /// Returns a literal of PostgreSQL, independent of the settings of the session.
    pub(super) fn into_literal(self) -> String {
        match self {
            Value::Int(Some(number)) => format!("'{number}'::bigint"),
            Value::Int(None) => "NULL::bigint".to_owned(),
            Value::Text(Some(text)) => {
                format!("E'{}'::text", storable(text).replace('\\', "\\\\").replace('\'', "''"))
            }
            Value::Text(None) => "NULL::text".to_owned(),
            Value::Bytes(Some(bytes)) => {
                let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
                let digits: String = digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect();
                format!("E'\\\\x{digits}'::bytea")
            }
            Value::Bytes(None) => "NULL::bytea".to_owned(),
        }
    }
}

/// Replaces NUL, which PostgreSQL can't store.
pub fn storable(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{FFFD}") } else { text }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(Some(value))
    }
}

impl From<&i64> for Value {
    fn from(value: &i64) -> Value {
        Value::Int(Some(*value))
    }
}

impl From<Option<i64>> for Value {
    fn from(value: Option<i64>) -> Value {
        Value::Int(value)
    }
}

impl From<Option<&str>> for Value {
    fn from(value: Option<&str>) -> Value {
        Value::Text(value.map(str::to_owned))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Int(Some(value.into()))
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::Text(Some(value))
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Value {
        Value::Text(Some(value.clone()))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(Some(value.to_owned()))
    }
}

impl From<Option<String>> for Value {
    fn from(value: Option<String>) -> Value {
        Value::Text(value)
    }
}

impl From<&Option<String>> for Value {
    fn from(value: &Option<String>) -> Value {
        Value::Text(value.clone())
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Value {
        Value::Bytes(Some(value))
    }
}

impl From<Option<Vec<u8>>> for Value {
    fn from(value: Option<Vec<u8>>) -> Value {
        Value::Bytes(value)
    }
}

//! A statement and the values of its parameters.

use std::borrow::Cow;

use sqlx::postgres::PgArguments;
use sqlx::sqlite::SqliteArguments;
use sqlx::{AssertSqlSafe, Error, SqlSafeStr, SqlStr};

use super::value::Value;

/// A statement. The text is part of this program; values are always parameters.
#[derive(Clone, Debug)]
pub struct Statement {
    pub(super) sql: Cow<'static, str>,
    pub(super) values: Vec<Value>,
    /// Whether the database keeps the prepared statement for the next time.
    pub(super) is_kept: bool,
}

impl Statement {
    pub(super) fn into_sqlite(self) -> Result<(SqlStr, SqliteArguments, bool), Error> {
        let mut arguments = SqliteArguments::default();
        let values = self.values.into_iter();
        for value in values {
            value.add_to_sqlite(&mut arguments).map_err(Error::Encode)?;
        }
        Ok((text(self.sql), arguments, self.is_kept))
    }

    /// `keeps_statements`: whether sessions may keep prepared statements.
    pub(super) fn into_postgres(self, keeps_statements: bool) -> Result<(SqlStr, PgArguments, bool), Error> {
        let mut arguments = PgArguments::default();
        for value in self.values {
            value.add_to_postgres(&mut arguments).map_err(Error::Encode)?;
        }
        // Otherwise the driver creates a named statement, even for a single use.
        Ok((text(self.sql), arguments, self.is_kept && keeps_statements))
    }
}

/// Statements with more bytes of blobs than this have parameters, because a blob in a text is twice as long.
const LARGE: usize = 65_536;

impl Statement {
    /// Whether the values travel in the text of the statement, if sessions keep no prepared statements: a statement with parameters takes two
    /// round trips then, and a transaction of its own.
    pub(super) fn fits_text(&self) -> bool {
        let bytes = self.values.iter().map(|value| match value {
            Value::Bytes(Some(bytes)) => bytes.len(),
            _ => 0,
        });
        bytes.sum::<usize>() <= LARGE
    }

    /// Returns the text for PostgreSQL with the values as literals of the types that their parameters would have.
    ///
    /// # Errors
    /// [`Error::Encode`] if a parameter has no value.
    pub(super) fn into_text(self) -> Result<String, Error> {
        let literals: Vec<String> = self.values.into_iter().map(Value::into_literal).collect();
        let mut text = String::with_capacity(self.sql.len() + literals.iter().map(String::len).sum::<usize>());
        let mut pieces = self.sql.split('$');
        text.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let end = piece.find(|char: char| !char.is_ascii_digit()).unwrap_or(piece.len());
            let literal = piece[..end].parse::<usize>().ok().and_then(|nth| literals.get(nth.checked_sub(1)?));
            text.push_str(literal.ok_or_else(|| Error::Encode("a parameter without a value".into()))?);
            text.push_str(&piece[end..]);
        }
        Ok(text)
    }
}

fn text(sql: Cow<'static, str>) -> SqlStr {
    match sql {
        Cow::Borrowed(sql) => SqlStr::from_static(sql),
        Cow::Owned(sql) => AssertSqlSafe(sql).into_sql_str(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(sql: &'static str, values: Vec<Value>) -> String {
        Statement { sql: sql.into(), values, is_kept: true }.into_text().expect("a text")
    }

    #[test]
    fn values_become_literals() {
        let bytes = || Value::from(vec![0, 0xAB, b'\'']);
        for (sql, values, expected) in [
            ("SELECT 1", vec![], "SELECT 1"),
            ("$1 - $2", vec![1.into(), (-2).into()], "'1'::bigint - '-2'::bigint"),
            ("($2, $1, $2)", vec![1.into(), "x".into()], "(E'x'::text, '1'::bigint, E'x'::text)"),
            ("= $1", vec!["a'b\\c$1\0".into()], "= E'a''b\\\\c$1\u{FFFD}'::text"),
            ("$1, $2", vec![None::<i64>.into(), None::<String>.into()], "NULL::bigint, NULL::text"),
            ("$1, $2", vec![bytes(), None::<Vec<u8>>.into()], "E'\\\\x00ab27'::bytea, NULL::bytea"),
        ] {
            assert_eq!(text_of(sql, values), expected);
        }
        let ten = (1..=10).map(Value::from).collect();
        assert_eq!(text_of("$10$1", ten), "'10'::bigint'1'::bigint");
        let missing = Statement { sql: "$2".into(), values: vec![1.into()], is_kept: true };
        missing.into_text().expect_err("no second value");
    }

    #[test]
    fn large_blobs_stay_parameters() {
        let of = |length: usize| Statement { sql: "$1".into(), values: vec![vec![0; length].into()], is_kept: true };
        assert!(of(LARGE).fits_text() && !of(LARGE + 1).fits_text());
    }
}

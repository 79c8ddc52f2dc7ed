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

fn text(sql: Cow<'static, str>) -> SqlStr {
    match sql {
        Cow::Borrowed(sql) => SqlStr::from_static(sql),
        Cow::Owned(sql) => AssertSqlSafe(sql).into_sql_str(),
    }
}

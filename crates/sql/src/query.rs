//! Queries: statements, and the types of their rows.

use std::borrow::Cow;

use sqlx::Error;

use super::dialect::Dialect;
use super::pool::Executor;
use super::row::{Field, FromRow, Row};
use super::statement::Statement;
use super::value::Value;

/// A statement with rows of type `T`.
pub struct Query<T> {
    statement: Statement,
    read: fn(Row) -> Result<T, Error>,
}

impl<T> Clone for Query<T> {
    fn clone(&self) -> Query<T> {
        Query { statement: self.statement.clone(), read: self.read }
    }
}

/// Creates a statement. The text comes from this program; values are parameters.
pub fn query(sql: impl Into<Cow<'static, str>>) -> Query<Row> {
    of(sql, Ok)
}

/// Creates a query for tuples.
pub fn query_as<T: FromRow>(sql: impl Into<Cow<'static, str>>) -> Query<T> {
    of(sql, |row| T::from_row(&row))
}

/// Creates a query with a single column.
pub fn query_scalar<T: for<'r> Field<'r>>(sql: impl Into<Cow<'static, str>>) -> Query<T> {
    of(sql, |row| row.try_get(0))
}

fn of<T>(sql: impl Into<Cow<'static, str>>, read: fn(Row) -> Result<T, Error>) -> Query<T> {
    Query { statement: Statement { sql: sql.into(), values: Vec::new(), is_kept: true }, read }
}

impl<T> Query<T> {
    pub fn bind(mut self, value: impl Into<Value>) -> Query<T> {
        self.statement.values.push(value.into());
        self
    }

    /// Sets whether the database keeps the prepared statement. Statements used only once would displace others.
    pub fn persistent(mut self, is_kept: bool) -> Query<T> {
        self.statement.is_kept = is_kept;
        self
    }

    pub(super) fn fits_text(&self) -> bool {
        self.statement.fits_text()
    }

    pub(super) fn into_statement(self) -> Statement {
        self.statement
    }

    pub async fn fetch_all(self, on: impl Executor) -> Result<Vec<T>, Error> {
        on.run(self.statement).await?.rows.into_iter().map(self.read).collect()
    }

    /// Returns the first row, if any.
    pub async fn fetch_optional(self, on: impl Executor) -> Result<Option<T>, Error> {
        on.first_row(self.statement).await?.map(self.read).transpose()
    }

    pub async fn fetch_one(self, on: impl Executor) -> Result<T, Error> {
        self.fetch_optional(on).await?.ok_or(Error::RowNotFound)
    }

    /// Returns the number of rows affected.
    pub async fn execute(self, on: impl Executor) -> Result<u64, Error> {
        Ok(on.run(self.statement).await?.changed)
    }
}

/// A statement built from pieces.
pub struct Builder {
    dialect: Dialect,
    sql: String,
    values: Vec<Value>,
}

impl Builder {
    pub fn new(dialect: Dialect, sql: &str) -> Builder {
        Builder { dialect, sql: sql.to_owned(), values: Vec::new() }
    }

    pub fn push(&mut self, sql: &str) -> &mut Builder {
        self.sql.push_str(sql);
        self
    }

    pub fn push_bind(&mut self, value: impl Into<Value>) -> &mut Builder {
        self.values.push(value.into());
        self.dialect.push_parameter(&mut self.sql, self.values.len());
        self
    }

    /// Pushes values separated by commas, and a closing parenthesis.
    pub fn push_list<V: Into<Value>>(&mut self, values: impl IntoIterator<Item = V>) -> &mut Builder {
        for (nth, value) in values.into_iter().enumerate() {
            if nth > 0 {
                self.push(", ");
            }
            self.push_bind(value);
        }
        self.push(")")
    }

    /// Pushes the rows of an INSERT.
    pub fn push_rows<const N: usize>(&mut self, rows: impl IntoIterator<Item = [Value; N]>) -> &mut Builder {
        self.push("VALUES ");
        for (nth, row) in rows.into_iter().enumerate() {
            self.push(if nth > 0 { ", (" } else { "(" }).push_list(row);
        }
        self
    }

    /// Returns the text of the statement so far.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// Like [`Self::build`], for a statement with this number of rows or values. It is prepared once for
    /// [`Dialect::rows_per_statement`]: the statements of all other numbers would fill the memory of the connection.
    pub fn build_for(self, rows: usize) -> Query<Row> {
        let is_kept = rows == self.dialect.rows_per_statement();
        self.build().persistent(is_kept)
    }

    pub fn build(self) -> Query<Row> {
        Query { statement: Statement { sql: self.sql.into(), values: self.values, is_kept: true }, read: Ok }
    }
}

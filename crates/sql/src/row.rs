//! Rows of results.

use std::borrow::Cow;

use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{ColumnIndex, Decode, Postgres, Row as _, Sqlite, Type};

/// A row of either database.
pub enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// A type supported by both databases.
pub trait Field<'r>: Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + Type<Postgres> {}

impl<'r, T> Field<'r> for T where T: Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + Type<Postgres> {}

/// The position or the name of a column.
pub trait Index: ColumnIndex<SqliteRow> + ColumnIndex<PgRow> {}

impl<I: ColumnIndex<SqliteRow> + ColumnIndex<PgRow>> Index for I {}

impl Row {
    /// Returns the value in a column.
    pub fn try_get<'r, T: Field<'r>, I: Index>(&'r self, index: I) -> Result<T, sqlx::Error> {
        match self {
            Row::Sqlite(row) => row.try_get(index),
            Row::Postgres(row) => row.try_get(index),
        }
    }
}

impl Row {
    /// Returns a blob. On a server, it may have come as text.
    pub fn bytes<I: Index>(&self, index: I) -> Result<Cow<'_, [u8]>, sqlx::Error> {
        match self {
            Row::Sqlite(row) => row.try_get(index).map(Cow::Borrowed),
            Row::Postgres(row) => row.try_get(index).map(Cow::Owned),
        }
    }

    /// Returns a blob, or `None` for NULL.
    pub fn optional_bytes<I: Index>(&self, index: I) -> Result<Option<Cow<'_, [u8]>>, sqlx::Error> {
        Ok(match self {
            Row::Sqlite(row) => row.try_get::<Option<&[u8]>, _>(index)?.map(Cow::Borrowed),
            Row::Postgres(row) => row.try_get::<Option<Vec<u8>>, _>(index)?.map(Cow::Owned),
        })
    }
}

/// A tuple of the columns of a row, in order.
pub trait FromRow: Sized {
    fn from_row(row: &Row) -> Result<Self, sqlx::Error>;
}

macro_rules! tuples {
    ($($($name:ident $at:literal)+;)+) => {$(
        impl<$($name: for<'r> Field<'r>),+> FromRow for ($($name,)+) {
            fn from_row(row: &Row) -> Result<Self, sqlx::Error> {
                Ok(($(row.try_get::<$name, _>($at)?,)+))
            }
        }
    )+};
}

tuples! {
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
}

//! Statements over many rows. Each is prepared once for 1, 2, 4, … rows and then found in the connection's cache, where
//! a statement for every number of rows would be compiled anew nearly each time.

use std::fmt::Write;

use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

/// The most rows that one statement is made for.
pub const MOST_ROWS: usize = 256;

/// A statement with a `VALUES` list, by the number of rows in it.
pub struct Batched {
    by_power: Vec<SqlStr>,
}

impl Batched {
    /// `before` and `after` stand around the list, of which each row has `columns` parameters.
    pub fn new(before: &str, columns: usize, after: &str) -> Batched {
        let powers = (0..).map(|power| 1_usize << power).take_while(|rows| *rows <= MOST_ROWS);
        let by_power = powers.map(|rows| {
            let sql = format!("{before} {} {after}", values(rows, columns));
            // Only our own constants went into it.
            AssertSqlSafe(sql).into_sql_str()
        });
        Batched { by_power: by_power.collect() }
    }

    /// The statement for `rows`, which has to be a power of two up to [`MOST_ROWS`].
    pub fn of(&self, rows: usize) -> SqlStr {
        self.by_power[rows.trailing_zeros() as usize].clone()
    }
}

fn values(rows: usize, columns: usize) -> String {
    let mut text = String::from("VALUES ");
    for row in 0..rows {
        text.push_str(if row == 0 { "(" } else { ", (" });
        for column in 1..=columns {
            let separator = if column == 1 { "" } else { ", " };
            // Writing to a string cannot fail.
            let _ = write!(text, "{separator}${}", row * columns + column);
        }
        text.push(')');
    }
    text
}

/// Splits rows into batches whose sizes are powers of two, the largest first.
pub fn batches<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let size = 1 << rows.len().min(MOST_ROWS).checked_ilog2()?;
        let (batch, rest) = rows.split_at(size);
        rows = rest;
        Some(batch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_through() {
        let sql = Batched::new("INSERT INTO t (a, b)", 2, "RETURNING a");
        assert_eq!(sql.of(1).as_str(), "INSERT INTO t (a, b) VALUES ($1, $2) RETURNING a");
        assert_eq!(sql.of(2).as_str(), "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4) RETURNING a");
        assert!(sql.of(MOST_ROWS).as_str().contains("($511, $512)"));
    }

    #[test]
    fn batches_are_powers_of_two_and_miss_nothing() {
        for count in [0, 1, 2, 3, 37, 255, 256, 257, 700] {
            let rows: Vec<usize> = (0..count).collect();
            let split: Vec<_> = batches(&rows).collect();
            assert!(split.iter().all(|batch| batch.len().is_power_of_two() && batch.len() <= MOST_ROWS));
            assert_eq!(split.concat(), rows);
        }
    }
}

//! Differences between SQLite and PostgreSQL that affect several tables.

/// The language of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// Pushes the placeholder of the `nth` parameter, from 1. SQLite treats `$1` as a name and compares each name with all
    /// earlier names, which is slow for many parameters.
    pub(super) fn push_parameter(self, sql: &mut String, nth: usize) {
        match self {
            Dialect::Sqlite => sql.push('?'),
            Dialect::Postgres => {
                sql.push('$');
                sql.push_str(&nth.to_string());
            }
        }
    }

    /// Returns the maximum number of rows per statement. A server gets large statements, because each is a round trip; databases
    /// limit the number of parameters.
    pub fn rows_per_statement(self) -> usize {
        match self {
            Dialect::Sqlite => 64,
            Dialect::Postgres => 1000,
        }
    }

    /// Returns the condition that a number is in a JSON array.
    pub fn is_in(self, parameter: &str) -> String {
        format!("IN (SELECT value FROM {})", self.numbers(parameter))
    }

    /// Returns a table with the numbers of a JSON array, in the column `value`.
    pub fn numbers(self, parameter: &str) -> String {
        match self {
            Dialect::Sqlite => format!("json_each({parameter})"),
            Dialect::Postgres => format!(
                "(SELECT CAST(element AS BIGINT) AS value FROM json_array_elements_text(CAST({parameter} AS JSON)) AS element) AS numbers"
            ),
        }
    }

    /// Returns a table with the pairs of numbers of a JSON array, in the columns `one` and `other`.
    pub fn pairs(self, parameter: &str) -> String {
        match self {
            Dialect::Sqlite => {
                format!("(SELECT value ->> 0 AS one, value ->> 1 AS other FROM json_each({parameter})) AS pairs")
            }
            Dialect::Postgres => format!(
                "(SELECT CAST(element ->> 0 AS BIGINT) AS one, CAST(element ->> 1 AS BIGINT) AS other \
                 FROM json_array_elements(CAST({parameter} AS JSON)) AS element) AS pairs"
            ),
        }
    }

    /// Returns the text of a JSON array of these columns.
    pub fn json_array(self, columns: &str) -> String {
        match self {
            Dialect::Sqlite => format!("json_array({columns})"),
            Dialect::Postgres => format!("CAST(json_build_array({columns}) AS TEXT)"),
        }
    }

    /// Returns the text of a JSON array with an array of these columns for each row, in any order.
    pub fn json_rows(self, columns: &str) -> String {
        match self {
            Dialect::Sqlite => format!("json_group_array(json_array({columns}))"),
            Dialect::Postgres => {
                format!("COALESCE(CAST(json_agg(json_build_array({columns})) AS TEXT), '[]')")
            }
        }
    }

    /// Returns the end of a SELECT for rows to be changed later in the transaction. Empty for SQLite: writing transactions
    /// exclude each other anyway.
    pub fn for_update(self) -> &'static str {
        match self {
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR UPDATE",
        }
    }

    /// Same as [`Self::for_update`], but skips rows locked by another transaction.
    pub fn for_update_of_free_rows(self) -> &'static str {
        match self {
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR UPDATE SKIP LOCKED",
        }
    }

    /// Returns the statement that serializes transactions with the same number, or `None` if the database always does.
    pub fn one_at_a_time(self) -> Option<&'static str> {
        match self {
            Dialect::Sqlite => None,
            Dialect::Postgres => Some("SELECT pg_advisory_xact_lock($1)"),
        }
    }

    /// Returns the statement that returns the space of removed rows to the system. PostgreSQL does so automatically.
    pub fn release_space(self) -> Option<&'static str> {
        match self {
            Dialect::Sqlite => Some("PRAGMA incremental_vacuum"),
            Dialect::Postgres => None,
        }
    }
}

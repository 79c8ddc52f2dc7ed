//! What SQLite and PostgreSQL say differently.

/// The language of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ledger) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// Pushes the placeholder of the `nth` parameter, from 1. SQLite takes `$1` for a name, and looks each name up among all
    /// names before it.
    pub(super) fn push_parameter(self, sql: &mut String, nth: usize) {
        match self {
            Dialect::Sqlite => sql.push('?'),
            Dialect::Postgres => {
                sql.push('$');
                sql.push_str(&nth.to_string());
            }
        }
    }

    /// Returns the condition that a number is in a JSON array.
    pub(in crate::ledger) fn is_in(self, parameter: &str) -> String {
        format!("IN (SELECT value FROM {})", self.numbers(parameter))
    }

    /// Returns a table with the numbers of a JSON array, in the column `value`.
    pub(in crate::ledger) fn numbers(self, parameter: &str) -> String {
        match self {
            Dialect::Sqlite => format!("json_each({parameter})"),
            Dialect::Postgres => format!(
                "(SELECT CAST(element AS BIGINT) AS value FROM json_array_elements_text(CAST({parameter} AS JSON)) AS element) AS numbers"
            ),
        }
    }

    /// Returns a table with the pairs of numbers of a JSON array, in the columns `one` and `other`.
    pub(in crate::ledger) fn pairs(self, parameter: &str) -> String {
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
    pub(in crate::ledger) fn json_array(self, columns: &str) -> String {
        match self {
            Dialect::Sqlite => format!("json_array({columns})"),
            Dialect::Postgres => format!("CAST(json_build_array({columns}) AS TEXT)"),
        }
    }

    /// Returns the text of a JSON array with an array of these columns for each row.
    pub(in crate::ledger) fn json_rows(self, columns: &str, order: &str) -> String {
        match self {
            Dialect::Sqlite => format!("json_group_array(json_array({columns}) ORDER BY {order})"),
            Dialect::Postgres => {
                format!("COALESCE(CAST(json_agg(json_build_array({columns}) ORDER BY {order}) AS TEXT), '[]')")
            }
        }
    }

    /// The end of a SELECT whose rows are changed later in the transaction. The transactions of SQLite exclude each other anyway.
    pub(in crate::ledger) fn for_update(self) -> &'static str {
        match self {
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR UPDATE",
        }
    }

    /// The query for the number of a new run. Several processes may plan at the same time; a number of PostgreSQL may stay unused.
    pub(in crate::ledger) fn next_run(self) -> &'static str {
        match self {
            Dialect::Sqlite => "SELECT COALESCE(MAX(id), 0) + 1 FROM run",
            Dialect::Postgres => "SELECT nextval('run_id')",
        }
    }

    /// The query for the next ids of claims, as many as its parameter says.
    pub(in crate::ledger) fn next_claims(self) -> &'static str {
        match self {
            Dialect::Sqlite => {
                "WITH RECURSIVE counted (nth) AS (SELECT 1 UNION ALL SELECT nth + 1 FROM counted WHERE nth < $1) \
                 SELECT (SELECT COALESCE(MAX(id), 0) FROM claim) + nth FROM counted ORDER BY nth"
            }
            Dialect::Postgres => "SELECT nextval('claim_id_value') FROM generate_series(1, $1)",
        }
    }

    /// The statement that makes the transactions with the same number wait for each other, if they don't anyway.
    pub(in crate::ledger) fn one_at_a_time(self) -> Option<&'static str> {
        match self {
            Dialect::Sqlite => None,
            Dialect::Postgres => Some("SELECT pg_advisory_xact_lock($1)"),
        }
    }

    /// The statement that returns the space of removed rows to the system. PostgreSQL does so by itself.
    pub(in crate::ledger) fn release_space(self) -> Option<&'static str> {
        match self {
            Dialect::Sqlite => Some("PRAGMA incremental_vacuum"),
            Dialect::Postgres => None,
        }
    }

    /// The statement that writes the file anew.
    pub(in crate::ledger) fn shrink(self) -> Option<&'static str> {
        match self {
            Dialect::Sqlite => Some("VACUUM"),
            Dialect::Postgres => None,
        }
    }
}

//! Errors that another attempt does not cure.

use sqlx::postgres::PgDatabaseError;

use super::super::error::Error;

/// SQLSTATE codes of a read-only transaction, missing rights, and missing schemas, tables and columns.
const OF_SERVER: [&str; 5] = ["25006", "42501", "3F000", "42P01", "42703"];
/// The result code of SQLite for a file that can't be written.
const READ_ONLY: u32 = 8;

impl Error {
    /// Whether every further attempt ends in the same way until somebody changes the database or the program.
    pub fn is_lasting(&self) -> bool {
        match self {
            Error::NewerVersion { .. } | Error::DevelopmentVersion { .. } => true,
            // Damage of a single run keeps no other run from being sent.
            Error::Damaged { .. } => false,
            error if error.is_damage() => true,
            Error::Database(error) => {
                let Some(error) = error.as_database_error() else { return false };
                let code = error.code().unwrap_or_default();
                match error.try_downcast_ref::<PgDatabaseError>() {
                    Some(_) => OF_SERVER.contains(&code.as_ref()),
                    None => code.parse::<u32>().is_ok_and(|code| code & 0xFF == READ_ONLY),
                }
            }
            _ => false,
        }
    }
}

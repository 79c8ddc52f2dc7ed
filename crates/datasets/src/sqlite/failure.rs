//! Errors of SQLite.

use std::io;

use rusqlite::ErrorCode;

use crate::error::Error;

/// Returns the conversion of an error of SQLite.
pub(super) fn failed(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Locked,
        Some(ErrorCode::NotADatabase) => Error::Foreign,
        Some(ErrorCode::DiskFull) => Error::Write(io::ErrorKind::StorageFull.into()),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Error::Write(io::ErrorKind::PermissionDenied.into()),
        _ => Error::Database(error.to_string()),
    }
}

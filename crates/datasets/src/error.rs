//! Why a table can't be written.

use std::io;

/// The messages follow the name of the file.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("can't be written: {0}")]
    Write(#[from] io::Error),
    #[error("can't be written: this executable has no Parquet")]
    NotIncluded,
    #[error("is no database of an export")]
    Foreign,
    #[error("has a table {table} that no export made")]
    ForeignTable { table: String },
    #[error("has a table {table} whose column {column} was changed or removed since the last export")]
    ChangedColumn { table: String, column: String },
    #[error("is an export of workspace {workspace} at {base_url}")]
    OtherOrigin { workspace: String, base_url: String },
    #[error("is locked by another program")]
    Locked,
    #[error("would need {columns} columns in the table {table}, and a database has at most {most}")]
    TooManyColumns { table: String, columns: usize, most: usize },
    #[error("can't be updated: a record of {table} has no id, by which it would be found again")]
    NoId { table: String },
    #[error("can't take the value {value} of the column {column}")]
    Value { column: String, value: String },
    #[error("can't be used: {0}")]
    Database(String),
}

impl Error {
    /// Returns what to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Error::Write(_) => {
                "check that the disk is not full, and that you may write there; the former file is as it was"
            }
            Error::NotIncluded => {
                "published executables include it; to build one: cargo install --locked --path . --features keyring --features parquet \
                 --features storage"
            }
            Error::Foreign | Error::ForeignTable { .. } => {
                "choose another name, move the file away, or add --replace (in a job: replace = true), which replaces all of it"
            }
            Error::ChangedColumn { .. } => {
                "put own columns into a table or a view of your own; to begin the file anew, move it away or add --replace"
            }
            Error::OtherOrigin { .. } => {
                "check the profile, the tokens and the address; if this export is to take its place, move the file away"
            }
            Error::Locked => {
                "close the program that writes to it, and run the same command again; the file is as it was"
            }
            Error::TooManyColumns { .. } => "choose columns with an export template, or export to .parquet or .csv",
            Error::NoId { .. } => "export to .parquet or .csv, which need no ids",
            Error::Value { .. } => "export to .csv or .ndjson, which take any value",
            Error::Database(_) => "check the file with sqlite3 FILE 'pragma integrity_check', or move it away",
        }
    }
}

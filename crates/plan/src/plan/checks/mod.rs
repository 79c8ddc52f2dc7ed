//! Checks beyond single values: of rows, of records against each other, and of the file as a whole.

pub(crate) mod appearance;
pub(crate) mod asked;
pub(crate) mod blank_columns;
pub(crate) mod copied;
pub(crate) mod duplicates;
pub(crate) mod file_warnings;
pub(crate) mod grouped_identifiers;
pub(crate) mod keys;
pub(crate) mod name;
pub(crate) mod repeated;
pub(crate) mod row_problems;
pub(crate) mod suspects;
pub(crate) mod tables_read;
pub(crate) mod titles;
pub(crate) mod twice_encoded;

//! Checks beyond single values: of rows, of records against each other, and of the file as a whole.

pub(in crate::upload::plan) mod appearance;
pub(in crate::upload::plan) mod asked;
pub(in crate::upload::plan) mod blank_columns;
pub(in crate::upload::plan) mod copied;
pub(in crate::upload::plan) mod duplicates;
pub(in crate::upload::plan) mod file_warnings;
pub(in crate::upload::plan) mod grouped_identifiers;
pub(in crate::upload::plan) mod keys;
pub(in crate::upload::plan) mod name;
pub(in crate::upload::plan) mod parts_read;
pub(in crate::upload::plan) mod repeated;
pub(in crate::upload) mod row_problems;
pub(in crate::upload::plan) mod suspects;
pub(in crate::upload::plan) mod twice_encoded;

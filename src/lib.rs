//! Sheetport carries business records between spreadsheets and the Workspace Business-Records REST API.

pub mod records;
pub mod service;
pub mod sheet;

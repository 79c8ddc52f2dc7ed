//! Sheetport carries business records between spreadsheets and the Workspace Business-Records REST API.

pub mod records;
pub mod report;
pub mod sheet;
pub mod api;
pub mod export;
pub mod ledger;
pub mod template;
pub mod upload;

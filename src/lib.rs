//! Sheetport carries business records between spreadsheets and the Workspace Business-Records REST API.
//!
//! | room | what it is for | of ours it may import |
//! |---|---|---|
//! | [`decimal`] | exact decimal numbers | nothing |
//! | [`records`] | the contract as types and data | `decimal` |
//! | [`sheet`] | cells, readers, writers; what a file turns out to be | `decimal` |
//! | [`diagnostics`] | mistakes in files that people write, and the words that were meant | nothing |
//! | [`template`] | mapping templates: columns to fields, pure | `decimal`, `sheet`, `records`, `diagnostics` |
//! | [`client`] | one HTTP attempt, and the policies around it | `records` |
//! | [`ledger`] | runs, durable: all SQL of the client side | `records` |
//! | [`upload`] | plan and send | `template`, `sheet`, `client`, `ledger`, `records`, `decimal` |
//! | [`export`] | pages, spool, file | `client`, `sheet`, `ledger`, `records`, `decimal`, `diagnostics` |
//! | [`report`] | a run's outcomes as a spreadsheet | `ledger`, `sheet`, `decimal`, `records` |
//! | [`service`] | the service itself: all SQL of the server side | `records`, `decimal` |
//! | [`ui`] | all that speaks to a terminal | what it shows |
//! | [`operations`] | what may be done to which run, under which lock | `upload`, `export`, `report`, `template`, `client`, `ledger`, `service`, `sheet`, `records`, `decimal`, `diagnostics` |
//! | [`settings`], [`cli`], [`error`] | flags, what they resolve to, what the program ends with | what they name |
//! | [`commands`] | one file a command | everything |
//!
//! Only `commands` and `main` touch `ui` and `settings`. A test reads the imports and holds these rules;
//! ARCHITECTURE.md tells the rest.

pub mod cli;
pub mod client;
pub mod commands;
pub mod decimal;
pub mod diagnostics;
pub mod error;
pub mod export;
pub mod ledger;
pub mod operations;
pub mod records;
pub mod report;
pub mod service;
pub mod settings;
pub mod sheet;
pub mod template;
pub mod ui;
pub mod upload;

//! Sheetport moves business records between spreadsheets and the Workspace Business-Records REST API.
//!
//! | module | purpose | may import |
//! |---|---|---|
//! | [`commands`] | one file per command: parse, call one operation, print | everything |
//! | [`settings`], [`cli`], [`error`] | flags, resolved settings, exit codes | what they name |
//! | [`ui`] | terminal output | what it shows |
//! | [`review`] | the browser page for matching, fixing and sending a spreadsheet | `operations`, `upload`, `report`, `problem_codes`, `template`, `client`, `ledger`, `sheet`, `records`, `programs`, `readers`, `language`, `web_server` |
//! | [`operations`] | the operations on runs, with their locks and permissions | `upload`, `export`, `report`, `template`, `object_storage`, `client`, `ledger`, `service`, `sql`, `telemetry`, `sheet`, `records`, `decimal`, `diagnostics`, `digest`, `links`, `programs`, `readers`, `text_file`, `visible`, `absolute_path` |
//! | [`upload`] | plan and send | `checks`, `template`, `sheet`, `client`, `ledger`, `telemetry`, `records`, `decimal`, `currency`, `digest`, `visible` |
//! | [`export`] | pages, spool, table, file | `client`, `sheet`, `ledger`, `records`, `decimal`, `diagnostics`, `digest`, `links`, `readers`, `absolute_path` |
//! | [`report`] | the outcomes of a run as a workbook, CSV or web page | `ledger`, `sheet`, `decimal`, `records`, `problem_codes`, `readers`, `language`, `visible` |
//! | [`checks`] | evidence about the values of a sheet | `template`, `sheet`, `decimal` |
//! | [`template`] | mapping templates: from columns to fields, pure | `decimal`, `currency`, `sheet`, `records`, `diagnostics`, `visible` |
//! | [`object_storage`] | files in S3, Google Cloud Storage and Azure Blob Storage | `client` |
//! | [`client`] | transport, retry policy, rate limiting, authentication, paging | `telemetry`, `records`, `digest`, `readers`, `absolute_path` |
//! | [`ledger`] | durable runs; all SQL of the client side | `sql`, `records`, `digest`, `readers` |
//! | [`service`] | the embedded service; all SQL of the server side | `sql`, `records`, `decimal`, `diagnostics`, `readers`, `web_server` |
//! | [`sql`] | statements over SQLite and PostgreSQL, connections and transactions | nothing |
//! | [`sheet`] | cells, readers and writers of spreadsheets | `decimal`, `currency`, `digest`, `readers`, `text_file`, `visible` |
//! | [`telemetry`] | traces and metrics for OpenTelemetry | `records` |
//! | [`records`] | the service's contract as data | `decimal` |
//! | [`currency`] | ISO 4217 codes, and currency signs next to amounts | nothing |
//! | [`decimal`] | exact decimal numbers | nothing |
//! | [`digest`] | SHA-256 | nothing |
//! | [`language`] | translations of what people read | nothing |
//! | [`problem_codes`] | explanations of the codes of problems, and what of them a supplier may see | `diagnostics` |
//! | [`links`] | links that other users may have made | nothing |
//! | [`diagnostics`] | errors with positions in TOML files, spelling suggestions | `visible` |
//! | [`programs`] | what other programs inherit of the environment | nothing |
//! | [`readers`] | permissions of files and folders | nothing |
//! | [`text_file`] | reading of small text files | nothing |
//! | [`absolute_path`] | absolute paths | nothing |
//! | [`web_server`] | connections, host names and pages of both web servers | nothing |
//! | [`visible`] | makes invisible and control characters of foreign text visible | nothing |
//!
//! Only `commands` and `main` import `ui`, `cli` and `settings`. A test enforces these rules; ARCHITECTURE.md explains them.

#![warn(unreachable_pub)]

mod absolute_path;
pub mod checks;
pub mod cli;
pub mod client;
pub mod commands;
pub mod currency;
pub mod decimal;
pub mod diagnostics;
mod digest;
pub mod error;
pub mod export;
pub mod language;
pub mod ledger;
mod links;
pub mod object_storage;
pub mod operations;
pub mod problem_codes;
mod programs;
pub mod readers;
pub mod records;
pub mod report;
pub mod review;
pub mod service;
pub mod settings;
pub mod sheet;
mod sql;
pub mod telemetry;
pub mod template;
mod text_file;
pub mod ui;
pub mod upload;
mod visible;
mod web_server;

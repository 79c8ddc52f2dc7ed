//! The page of `sheetport review`: a web server for this machine. People match, fix and send a spreadsheet there. The server
//! decides nothing: every step calls the same operation as a command.
//!
//! | file or folder | purpose |
//! |---|---|
//! | `server` | routes, and the address of the page; begin here |
//! | `browser`, `opener` | starting a browser without telling other users the address |
//! | `handlers` | one function for each request, in a file for each part of the page |
//! | `http` | access control, the files of the page, bodies in JSON, failures, and the language of the browser |
//! | `app` | state shared by all requests |
//! | `session` | a file under review: reading, template, edits, problems, remembered fixes, and its progress |
//! | `comparing` | comparing a file with the service before sending |
//! | `sending` | sending a file or the rest of a run |
//! | `looking` | the look at the changes before sending, of which a person approves what is sent |
//! | `undoing` | taking a run back |
//! | `view` | the responses, as JSON: files, and runs of the history |
//! | `page/` | the page itself: plain modules of JavaScript, style, and words in each language |
//!
//! The server holds the truth, in the ledger and in memory; the page holds only the visible rows and loads nothing from elsewhere. Only
//! requests from the own page are answered, by a browser that has the token of the address (`http/access.rs`).

mod app;
mod browser;
mod comparing;
mod handlers;
mod http;
mod looking;
mod opener;
mod sending;
mod server;
mod session;
mod undoing;
mod view;

pub use browser::{Opened, open};
pub use server::Server;

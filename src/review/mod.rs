//! The page of `sheetport review`: a web server for this machine. People match, fix and send a spreadsheet there. The server
//! decides nothing: every step calls the same operation as a command.
//!
//! | file | purpose |
//! |---|---|
//! | `server` | routes, and the address of the page |
//! | `access` | access control: hosts, origins, the token and the cookie |
//! | `assets` | the files of the page, and its translations |
//! | `session` | a file under review: reading, template, edits, problems |
//! | `remembering`, `memory` | fixes of many rows that the template does from now on, and taking that back |
//! | `comparing` | comparing a file with the service before sending |
//! | `sending`, `progress` | sending a file or the rest of a run, and the progress shown on the page |
//! | `handlers` | one function for each request, in a file for each part of the page |
//! | `view`, `run_view`, `json`, `failure` | the responses, as JSON |
//! | `translation` | the responses in the language of the browser |

mod access;
mod app;
mod assets;
mod comparing;
mod failure;
mod handlers;
mod json;
mod memory;
mod posted;
mod progress;
mod remembering;
mod run_view;
mod sending;
mod server;
mod session;
mod translation;
mod view;

pub use server::Server;

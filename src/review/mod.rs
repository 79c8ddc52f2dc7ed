//! The page of `sheetport review`: a web server for this machine, on which people match, fix and send a spreadsheet. It decides
//! nothing: every step calls the operation that a command calls, too.
//!
//! | file | purpose |
//! |---|---|
//! | `server` | routes, and the address of the page |
//! | `access` | who may use the page: hosts, origins, the token and the cookie |
//! | `assets` | the page itself, and its words in the language of the browser |
//! | `session` | a file under review: reading, template, edits, problems |
//! | `comparing` | comparing a file with the service before it is sent |
//! | `sending`, `progress` | sending a file, or what is left of a run, and what pages are told meanwhile |
//! | `handlers` | one function for each request, in a file for each part of the page |
//! | `view`, `run_view`, `json`, `failure` | what the page is told, as JSON |

mod access;
mod app;
mod assets;
mod comparing;
mod failure;
mod handlers;
mod json;
mod posted;
mod progress;
mod run_view;
mod sending;
mod server;
mod session;
mod view;

pub use server::Server;

//! Tests of the embedded service over HTTP. Bodies are written by hand from the contract, not generated from types.

use std::path::Path;

use sheetport_service::Config;
use tempfile::TempDir;

use self::running::*;

mod auth;
mod billing;
mod errors;
mod fault_injection;
mod forgotten_keys;
mod host;
mod idempotency;
mod items;
mod lifecycle;
mod lists;
mod literal;
mod load;
mod openapi;
mod orders;
mod running;
mod strict;
mod transactions;

const REFRESH: &str = "/api/token/refresh/";

/// Where a service keeps its records.
type Data = TempDir;

fn folder() -> Data {
    tempfile::tempdir().unwrap()
}

/// Returns the configuration of a service with its data in a folder.
fn config(data: &Path) -> Config {
    Config::new(data)
}

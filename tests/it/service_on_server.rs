//! The tests of the service that depend on its records, with the records in a PostgreSQL database.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

use sheetport_service::{Config, Storage};
use tempfile::TempDir;

use self::running::*;
use crate::postgres::Cluster;

#[path = "service/billing.rs"]
mod billing;
#[path = "service/idempotency.rs"]
mod idempotency;
#[path = "service/items.rs"]
mod items;
#[path = "service/lists.rs"]
mod lists;
#[path = "service/load.rs"]
mod load;
#[path = "service/orders.rs"]
mod orders;
#[path = "service/running.rs"]
mod running;
#[path = "service/transactions.rs"]
mod transactions;

/// The addresses of the databases that stand for folders.
static DATABASES: LazyLock<Mutex<HashMap<PathBuf, String>>> = LazyLock::new(Mutex::default);

/// A folder that stands for a database. Without PostgreSQL, a message says so, and it is only a folder.
struct Data {
    folder: TempDir,
    _server: Option<Cluster>,
}

impl Data {
    fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn folder() -> Data {
    let (folder, server) = (tempfile::tempdir().unwrap(), Cluster::start());
    if let Some(server) = &server {
        DATABASES.lock().unwrap().insert(folder.path().to_owned(), server.database("service"));
    }
    Data { folder, _server: server }
}

/// Returns the configuration of a service on the database that a folder stands for.
fn config(data: &Path) -> Config {
    match DATABASES.lock().unwrap().get(data) {
        Some(address) => Config::with(Storage::Server(address.parse().unwrap())),
        None => Config::new(data),
    }
}

//! A service, a ledger on a PostgreSQL server, and the machines that use both.

use std::time::Duration;

use super::process::{Ended, Place, Sheetport, until};
use crate::faults::server::{Reply, Seen, Server};
use crate::postgres::Cluster;

/// A template for transactions.
const MOVEMENTS: &str = "record = \"inventory-transaction\"\n[fields.transactionType]\nvalue = \"in\"\n\
                         [fields.inventoryExternalId]\ncolumn = \"SKU\"\n[fields.transactionAmount]\ncolumn = \"Quantity\"\n";

/// A service, a ledger on a server, and two machines.
pub struct Desk {
    pub server: Cluster,
    pub ledger: String,
    pub service: Server,
    pub place: Place,
}

impl Desk {
    /// Returns `None` with a message if PostgreSQL is not installed.
    pub async fn new(reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Option<Desk> {
        Some(Desk::with(Cluster::start()?, reply).await)
    }

    pub async fn with(server: Cluster, reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Desk {
        let ledger = server.database("ledger");
        let place = Place::new();
        place.write("movements.toml", MOVEMENTS);
        Desk { server, ledger, service: Server::start(reply).await, place }
    }

    /// Returns a command on one of the machines.
    pub fn on(&self, machine: &str, args: &[&str]) -> Sheetport {
        let home = self.place.path(machine);
        let command = self.place.sheetport(args).env("SHEETPORT_HOME", home.to_str().unwrap());
        let command = command.env("SHEETPORT_LEDGER", &self.ledger).env("SHEETPORT_BASE_URL", &self.service.address);
        command.secret("SHEETPORT_ACCESS_TOKEN", "access-1")
    }

    pub async fn run(&self, machine: &str, args: &[&str], code: i32) -> Ended {
        let command = self.on(machine, args);
        tokio::task::spawn_blocking(move || command.exits(code)).await.unwrap()
    }

    /// Starts an upload and kills it when the service has received `some` requests.
    pub fn killed_upload(&self, args: &[&str], some: usize) {
        let running = self.on("one", args).start();
        until("some requests", || (self.service.log().len() >= some).then_some(()));
        running.kill();
    }
}

/// Returns a CSV of transactions, each of another item.
pub fn moves(count: usize) -> String {
    let rows = (1..=count).map(|number| format!("S-{number},{number}\n"));
    std::iter::once("SKU,Quantity\n".to_owned()).chain(rows).collect()
}

pub fn late(reply: Reply) -> Reply {
    Reply::Late(Duration::from_millis(5), Box::new(reply))
}

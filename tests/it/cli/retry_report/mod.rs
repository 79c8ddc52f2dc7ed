//! `retry FILE` sends exactly the records that were not accepted yet, however the rows of the report were edited, sorted,
//! filtered, copied and saved.

mod cells;
mod groups;
mod kinds;
mod odd_cells;
mod refused;
mod rounds;
mod rows;
mod uploaded;
mod workbooks;

use std::path::Path;

use super::process::{Ended, Place, Sheetport};
use super::table;
use crate::faults::server::{Seen, Server};

/// A report as a person has it open: a header and rows of texts.
#[derive(Clone, Debug)]
struct Sheet(Vec<Vec<String>>);

impl Sheet {
    #[track_caller]
    fn open(place: &Place, name: &str) -> Sheet {
        Sheet(table(&place.path(name)))
    }

    #[track_caller]
    fn place_of(&self, header: &str) -> usize {
        self.0[0].iter().position(|name| name == header).unwrap_or_else(|| panic!("no {header} in {:?}", self.0[0]))
    }

    /// Writes into the cell of a row, counted as spreadsheets do.
    #[track_caller]
    fn set(&mut self, row: usize, header: &str, text: &str) -> &mut Sheet {
        let column = self.place_of(header);
        self.0[row - 1][column] = text.to_owned();
        self
    }

    fn replace(&mut self, from: &str, to: &str) -> &mut Sheet {
        self.0.iter_mut().flatten().filter(|cell| *cell == from).for_each(|cell| *cell = to.to_owned());
        self
    }

    /// Adds a row, blank where nothing is said.
    fn add(&mut self, cells: &[&str]) -> &mut Sheet {
        let mut row: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
        row.resize(self.0[0].len(), String::new());
        self.0.push(row);
        self
    }

    #[track_caller]
    fn sort_by(&mut self, header: &str) -> &mut Sheet {
        let column = self.place_of(header);
        self.0[1..].sort_by(|one, other| one[column].cmp(&other[column]));
        self
    }

    #[track_caller]
    fn drop_column(&mut self, header: &str) -> &mut Sheet {
        let column = self.place_of(header);
        self.0.iter_mut().for_each(|row| drop(row.remove(column)));
        self
    }

    #[track_caller]
    fn column(&self, header: &str) -> Vec<&str> {
        super::column(&self.0, header)
    }

    #[track_caller]
    fn save(&self, place: &Place, name: &str) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        self.0.iter().for_each(|row| writer.write_record(row).unwrap());
        place.write(name, writer.into_inner().unwrap());
    }
}

/// The executable with the address of `server`.
fn asking(place: &Place, server: &Server, args: &[&str]) -> Sheetport {
    let command = place.sheetport(args).env("SHEETPORT_BASE_URL", &server.address);
    command.secret("SHEETPORT_ACCESS_TOKEN", "access-1")
}

async fn run(place: &Place, server: &Server, args: &[&str], code: i32) -> Ended {
    let command = asking(place, server, args);
    tokio::task::spawn_blocking(move || command.exits(code)).await.unwrap()
}

/// What a member of a request's body says.
fn said(seen: &Seen, member: &str) -> String {
    let body: serde_json::Value = serde_json::from_str(&seen.body).unwrap();
    body[member].as_str().unwrap_or_default().to_owned()
}

fn exists(place: &Place, name: &str) -> bool {
    Path::new(&place.path(name)).exists()
}

const INVOICES: &str = "\
record = \"invoice\"
[group]
by = \"No\"
[fields.cid]
column = \"Cid\"
[lines.id]
column = \"Item\"
[lines.amount]
column = \"Amount\"
";

const ORDERS: &str = "\
record = \"order\"
[group]
by = \"No\"
[fields.externalId]
column = \"No\"
[lines.itemExternalId]
column = \"SKU\"
[lines.quantity]
column = \"Qty\"
";

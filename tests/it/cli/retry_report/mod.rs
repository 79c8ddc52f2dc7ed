//! `retry FILE` sends exactly the records that were not accepted yet, however the rows of the report were edited, sorted,
//! filtered, copied and saved.

mod cells;
mod corrected;
mod demo;
mod groups;
mod kinds;
mod layouts;
mod odd_cells;
mod refused;
mod rounds;
mod rows;
mod unedited;
mod uploaded;
mod workbooks;

use std::path::Path;

use super::process::{Ended, Place, Sheetport};
use super::service::Served;
use super::{accounting, summary, table};
use crate::faults::server::{Seen, Server};

const PRICES: &str = "\
SKU,Name,Price,Status
0042,Bolt,free,active
43,Nut,1.10,in stock from the beginning of the third quarter of 2027
44,Screw,2.50,active
45,Pin,3.50,active
";

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

    /// The columns that are no report's.
    fn own_columns(&self) -> Vec<usize> {
        (0..self.0[0].len()).filter(|column| !self.0[0][*column].starts_with("sheetport_")).collect()
    }

    /// Writes into the cells of a row from the first of the sheet's own columns on.
    fn fill(&mut self, row: usize, cells: &[&str]) -> &mut Sheet {
        for (column, cell) in self.own_columns().into_iter().zip(cells) {
            self.0[row - 1][column] = (*cell).to_owned();
        }
        self
    }

    /// Adds a row, blank where nothing is said.
    fn add(&mut self, cells: &[&str]) -> &mut Sheet {
        self.0.push(vec![String::new(); self.0[0].len()]);
        self.fill(self.0.len(), cells)
    }

    /// Deletes the rows with this text in a column.
    #[track_caller]
    fn leave_out(&mut self, header: &str, text: &str) -> &mut Sheet {
        let column = self.place_of(header);
        self.0.retain(|row| row[column] != text);
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

/// A place and a service where a file with rows that are wrong, refused and accepted was uploaded.
fn uploaded_prices() -> (Place, Served) {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("prices.csv", PRICES);
    served.sheetport(&place, ["upload", "prices.csv", "-t", "items"]).csv_report("prices.report.csv").exits(3);
    (place, served)
}

/// Hands a report back and answers the accounting.
#[track_caller]
fn retry_report(place: &Place, served: &Served, file: &str, code: i32) -> String {
    let retry = served.sheetport(place, ["retry", file, "--json"]).csv_report("mended.report.csv");
    accounting(&summary(&retry.exits(code)))
}

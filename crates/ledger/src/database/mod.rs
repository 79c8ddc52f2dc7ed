//! The connection to the database, in a file of SQLite or on a PostgreSQL server, and the tables in it.
//!
//! `sqlite` opens a file, `postgres` a server; everything else is the same, over `sheetport_sql`. On a server, the numbers of runs and claims
//! come from sequences. The statements of sending have the shortest time limit there, because of the repetitions (`again`).

mod again;
mod holder;
mod lasting;
mod ledger;
mod losses;
mod mark;
mod postgres;
mod reach;
mod shared_folder;
mod sqlite;
mod tables;
mod waiting;
mod waits;
mod went_back;

pub use again::Attempts;
pub(super) use again::Write;
pub use ledger::Ledger;
pub(super) use ledger::to_json;
pub use losses::Loss;
pub use mark::{Older, Reach};
#[cfg(test)]
pub(super) use tables::STEPS;
pub use waits::Patience;
pub use went_back::LostEnd;

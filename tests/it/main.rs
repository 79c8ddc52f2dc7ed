#![allow(clippy::unwrap_used)]

mod faults;
mod ledger;
mod sheet;

#![allow(clippy::unwrap_used)]

mod faults;
mod sheet;

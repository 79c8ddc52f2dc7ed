#![allow(clippy::unwrap_used)]

mod cli;
mod house;
mod sheet;

#![allow(clippy::unwrap_used)]

mod cli;
mod sheet;

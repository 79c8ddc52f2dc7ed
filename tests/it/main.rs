#![allow(clippy::unwrap_used)]

mod sheet;

//! The one integration binary: a module for each room of the house.

#![allow(clippy::unwrap_used)]

mod cli;
mod house;
mod service;
mod sheet;

//! The one integration binary: a module for each room of the house.

#![allow(clippy::unwrap_used)]

mod service;
mod sheet;
mod view;

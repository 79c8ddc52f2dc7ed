//! Compares headers with the names of fields, and finds the currency of prices.

pub(super) mod currency_hint;
mod name_match;
mod slots;

pub(super) use name_match::{Header, MatchKind, NameMatch};
pub(super) use slots::{Slot, Slots};

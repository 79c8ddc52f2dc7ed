//! Checks of a row: rows that are no records, conditions and rules of the template, currencies, and prices of several pieces.

mod conditions;
mod currencies;
mod no_record;
mod price_unit;

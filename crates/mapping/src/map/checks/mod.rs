//! Checks of a row: rows that are no records, conditions and rules of the template, currencies, prices of several pieces, and second
//! columns.

mod conditions;
mod currencies;
mod no_record;
mod price_unit;
mod second_column;

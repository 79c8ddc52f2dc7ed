//! Prices of several pieces, with the number of pieces in another column.

use sheetport_sheet::Row;

use crate::bind::Columns;
use crate::map::mapper::Mapper;
use crate::model::{FieldRule, Source};
use crate::problem::{Cause, Problem, excerpt};
use crate::words::amounts::is_several;

impl Mapper<'_> {
    /// Returns the problem of a price that is the price of several pieces. A template that calculates with the price is trusted.
    pub(crate) fn price_of_several(&self, rule: &FieldRule, columns: &Columns, row: &Row) -> Option<Problem> {
        let units = &self.special().price_units;
        if units.is_empty() {
            return None;
        }
        let is_price = matches!(rule.field.name, "price" | "purchasePrice");
        let (Source::Column(_), Columns::One(column), true, None) =
            (&rule.source, columns, is_price, rule.number.scale)
        else {
            return None;
        };
        let mut units = units.iter().map(|unit| (*unit, self.cell(row, *unit).shown()));
        let (unit, pieces) = units.find(|(_, pieces)| is_several(pieces))?;
        let name = |column: usize| excerpt(self.layout().header.names.get(column).map_or("", |name| name.trim()));
        let cause = Cause::PriceOfSeveral { pieces: excerpt(pieces.trim()), header: name(unit), price: name(*column) };
        Some(self.problem(rule, columns, row, cause))
    }
}

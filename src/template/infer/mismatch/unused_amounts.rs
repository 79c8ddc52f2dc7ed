//! Unused columns whose headers name an amount that the template could not find.

use super::super::headers::{Header, Slots};
use crate::currency::in_header;
use crate::records::Field;
use crate::template::bind::{Columns, Layout};
use crate::template::model::{Source, Template};
use crate::template::words::amounts::price_unit;

/// Minimum score of a header for the field.
const CERTAIN: f64 = 0.8;
/// Minimum score of a header with a word for a unit or a currency.
const PROBABLE: f64 = 0.6;

/// Returns the unused columns that are probably prices, each with the field that has no column. Without this check, an optional
/// column under another name would be ignored silently.
pub fn unused_amounts(template: &Template, layout: &Layout) -> Vec<(usize, &'static Field)> {
    let is_missing =
        |columns: &Columns, source: &Source| *columns == Columns::None && matches!(source, Source::Column(_));
    let missing = template
        .rules()
        .zip(&layout.columns)
        .filter(|(rule, columns)| rule.field.is_money && is_missing(columns, &rule.source));
    let mut missing = missing.map(|(rule, _)| rule).peekable();
    if layout.is_defused || layout.unused.is_empty() || missing.peek().is_none() {
        return Vec::new();
    }
    let slots = Slots::new(template.record);
    let named = missing.filter_map(|rule| {
        let slot = slots.find(rule.place, rule.field.name)?;
        let score = |column: &usize| {
            let header = Header::new(layout.header.names.get(*column)?);
            slot.names.best_match(&header, None).map(|found| found.score)
        };
        // A word for a unit or a currency makes no other field more probable.
        let has_unit = |column: &usize| {
            let name = &layout.header.names[*column];
            price_unit(name).is_some() || in_header(name).is_some()
        };
        let is_certain = |column: &&usize| {
            score(column).is_some_and(|score| score >= CERTAIN || score >= PROBABLE && has_unit(column))
        };
        layout.unused.iter().find(is_certain).map(|column| (*column, rule.field))
    });
    named.collect()
}

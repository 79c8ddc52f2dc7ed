//! Unused columns whose headers name a price, quantity, date or currency that the template could not find.

use sheetport_mapping::bind::{Columns, Layout};
use sheetport_mapping::model::{Place, Source, Template};
use sheetport_mapping::words::amounts::price_unit;
use sheetport_records::{Field, JsonType};
use sheetport_values::currency::in_header;

use super::super::headers::{Header, Slots};

/// Minimum score of a header for the field. Vague names such as "RRP", "Dealer price" and "Gross" count, because nothing else in
/// the sheet is the field.
const PROBABLE: f64 = 0.55;
/// Minimum score of a header with a word for a unit or a currency.
const WITH_UNIT: f64 = 0.5;
/// Minimum score of a header for a field that is no amount of money. A sheet has more dates and numbers than prices.
const CERTAIN: f64 = 0.7;
/// The field with the currency of a record.
const CURRENCY: &str = "currency";

/// Returns the unused columns that are probably prices, quantities, dates or currencies, each with the field that has no column.
/// Without this check, an optional column under another name would be ignored silently.
pub fn unused_values(template: &Template, layout: &Layout) -> Vec<(usize, &'static Field)> {
    let is_missing =
        |columns: &Columns, source: &Source| *columns == Columns::None && matches!(source, Source::Column(_));
    let is_value = |field: &Field| {
        field.is_money || field.json.is_number() || field.json == JsonType::DateTime || field.name == CURRENCY
    };
    let rules = template.rules().zip(&layout.columns).filter(|(rule, _)| is_value(rule.field));
    let rules: Vec<_> = rules.map(|(rule, columns)| (rule, is_missing(columns, &rule.source))).collect();
    if layout.is_defused || layout.unused.is_empty() || !rules.iter().any(|(_, is_missing)| *is_missing) {
        return Vec::new();
    }
    let slots = Slots::of(template.record);
    let mut named: Vec<(usize, &'static Field)> = Vec::new();
    for column in &layout.unused {
        let Some(name) = layout.header.names.get(*column) else { continue };
        let header = Header::new(name);
        // A word for a unit or a currency makes no other field more probable.
        let has_unit = || price_unit(name).is_some() || in_header(name).is_some();
        let scores = rules.iter().filter_map(|(rule, is_missing)| {
            // The total of a line is no price of one.
            let is_total = rule.place == Place::Line && header.is_total();
            let slot = slots.find(rule.place, rule.field.name).filter(|_| !is_total)?;
            let score = slot.names.best_match(&header, None)?.score;
            let is_likely = match rule.field.is_money {
                false => score >= CERTAIN,
                true => score >= PROBABLE || score >= WITH_UNIT && has_unit(),
            };
            is_likely.then_some((score, rule.field, *is_missing))
        });
        let best = scores.reduce(|best, next| if next.0 > best.0 { next } else { best });
        if let Some((_, field, true)) = best
            && !named.iter().any(|(_, known)| known.name == field.name)
        {
            named.push((*column, field));
        }
    }
    named
}

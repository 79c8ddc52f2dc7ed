//! Columns such as *Amount* that are read as quantities, although their values are written like amounts of money.

use sheetport_mapping::bind::{Columns, Layout};
use sheetport_mapping::model::Template;
use sheetport_records::Field;
use sheetport_sheet::Row;

use super::super::headers::Header;

/// Returns the columns that are read as quantities and whose header also names totals of money.
pub fn amounts_as_quantities(template: &Template, layout: &Layout) -> Vec<(usize, &'static Field)> {
    let is_quantity = |field: &Field| field.json.is_number() && !field.is_money && !field.is_tax();
    let is_named = |column: usize| layout.header.names.get(column).is_some_and(|name| Header::new(name).is_total());
    let columns = template.rules().zip(&layout.columns).filter_map(|(rule, columns)| match columns {
        Columns::One(column) if is_quantity(rule.field) && rule.number.scale.is_none() => Some((*column, rule.field)),
        _ => None,
    });
    columns.filter(|(column, _)| is_named(*column)).collect()
}

/// Whether all values of a column in these rows have two decimals, and some of them are not 00.
pub fn looks_like_money<'r>(column: usize, rows: impl Iterator<Item = &'r Row>) -> bool {
    let mut has_cents = false;
    for row in rows {
        let shown = row.get(column).shown();
        match (shown.trim(), two_decimals(shown.trim())) {
            ("", _) => {}
            (_, Some(decimals)) => has_cents |= decimals != "00",
            (_, None) => return false,
        }
    }
    has_cents
}

/// Returns the decimals of a number that has two of them.
fn two_decimals(text: &str) -> Option<&str> {
    let (whole, decimals) = text.rsplit_once(['.', ','])?;
    let is_number = whole.ends_with(|c: char| c.is_ascii_digit()) && decimals.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && decimals.len() == 2).then_some(decimals)
}

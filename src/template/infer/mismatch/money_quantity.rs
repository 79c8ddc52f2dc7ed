//! Columns such as *Amount* that are read as quantities, although their values are written like amounts of money.

use super::super::headers::Header;
use crate::records::Field;
use crate::sheet::Row;
use crate::template::bind::{Columns, Layout};
use crate::template::model::Template;

/// Returns the columns read as quantities whose header also names totals of money and whose first values all have two decimals.
/// `rows` are the first rows of the sheet.
pub fn money_quantities(template: &Template, layout: &Layout, rows: &[Row]) -> Vec<(usize, &'static Field)> {
    let is_quantity = |field: &Field| field.json.is_number() && !field.is_money && !field.is_tax();
    let columns = template.rules().zip(&layout.columns).filter_map(|(rule, columns)| match columns {
        Columns::One(column) if is_quantity(rule.field) && rule.number.scale.is_none() => Some((*column, rule.field)),
        _ => None,
    });
    let looks_like_money = |column: usize| {
        let is_named = layout.header.names.get(column).is_some_and(|name| Header::new(name).is_total());
        let below = rows.iter().filter(|row| row.number > layout.header.row);
        let shown: Vec<String> = below.map(|row| row.get(column).shown().trim().to_owned()).collect();
        let decimals: Vec<&str> =
            shown.iter().filter(|text| !text.is_empty()).map(|text| two_decimals(text).unwrap_or_default()).collect();
        is_named && decimals.iter().all(|decimals| !decimals.is_empty()) && decimals.iter().any(|it| *it != "00")
    };
    columns.filter(|(column, _)| looks_like_money(*column)).collect()
}

/// Returns the decimals of a number that has two of them.
fn two_decimals(text: &str) -> Option<&str> {
    let (whole, decimals) = text.rsplit_once(['.', ','])?;
    let is_number = whole.ends_with(|c: char| c.is_ascii_digit()) && decimals.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && decimals.len() == 2).then_some(decimals)
}

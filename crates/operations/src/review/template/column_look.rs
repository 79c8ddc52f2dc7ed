//! What the first values of a column look like, for the person who decides about the column.

use std::collections::HashSet;

use super::super::sheet::RowStore;
use crate::error::Error;

/// Rows that are looked at: enough to tell a column of prices from one with a few numbers, and read within a millisecond.
const ROWS: usize = 256;
/// Different values shown of a column.
const SAMPLES: usize = 3;
/// Values that a column needs before it looks like anything: below, chance decides.
const MIN_VALUES: usize = 4;
/// Share of values with the same look, in percent. A price list has some "on request".
const MOST: usize = 80;
/// Digits of the largest quantity. Longer numbers are codes, such as EANs.
const QUANTITY_DIGITS: usize = 6;
/// Characters of the longest code.
const CODE_LENGTH: usize = 30;

/// What the values of a column look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueLook {
    /// Numbers with a currency or two decimals.
    Money,
    /// Small whole numbers.
    Quantity,
    /// Different texts with digits and without spaces.
    Code,
}

/// The first values of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnLook {
    /// Different values, in their order.
    pub samples: Vec<String>,
    /// `None` if the values are of several kinds, or of another.
    pub look: Option<ValueLook>,
}

/// Returns the look of each column below the header.
///
/// # Errors
/// If the rows can't be read.
pub fn column_looks(rows: &RowStore, header_row: u64, width: usize) -> Result<Vec<ColumnLook>, Error> {
    let first = rows.window(0, ROWS)?;
    let look = |column: usize| {
        let values = first.iter().filter(|row| row.number > header_row).map(|row| row.get(column).shown());
        let values: Vec<String> = values.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect();
        look_of(&values)
    };
    Ok((0..width).map(look).collect())
}

fn look_of(values: &[String]) -> ColumnLook {
    let mut distinct = HashSet::new();
    let different: Vec<&String> = values.iter().filter(|text| distinct.insert(text.as_str())).collect();
    let samples = different.iter().take(SAMPLES).map(|text| (*text).clone()).collect();
    let is_most = |matches: fn(&str) -> bool| {
        values.len() >= MIN_VALUES && values.iter().filter(|text| matches(text)).count() * 100 >= values.len() * MOST
    };
    let look = if is_most(is_money) {
        Some(ValueLook::Money)
    } else if is_most(is_quantity) {
        Some(ValueLook::Quantity)
    } else if is_most(is_code) && different.len() * 100 >= values.len() * MOST {
        Some(ValueLook::Code)
    } else {
        None
    };
    ColumnLook { samples, look }
}

fn is_money(text: &str) -> bool {
    const SIGNS: [char; 4] = ['€', '$', '£', '¥'];
    let is_figure = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '\'' | '’' | ' ' | '\u{a0}' | '-' | '+');
    let bare = text.trim_matches(|c: char| SIGNS.contains(&c) || c.is_whitespace());
    if !bare.starts_with(|c: char| c.is_ascii_digit() || c == '-') || !bare.chars().all(is_figure) {
        return false;
    }
    let decimals = bare.rsplit_once(['.', ',']).map_or(0, |(_, decimals)| decimals.len());
    bare.len() < text.len() || decimals == 2
}

fn is_quantity(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.len() <= QUANTITY_DIGITS && digits.bytes().all(|b| b.is_ascii_digit());
    is_whole && (digits == "0" || !digits.starts_with('0'))
}

fn is_code(text: &str) -> bool {
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    has_digit && text.len() <= CODE_LENGTH && !text.contains([' ', ',', '%', '/', ':']) && !is_money(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_look_like_what_most_of_their_values_are() {
        for (values, expected) in [
            (&["7.04 €", "1.039,61 €", "op aanvraag", "3 €", "5 €"][..], Some(ValueLook::Money)),
            (&["7.04", "39.61", "7.73", "12.50"], Some(ValueLook::Money)),
            (&["245", "0", "12", "-3"], Some(ValueLook::Quantity)),
            (&["8710000000137", "8710000000274", "8710000000411", "8710000000548"], Some(ValueLook::Code)),
            (&["A-1", "A-2", "A-3", "0044"], Some(ValueLook::Code)),
            (&["M8", "M8", "M8", "M8"], None),
            (&["21%", "21%", "9%", "21%"], None),
            (&["2026-03-25", "2026-03-26", "2026-03-27", "on call", "later"], None),
            (&["Bolt", "Nut", "Pin", "Washer"], None),
            (&["1.50", "2.50"], None),
        ] {
            let values: Vec<String> = values.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(look_of(&values).look, expected, "{values:?}");
        }
        let values: Vec<String> = ["a", "b", "a", "c", "d"].map(str::to_owned).into();
        assert_eq!(look_of(&values).samples, ["a", "b", "c"]);
    }
}

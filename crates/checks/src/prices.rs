//! Prices that no price list means.

use sheetport_findings::Code;
use sheetport_sheet::{Cell, Row};
use sheetport_values::number::is_below_zero;

use super::finding::Finding;
use super::roles::{Meaning, Roles};

/// Warns of an item that costs less than nothing.
pub(super) fn negative(roles: &Roles, row: &Row) -> impl Iterator<Item = Finding> {
    let prices = roles.numbers.iter().filter(|(_, quantity)| quantity.meaning == Meaning::ItemPrice);
    prices.filter(|(column, _)| is_negative(&row.get(*column))).map(|(column, quantity)| Finding {
        code: Code::NegativePrice,
        remedy: "it is sent as it is; correct the cell if no money is paid for taking the item".to_owned(),
        is_warning: true,
        ..Finding::unlike_others(
            (*column, quantity.field),
            row.get(*column).shown().trim().to_owned(),
            "is less than zero".to_owned(),
        )
    })
}

fn is_negative(cell: &Cell<'_>) -> bool {
    match cell {
        Cell::Number(number) | Cell::Money(number, _) | Cell::Rounded(number, _) | Cell::Formatted(number, _) => {
            *number < 0.0
        }
        Cell::Text(text) => is_below_zero(text),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_and_parentheses_make_a_price_negative() {
        for text in ["-12.50", "(3.00)", "5-", "−1", " $ (20.00)", "€ -1.234,50", "-5 EUR", "- 5"] {
            assert!(is_negative(&Cell::Text(text)), "{text}");
        }
        for text in ["", "-", "12.50", "12,-", "0-", "(free)", "10 - 12", " $ -   ", "-0.00", "A-1"] {
            assert!(!is_negative(&Cell::Text(text)), "{text}");
        }
        assert!(is_negative(&Cell::Number(-0.5)));
    }
}

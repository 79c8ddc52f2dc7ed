//! Relations between columns: totals of a line, and amounts of a whole record.

use super::super::sample::{Column, ColumnProfile};

/// Maximum number of columns of amounts to compare with each other.
const MAX_AMOUNTS: usize = 40;

/// Returns the columns, by index, with the product of the quantity and another column on nearly every row.
pub(super) fn line_totals(columns: &[Column], quantity: &Column) -> Vec<usize> {
    let has_amounts = |column: &&Column| column.index != quantity.index && column.profile.is_numeric();
    let amounts: Vec<&Column> = columns.iter().filter(has_amounts).take(MAX_AMOUNTS).collect();
    let is_total = |total: &&&Column| {
        amounts
            .iter()
            .any(|price| price.index != total.index && is_product(&total.profile, &quantity.profile, &price.profile))
    };
    amounts.iter().filter(is_total).map(|column| column.index).collect()
}

fn is_product(total: &ColumnProfile, quantity: &ColumnProfile, price: &ColumnProfile) -> bool {
    let rows = total.amounts.iter().zip(&quantity.amounts).zip(&price.amounts);
    let (mut equal, mut telling, mut other) = (0, 0, 0);
    for ((total, quantity), price) in rows {
        let (Some(total), Some(quantity), Some(price)) = (total, quantity, price) else { continue };
        let product = quantity * price;
        if (total - product).abs() > 0.011 * quantity.abs().max(1.0) {
            other += 1;
        } else {
            equal += 1;
            telling += usize::from(*quantity != 1.0 && *price != 0.0);
        }
    }
    telling >= 2 && other * 10 <= equal
}

/// Whether a column has an amount of the whole record: on every record with several rows, the same amount in each, or an
/// amount in the first row only. `None` if no record has several rows.
pub(super) fn is_of_record(column: &ColumnProfile, record: &ColumnProfile) -> Option<bool> {
    let rows: Vec<(usize, Option<usize>)> = record.keys.iter().zip(&column.keys).fold(Vec::new(), |mut rows, pair| {
        // A row without a number belongs to the record above.
        let record = pair.0.or_else(|| rows.last().map(|(record, _)| *record));
        rows.extend(record.map(|record| (record, *pair.1)));
        rows
    });
    let mut several = false;
    for record in 0..record.distinct {
        let mut values = rows.iter().filter(|(of, _)| *of == record).map(|(_, value)| *value);
        let Some(first) = values.next() else { continue };
        let others: Vec<Option<usize>> = values.collect();
        several |= !others.is_empty();
        if !others.iter().all(|value| *value == first || value.is_none()) {
            return Some(false);
        }
    }
    several.then_some(true)
}

#[cfg(test)]
mod tests {
    use sheetport_records::RecordKind;
    use sheetport_sheet::{Cell, Row};

    use super::*;
    use crate::Sample;

    fn columns(text: &str) -> Vec<Column> {
        let rows = text.lines().enumerate().map(|(index, line)| {
            let mut row = Row::default();
            row.clear(index as u64 + 1);
            line.split('|').for_each(|cell| row.push(if cell.is_empty() { Cell::Blank } else { Cell::Text(cell) }));
            row
        });
        Sample::new(rows.collect(), RecordKind::Order).columns
    }

    #[test]
    fn products_of_quantity_and_price_are_totals() {
        let columns = columns("Qty|Each|Total|Weight\n2|1.50|3.00|1\n3|2.00|6.00|2\n1|5.00|5.00|1");
        assert_eq!(line_totals(&columns, &columns[0]), [2]);
    }

    #[test]
    fn constant_amounts_within_a_record_belong_to_the_record() {
        let columns = columns("No|Tax|Line tax|First\n1|3.80|1.90|5\n1|3.80|0.95|\n2|1.90|1.90|7");
        let of_record = |index: usize| is_of_record(&columns[index].profile, &columns[0].profile);
        assert_eq!((of_record(1), of_record(2), of_record(3)), (Some(true), Some(false), Some(true)));
        let single = self::columns("No|Tax\n1|3.80\n2|1.90");
        assert_eq!(is_of_record(&single[1].profile, &single[0].profile), None);
    }
}

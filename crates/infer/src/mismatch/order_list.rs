//! Lists of orders, which have the columns of items, too: each line of an order has a number, a name and a price.

use sheetport_mapping::model::Place;
use sheetport_records::RecordKind;
use sheetport_sheet::Row;

use super::super::headers::{Header, Slot, Slots};
use super::super::sample::{Column, Sample};
use super::sheet_topics::is_about_people;

/// Returns whether the first rows of a sheet, with their header, are lines of orders.
pub fn is_list_of_orders(top: &[Row]) -> bool {
    let orders = Slots::of(RecordKind::Order);
    let fields = [(Place::Record, "companyExternalId"), (Place::Record, "orderAt"), (Place::Line, "quantity")];
    let may_be = |header: &Header| {
        let mut slots = fields.iter().filter_map(|(place, field)| orders.find(*place, field));
        slots.any(|slot| slot.names.has_name(header)) || is_about_people(header)
    };
    // Judging the values takes longer than the rest of checking a small sheet, and all such lists have one of these columns.
    Sample::headers(top, RecordKind::Order).iter().any(may_be)
        && is_order_list(&Sample::new(top.to_vec(), RecordKind::Order))
}

/// Returns whether the rows are lines of orders and not items, by what only orders have together:
/// - a number of orders that several rows share, beside a customer, a date of the order or a quantity;
/// - a number of orders that differs in each row, beside a customer, and a date or a quantity. Suppliers call the number of an item
///   `order code`, too, so that without a customer both must be there, with names of their own;
/// - a customer, the date of an order and a quantity, without a number.
pub(crate) fn is_order_list(sample: &Sample) -> bool {
    let (orders, items) = (Slots::of(RecordKind::Order), Slots::of(RecordKind::Item));
    let (Some(number), Some(item), Some(customer), Some(date), Some(quantity)) = (
        orders.find(Place::Record, "externalId"),
        items.find(Place::Record, "externalId"),
        orders.find(Place::Record, "companyExternalId"),
        orders.find(Place::Record, "orderAt"),
        orders.find(Place::Line, "quantity"),
    ) else {
        return false;
    };
    let has = |is: &dyn Fn(&Header) -> bool| sample.columns.iter().any(|column| is(&column.header));
    let is_named = |slot: &Slot| has(&|header| slot.names.has_name(header));
    let is_unmistakable = |slot: &Slot| has(&|header| slot.names.has_unmistakable(header));
    let is_number = |column: &&Column| {
        number.names.has_unmistakable(&column.header) && !item.names.has_unmistakable(&column.header)
    };
    let numbers: Vec<&Column> = sample.columns.iter().filter(is_number).collect();
    let is_shared = numbers.iter().any(|column| column.profile.distinct < column.profile.filled);
    let has_customer = is_named(customer) || has(&is_about_people);
    let (has_date, has_quantity) = (is_named(date), is_named(quantity));
    match numbers.is_empty() {
        true => has_customer && is_unmistakable(date) && has_quantity,
        false if is_shared => has_customer || has_date || has_quantity,
        false => has_customer && (has_date || has_quantity) || is_unmistakable(date) && is_unmistakable(quantity),
    }
}

#[cfg(test)]
mod tests {
    use sheetport_sheet::Cell;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        let row = |(index, line): (usize, &str)| {
            let mut row = Row::default();
            row.clear(index as u64 + 1);
            line.split(',').for_each(|cell| row.push(if cell.is_empty() { Cell::Blank } else { Cell::Text(cell) }));
            row
        };
        let rows: Vec<Row> = text.lines().enumerate().map(row).collect();
        assert_eq!(is_list_of_orders(&rows), expected, "{text}");
    }

    #[test]
    fn lines_of_orders_are_no_items() {
        // A marketplace names everything that a list of items has, beside the order.
        check(
            "Sale Date,Item Name,Buyer,Quantity,Price,Currency,Order ID,SKU\n2026-03-01,Bolt,Ann,1,2.50,EUR,77,A-1\n\
             2026-03-02,Nut,Bob,2,0.50,EUR,78,A-2",
            true,
        );
        check("Order no,SKU,Name,Qty,Price\n1,A-1,Bolt,2,1.50\n1,A-2,Nut,3,0.50\n2,A-1,Bolt,1,1.50", true);
        check("Order no,Order date,SKU,Quantity,Price\n1,2026-03-01,A-1,2,1.50\n2,2026-03-01,A-2,3,0.50", true);
        check("Auftragsnummer,Kunde,Artikelnummer,Menge,Preis\n1,Nord,A-1,2,1.50\n2,West,A-2,3,0.50", true);
        check("Customer,Order date,SKU,Name,Quantity,Price\nNord,2026-03-01,A-1,Bolt,1,2.50", true);
        check(
            "Numéro de commande,Date de commande,SKU,Quantité,Prix\n1,2026-03-01,A-1,2,1\n1,2026-03-01,A-2,2,1",
            true,
        );
    }

    #[test]
    fn lists_of_items_are() {
        check("SKU,Name,Price\nA-1,Bolt,1.50\nA-2,Nut,0.50", false);
        // The number under which an item is ordered, and how many at least.
        check(
            "Order code,Name,Min order quantity,Price,Price date\nA-1,Bolt,10,1.50,2026-01-01\nA-2,Nut,5,1,2026-01-01",
            false,
        );
        check("Bestellnummer,Bezeichnung,Menge,Preis\nA-1,Bolzen,10,1.50\nA-2,Mutter,5,0.50", false);
        check(
            "SKU,Name,Quantity,Date,Supplier,Price\nA-1,Bolt,10,2026-01-01,Nord,1.50\nA-1,Bolt,10,2026-01-01,Nord,1",
            false,
        );
        check("SKU,Name,Customer,Price\nA-1,Bolt,Nord,1.50\nA-2,Bolt,Nord,1.50", false);
        check("External id,Name,Customer,Quantity\nA-1,Bolt,Nord,1\nA-1,Nut,Nord,1", false);
    }
}

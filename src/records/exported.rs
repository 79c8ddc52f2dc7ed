//! The columns of exports, by which a spreadsheet is recognized as one.

use super::field::{Field, ListedField};
use super::{RecordKind, company, contact, inventory, item, order, transaction};

/// Records that can be exported.
#[derive(Debug)]
pub struct Exported {
    /// Name in the command `export`.
    pub name: &'static str,
    columns: Columns,
    /// What can be sent of them. `None` if the contract has no call that writes such records.
    pub record: Option<RecordKind>,
}

#[derive(Debug)]
enum Columns {
    Listed(&'static [ListedField]),
    /// The contract does not specify the list's fields.
    Read(&'static [Field]),
}

static EXPORTED: [Exported; 6] = [
    Exported { name: "items", columns: Columns::Listed(item::LIST.fields), record: Some(RecordKind::Item) },
    Exported { name: "orders", columns: Columns::Listed(order::LIST.fields), record: Some(RecordKind::Order) },
    Exported {
        name: "transactions",
        columns: Columns::Listed(transaction::SINGLE.fields),
        record: Some(RecordKind::InventoryTransaction),
    },
    Exported { name: "inventories", columns: Columns::Listed(inventory::LIST.fields), record: None },
    Exported { name: "companies", columns: Columns::Read(company::READ_FIELDS), record: None },
    Exported { name: "contacts", columns: Columns::Read(contact::READ_FIELDS), record: None },
];

/// The first columns of a list of changes.
pub const CHANGE_COLUMNS: [&str; 5] = ["change", "id", "field", "before", "after"];

/// Returns whether this is the header of a list of changes, which no template can take for records.
pub fn is_list_of_changes(names: &[String]) -> bool {
    begins_with(names, CHANGE_COLUMNS.into_iter())
}

impl Exported {
    /// Returns the records of an export with this header: their fields in order, then any others.
    pub fn with_header(names: &[String]) -> Option<&'static Exported> {
        let begins = |columns: &Columns| match columns {
            Columns::Listed(fields) => begins_with(names, fields.iter().map(|field| field.name)),
            Columns::Read(fields) => begins_with(names, fields.iter().map(|field| field.name)),
        };
        EXPORTED.iter().find(|exported| begins(&exported.columns))
    }

    /// Returns the records with this name.
    pub fn named(name: &str) -> Option<&'static Exported> {
        EXPORTED.iter().find(|exported| exported.name == name)
    }
}

fn begins_with(names: &[String], fields: impl ExactSizeIterator<Item = &'static str>) -> bool {
    names.len() >= fields.len() && fields.zip(names).all(|(field, name)| field == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_exports_are_told_apart() {
        let of = |header: &str| {
            let names: Vec<String> = header.split(',').map(str::to_owned).collect();
            Exported::with_header(&names).map(|exported| exported.name)
        };
        assert_eq!(of("id,name,price,currency,status,updated_at,external_id"), Some("items"));
        assert_eq!(of("id,external_id,name,email,phone,status,created_at,updated_at,currency"), Some("companies"));
        assert_eq!(of("id,external_id,name,email,phone,company_id,status,created_at,updated_at"), Some("contacts"));
        assert_eq!(of("external_id,name,price"), None);
        assert_eq!(of("id"), None);
        assert!(EXPORTED.iter().all(|exported| Exported::named(exported.name).is_some()));
    }
}

//! The columns of exports, to recognize a spreadsheet as an export.

use super::schema::{Field, ListedField};
use super::{RecordKind, company, contact, inventory, item, order, transaction};

/// A kind of record that can be exported.
#[derive(Debug)]
pub struct Exported {
    /// Name in the command `export`.
    pub name: &'static str,
    columns: Columns,
    /// The kind of record to upload. `None` if the contract has no call for such records.
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

/// Returns whether a header belongs to a list of changes. Lists of changes can't be uploaded.
pub fn is_list_of_changes(names: &[String]) -> bool {
    begins_with(names, CHANGE_COLUMNS.into_iter())
}

impl Exported {
    /// Returns the kind of export with this header: its fields in order, then any other columns.
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
    fn headers_of_exports_are_distinguished() {
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

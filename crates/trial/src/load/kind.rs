//! The kinds of loadable records, and their fields.

use std::path::Path;

use serde_json::{Map, Value};
use sheetport_records::{Field, JsonType, company, contact, inventory, item, order, transaction};
use sheetport_service::LoadRecord;
use sheetport_sheet::Book;

/// Columns that can identify a record. A file needs at least one of these.
pub(super) const KEYS: [&str; 7] =
    ["id", "external_id", "externalId", "name", "order_id", "inventory_id", "transaction_id"];

/// Transactions refer to inventories, so inventories are loaded first.
pub(super) const TRANSACTIONS: &str = "transactions";

/// A kind of loadable records.
#[derive(Debug)]
pub struct LoadKind {
    pub name: &'static str,
    fields: &'static [Field],
    /// Further fields.
    more: &'static [(&'static str, JsonType)],
    /// Accepts any field, because the contract does not list the fields of these records.
    is_open: bool,
    /// Whether records need no key, because the id is derived from the content.
    pub(super) derives_ids: bool,
    pub(crate) record: fn(Map<String, Value>) -> LoadRecord,
}

pub static LOAD_KINDS: [LoadKind; 6] = [
    LoadKind::new("companies", company::READ_FIELDS, LoadRecord::Company).open(),
    LoadKind::new("contacts", contact::READ_FIELDS, LoadRecord::Contact).open(),
    LoadKind::new("inventories", inventory::READ_FIELDS, LoadRecord::Inventory),
    LoadKind::new("orders", order::READ_FIELDS, LoadRecord::Order),
    // Columns of items are named as in the list or as in the input.
    LoadKind {
        more: &[
            ("purchase_price", JsonType::Number),
            ("updated_at", JsonType::String),
            ("created_at", JsonType::String),
        ],
        // An upsert needs the external id.
        derives_ids: false,
        ..LoadKind::new("items", item::INPUT_FIELDS, LoadRecord::Item)
    },
    LoadKind { derives_ids: false, ..LoadKind::new(TRANSACTIONS, transaction::READ_FIELDS, LoadRecord::Transaction) },
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ColumnType {
    /// A field with a type.
    Field(JsonType),
    /// A further field, with the type of each cell.
    Open,
}

impl LoadKind {
    const fn new(
        name: &'static str,
        fields: &'static [Field],
        record: fn(Map<String, Value>) -> LoadRecord,
    ) -> LoadKind {
        LoadKind { name, fields, more: &[], is_open: false, derives_ids: true, record }
    }

    const fn open(self) -> LoadKind {
        LoadKind { is_open: true, ..self }
    }

    /// Returns the kind with this name.
    pub(crate) fn named(name: &str) -> Option<&'static LoadKind> {
        LOAD_KINDS.iter().find(|kind| kind.name == name)
    }

    /// Returns whether the contract has a list of these records, and not only single records.
    pub(crate) fn has_list(&self) -> bool {
        self.name != TRANSACTIONS
    }

    /// Returns whether one of the columns can identify a record.
    pub(crate) fn has_key_column(columns: &[String]) -> bool {
        columns.iter().any(|column| KEYS.contains(&column.as_str()))
    }

    /// Returns the kind named by a word of the file name.
    pub(crate) fn of_file(path: &Path) -> Option<&'static LoadKind> {
        let stem = path.file_stem()?.to_string_lossy().to_lowercase();
        let words = stem.split(|letter: char| !letter.is_alphanumeric());
        LOAD_KINDS.iter().find(|kind| words.clone().any(|word| word == kind.name))
    }

    /// Returns the sheet with the name of the kind.
    pub(super) fn sheet_in(&self, book: &Book) -> Option<usize> {
        book.sheets().iter().position(|name| name.trim().eq_ignore_ascii_case(self.name))
    }

    /// Returns the type of a column, or `None` if these records have no such field.
    pub(super) fn column(&self, name: &str) -> Option<ColumnType> {
        let known = self.fields.iter().map(|field| (field.name, field.json)).chain(self.more.iter().copied());
        let ids = [("id", JsonType::String), ("external_id", JsonType::String)];
        let known = known.chain(ids).find(|(field, _)| *field == name).map(|(_, json)| ColumnType::Field(json));
        known.or(self.is_open.then_some(ColumnType::Open))
    }
}

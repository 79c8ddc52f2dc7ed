//! Fields that refer to other records of the service, and the lists of these records.

use super::{company, contact, inventory, item};
use crate::schema::{List, Lookup, Reference};

const fn reference(field: &'static str, what: &'static str, found_by: Lookup) -> Reference {
    Reference { field, what, found_by, created_with: None }
}

static COMPANIES: [&List; 1] = [&company::LIST];
static CONTACTS_AND_COMPANIES: [&List; 2] = [&contact::LIST, &company::LIST];
static ITEMS: [&List; 1] = [&item::LIST];
static INVENTORIES: [&List; 1] = [&inventory::LIST];

pub(super) static OF_ORDERS: &[Reference] = &[
    reference("companyId", "company", Lookup::Lists(&COMPANIES, &["id"])),
    reference("companyExternalId", "company", Lookup::Lists(&COMPANIES, &["external_id"])),
    reference("item_id", "item", Lookup::Lists(&ITEMS, &["id"])),
    Reference {
        field: "itemExternalId",
        what: "item",
        found_by: Lookup::Lists(&ITEMS, &["external_id"]),
        created_with: Some("createMissingItems"),
    },
];

pub(super) static OF_TRANSACTIONS: &[Reference] = &[
    reference("inventoryId", "inventory", Lookup::Lists(&INVENTORIES, &["id", "inventory_id"])),
    reference("inventoryExternalId", "inventory", Lookup::ExternalId(&inventory::SINGLE)),
];

/// Of subscriptions and invoices.
pub(super) static OF_BILLED: &[Reference] = &[
    reference("cid", "contact or company", Lookup::Lists(&CONTACTS_AND_COMPANIES, &["id"])),
    reference("id", "item", Lookup::Lists(&ITEMS, &["id"])),
];

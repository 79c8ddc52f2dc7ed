//! The lists of the service.

use sheetport_records::{List, company, contact, inventory, item, order};

/// The exportable lists. The first list of a name is the default.
pub(super) static LISTS: [&List; 7] = [
    &item::LIST,
    &item::OLDER_LIST,
    &order::LIST,
    &order::OLDER_LIST,
    &company::LIST,
    &contact::LIST,
    &inventory::LIST,
];

//! The kinds of records for uploads.
//!
//! # A new kind of record
//!
//! Begin with `crates/records/src/kind.rs` and a file in `crates/records/src/resources/`. The compiler then names these matches:
//! `crates/client/src/outcome/write_result.rs` (the ids in an answer), `crates/infer/src/record_layout/unpivot.rs`,
//! `crates/trial/src/made_up.rs`. These do not follow from the compiler:
//!
//! - templates: a file in `templates/`, `crates/mapping/src/builtin.rs` and its `GENERAL`, the `GENERAL` of
//!   `crates/operations/src/review/template/draft.rs`, `crates/words/fields.toml`, `crates/language/src/de/words.toml`
//! - comparison, if it has a list or can be requested: `list_of` and `single_of` in `crates/plan/src/compare/service_list.rs`, `single_of` in
//!   `crates/plan/src/compare/difference.rs`, `crates/operations/src/lists.rs`; if records are found before sending, as orders are:
//!   `crates/plan/src/compare/find_orders.rs`, and `upload.rs`, `compare.rs` and `preview.rs` in `crates/operations/src/uploads/`
//! - recognition: `crates/infer/src/matching/assignments.rs`, `crates/infer/src/mismatch/`, `crates/infer/src/text/field_keys.rs`
//! - exports: `crates/records/src/exported.rs`, `EXPORTABLE` in `crates/operations/src/exports/export.rs`
//! - the service: `Kind` in `crates/service/src/store/model.rs` with the matches on it in `inspect/`, `load/` and `store/`, a handler, `router.rs`,
//!   `openapi/operations.rs` with `operations.json`; for `serve load`: `crates/trial/src/load/kind.rs`
//! - the page: `KINDS` in `crates/review/src/page/step_columns.js`, and `crates/review/src/page/words/`
//! - tests: `crates/send/src/simulation/service.rs`, whose service answers each kind

use std::fmt;

use super::schema::{Input, List, Single};
use super::{invoice, item, order, subscription, transaction};

/// The kind of a record to upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordKind {
    Item,
    Order,
    InventoryTransaction,
    Subscription,
    Invoice,
}

impl RecordKind {
    pub const ALL: &'static [RecordKind] = &[
        RecordKind::Item,
        RecordKind::Order,
        RecordKind::InventoryTransaction,
        RecordKind::Subscription,
        RecordKind::Invoice,
    ];

    /// Returns the description of the input.
    pub fn input(self) -> &'static Input {
        match self {
            RecordKind::Item => &item::INPUT,
            RecordKind::Order => &order::INPUT,
            RecordKind::InventoryTransaction => &transaction::INPUT,
            RecordKind::Subscription => &subscription::INPUT,
            RecordKind::Invoice => &invoice::INPUT,
        }
    }

    /// Returns the list of the records, if the contract has one.
    pub fn list(self) -> Option<&'static List> {
        match self {
            RecordKind::Item => Some(&item::LIST),
            RecordKind::Order => Some(&order::LIST),
            RecordKind::InventoryTransaction | RecordKind::Subscription | RecordKind::Invoice => None,
        }
    }

    /// Returns the request for a single record, if the contract has one.
    pub fn single(self) -> Option<&'static Single> {
        match self {
            RecordKind::Order => Some(&order::SINGLE),
            RecordKind::InventoryTransaction => Some(&transaction::SINGLE),
            RecordKind::Item | RecordKind::Subscription | RecordKind::Invoice => None,
        }
    }

    /// Returns the name in templates, the ledger and messages, such as `item`.
    pub fn name(self) -> &'static str {
        self.input().name
    }

    /// Returns the kind that a person means, in the singular or plural: `item`, `Items`, `stock movements`.
    pub fn from_words(words: &str) -> Option<RecordKind> {
        let folded = words.trim().to_lowercase().replace(['-', '_'], " ");
        let singular = folded.strip_suffix('s').unwrap_or(&folded);
        Self::ALL.iter().copied().find(|kind| {
            let name = kind.name().replace('-', " ");
            name == singular || kind.other_words().contains(&singular)
        })
    }

    /// Returns further words for a record, as in the page.
    fn other_words(self) -> &'static [&'static str] {
        match self {
            RecordKind::Item => &["article", "product"],
            RecordKind::InventoryTransaction => &["transaction", "movement", "stock movement"],
            RecordKind::Order | RecordKind::Subscription | RecordKind::Invoice => &[],
        }
    }

    pub fn from_name(name: &str) -> Option<RecordKind> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Field;

    fn names(fields: impl Iterator<Item = &'static Field>) -> Vec<&'static str> {
        fields.map(|field| field.name).collect()
    }

    #[test]
    fn orders_are_nested_in_the_body_and_have_lines() {
        let input = RecordKind::Order.input();
        assert_eq!(input.member(), Some("order"));
        assert_eq!(
            names(input.fields()),
            ["externalId", "companyId", "companyExternalId", "orderAt", "deliveryStatus"]
        );
        assert_eq!(names(input.options()), ["createMissingItems", "triggerWorkflows"]);
        assert_eq!(input.lines().map(|(field, _)| field.name), Some("items"));
        assert!(input.field("order_id").is_some());
    }

    #[test]
    fn people_name_kinds_in_several_ways() {
        for (words, expected) in [
            ("item", Some(RecordKind::Item)),
            (" Items ", Some(RecordKind::Item)),
            ("Products", Some(RecordKind::Item)),
            ("inventory-transaction", Some(RecordKind::InventoryTransaction)),
            ("inventory transactions", Some(RecordKind::InventoryTransaction)),
            ("Stock movements", Some(RecordKind::InventoryTransaction)),
            ("invoices", Some(RecordKind::Invoice)),
            ("", None),
            ("s", None),
            ("customers", None),
        ] {
            assert_eq!(RecordKind::from_words(words), expected, "{words}");
        }
    }

    #[test]
    fn items_are_the_body() {
        let input = RecordKind::Item.input();
        assert_eq!(input.member(), None);
        assert_eq!(input.fields().count(), 8);
        assert_eq!(input.options().count(), 0);
        assert!(input.lines().is_none());
    }

    #[test]
    fn every_kind_has_a_call_and_valid_keys() {
        for kind in RecordKind::ALL {
            let input = kind.input();
            assert_eq!(RecordKind::from_name(input.name), Some(*kind));
            assert!(input.create.is_some() || input.update.is_some(), "{kind}");
            assert!(input.key.iter().all(|key| input.field(key).is_some()), "{kind}");
        }
    }

    #[test]
    fn ids_in_paths_are_percent_encoded() {
        let call = RecordKind::Order.input().call(true).expect("orders are updated");
        assert_eq!(call.path("SO-1").as_deref(), Some("/v1/public/orders/SO-1"));
        let odd = "/v1/public/orders/..%2Fa%20b%2F%C3%A4%3F%23%25";
        assert_eq!(call.path("../a b/ä?#%").as_deref(), Some(odd));
        assert_eq!(call.path(".."), None);
    }
}

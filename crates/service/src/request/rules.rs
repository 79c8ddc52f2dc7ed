//! Validation rules for input fields, in addition to their types. Not specified in the contract.

use sheetport_records::order;

/// Default maximum length of a text, in characters.
pub(crate) const DEFAULT_MAX_LENGTH: usize = 255;

/// Maximum number of entries of an array.
pub(crate) const MAX_ENTRIES: usize = 1000;

/// The rules of an input. Nested fields are identified by name, not by path.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Maximum lengths in characters that differ from [`DEFAULT_MAX_LENGTH`].
    max_lengths: &'static [(&'static str, usize)],
    /// Codes of three capital letters.
    pub codes: &'static [&'static str],
    pub not_blank: &'static [&'static str],
    /// Arrays that must not be empty.
    pub not_empty: &'static [&'static str],
    /// For arrays of objects: every entry needs one of these fields.
    pub one_of: &'static [&'static str],
    /// ISO 8601 date-times.
    pub date_times: &'static [&'static str],
    /// Whether null means that an optional field is not given, where the contract does not allow null.
    pub null_is_absent: bool,
}

impl Rules {
    /// Returns the maximum length of a text in characters.
    pub(crate) fn max_length(&self, name: &str) -> usize {
        self.max_lengths.iter().find(|(field, _)| *field == name).map_or(DEFAULT_MAX_LENGTH, |(_, length)| *length)
    }
}

const NONE: Rules = Rules {
    max_lengths: &[],
    codes: &[],
    not_blank: &[],
    not_empty: &[],
    one_of: &[],
    date_times: &[],
    null_is_absent: false,
};

pub(crate) const ITEM_RULES: Rules = Rules {
    max_lengths: &[("name", 500), ("description", 10_000), ("status", 50)],
    codes: &["currency"],
    not_blank: &["externalId"],
    ..NONE
};

pub(crate) const ORDER_RULES: Rules = Rules {
    max_lengths: &[("deliveryStatus", 50)],
    not_blank: &["externalId", "itemExternalId"],
    one_of: order::NEEDS_ONE_OF,
    date_times: &["orderAt"],
    null_is_absent: true,
    ..NONE
};

pub(crate) const TRANSACTION_RULES: Rules = Rules {
    max_lengths: &[("transactionType", 50), ("status", 50), ("inventoryType", 50)],
    not_blank: &["transactionType"],
    date_times: &["transactionDate"],
    ..NONE
};

/// Subscriptions and invoices.
pub(crate) const BILLING_RULES: Rules = Rules {
    max_lengths: &[("subscription_status", 50), ("status", 50)],
    codes: &["currency"],
    not_blank: &["subscription_status", "status"],
    not_empty: &["items"],
    ..NONE
};

/// Rules for loaded records. Their fields are the fields of responses.
pub(crate) const READ_RULES: Rules = Rules {
    max_lengths: &[("name", 500), ("record_source_detail", 10_000)],
    not_blank: &["id", "external_id", "inventory_id", "transaction_type"],
    date_times: &["created_at", "updated_at", "order_at", "date", "transaction_date"],
    ..NONE
};

//! Comparison of a file or a plan with the records of the service.

mod candidate;
mod difference;
mod fill_blank;
mod find_orders;
mod find_sent_lines;
mod gone;
mod keyed;
mod known_texts;
mod lookups;
mod moved_on;
mod named_values;
mod not_checkable;
mod odd_changes;
mod order_addresses;
mod planned_values;
mod record_index;
mod references;
mod request_body;
mod sent_lines;
pub mod server_diff;
mod service_lines;
mod service_list;
mod stock;
mod text_list;

pub use candidate::{Candidate, LastSent};
pub use difference::{
    Change, ChangedField, Depth, Difference, FieldChange, WhyNot, difference, difference_from, is_listed,
};
pub use fill_blank::Withheld;
pub use find_orders::find_orders;
pub use gone::{Alike, Gone, WhyNotGone, find_gone};
pub use known_texts::KnownTexts;
pub(super) use known_texts::TextCheck;
pub use lookups::{looks_up, named_values, to_be_resolved};
#[cfg(test)]
pub(super) use moved_on::tests::there;
pub use moved_on::{Moved, moved_on};
pub(super) use moved_on::{is_same, quoted};
pub use named_values::NamedValues;
pub use not_checkable::NotCheckable;
pub use odd_changes::{OddChange, Overview};
pub use order_addresses::OrderAddresses;
pub(super) use order_addresses::OtherLines;
pub use planned_values::planned_values;
pub use references::{Scope, find_references};
pub use request_body::can_leave_out;
pub(super) use request_body::{object, record_of_body, without_fields};
pub(super) use service_lines::{are_same_lines, sendable, shown};
pub use service_list::Connection;
pub use stock::Stock;
pub use text_list::{NotCompared, count_changed, load as load_keys, suspicious_keys};

//! The contract as types and data: the fields of inputs, the shapes of responses, paths and calls.
//!
//! Shared by the client and the embedded service, therefore without network, disk or clock. The tests pin the wire format
//! with raw JSON, written by hand from the contract.

mod exported;
mod kind;
mod protocol;
mod resources;
mod schema;

pub use exported::{CHANGE_COLUMNS, Exported, is_list_of_changes};
pub use kind::RecordKind;
pub use protocol::{answer, page, token};
pub use resources::{company, contact, inventory, invoice, item, order, subscription, transaction};
pub use schema::{Call, Family, Field, Input, JsonType, List, ListedField, Lookup, Method, Reference, Single};
pub use schema::{check, listed_name};

//! The contract as types and data: the fields of inputs, the shapes of responses, paths and calls.
//!
//! Shared by the client and the embedded service, therefore without network, disk or clock. Client and service share nothing else of the
//! contract but `values::decimal`. The tests pin the wire format with raw JSON, written by hand from the contract.
//!
//! | module | purpose |
//! |---|---|
//! | [`kind`] | the kinds of records for uploads |
//! | [`resources`] | a file for each resource: fields as data, calls, lists, and references between resources |
//! | [`schema`] | the types of this data, and the validation of JSON |
//! | [`protocol`] | error bodies, pages of lists, tokens |
//! | [`exported`] | the columns of each export, and the kind of record to upload from there |
//!
//! Fields are data, not types: templates, mapping, validation, the OpenAPI document and the docs follow from this data. Begin with
//! `resources/item.rs`.

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

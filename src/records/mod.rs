//! The contract as types and data: the fields of inputs, the shapes of responses, paths and calls.
//!
//! Shared by the client and the embedded service, therefore without network, disk or clock. The tests pin the wire format
//! with raw JSON, written by hand from the contract.

pub mod answer;
pub mod check;
pub mod company;
pub mod contact;
mod exported;
pub mod field;
mod input;
pub mod inventory;
pub mod invoice;
pub mod item;
pub mod kind;
pub mod order;
pub mod page;
mod reference;
pub mod subscription;
pub mod token;
pub mod transaction;

pub use exported::{CHANGE_COLUMNS, Exported, is_list_of_changes};
pub use field::{Family, Field, JsonType, List, ListedField, Single, listed_name};
pub use input::{Call, Input, Lookup, Method, Reference};
pub use kind::RecordKind;

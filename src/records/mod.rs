//! The service's contract as types and data: what each record's input holds, what the answers look like.
//!
//! Both the client and the embedded service read these, so nothing here talks to a network, a disk or a clock, and
//! nothing here imports another room. The wire format itself is pinned by raw JSON in the tests, written by hand from
//! the contract.

pub mod answer;
pub mod check;
pub mod company;
pub mod contact;
pub mod field;
pub mod inventory;
pub mod invoice;
pub mod item;
pub mod kind;
pub mod order;
pub mod page;
pub mod subscription;
pub mod token;
pub mod transaction;

pub use field::{Family, Field, JsonType, List, ListedField, Single};
pub use kind::{Call, Input, Method, RecordKind};

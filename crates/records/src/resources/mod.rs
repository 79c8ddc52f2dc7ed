//! The resources of the service, one file each, and the references between them.

pub mod company;
pub mod contact;
pub mod inventory;
pub mod invoice;
pub mod item;
pub mod order;
mod reference;
pub mod subscription;
pub mod transaction;

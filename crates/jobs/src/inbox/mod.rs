//! The inbox of an upload step, in a folder or in object storage: finds its files, and takes them out.

mod claimed;
mod folder;
mod objects;
mod sources;
mod taken;

pub(super) use claimed::{Claimed, refused};
pub use folder::Waiting;
pub(super) use sources::{Inbox, Source};

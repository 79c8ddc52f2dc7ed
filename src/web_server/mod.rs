//! What the web servers of this program have in common: connections, the names they answer to, and pages.

mod accept;
mod connections;
mod hosts;
mod page;

pub(crate) use accept::serve;
pub(crate) use hosts::{OwnHosts, Refusal};
pub(crate) use page::page;

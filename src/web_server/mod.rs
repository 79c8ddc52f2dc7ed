//! Shared parts of the web servers in this program: connections, host names, and pages.

mod accept;
mod connections;
mod hosts;
mod page;

pub(crate) use accept::serve;
pub(crate) use hosts::{OwnHosts, Refusal};
pub(crate) use page::page;

//! Shared parts of the web servers in this program: connections, host names, and pages.

mod accept;
mod connections;
mod hosts;
mod page;

pub use accept::serve;
pub use hosts::{OwnHosts, Refusal};
pub use page::page;

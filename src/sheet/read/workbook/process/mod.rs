//! The reading process: client side, server side and limits.

mod client;
mod limits;
mod server;

pub(super) use self::client::Connection;
pub use self::client::{read_workbooks_with, run_reader_if_asked};

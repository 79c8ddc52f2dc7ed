//! The reading process: client side, server side, limits and containment.

mod client;
mod containment;
mod ended;
mod limits;
mod server;

pub(super) use self::client::Connection;
pub use self::client::{read_workbooks_with, run_reader_if_asked};

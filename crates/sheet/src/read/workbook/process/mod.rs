//! The reading process: client side, server side, limits and containment.

mod client;
mod containment;
mod ended;
mod limits;
mod program;
mod server;
mod trial;

pub(super) use self::client::Connection;
pub use self::client::run_reader_if_asked;
pub use self::program::read_workbooks_with;
pub use self::trial::{Attempt, Protections, try_protections};

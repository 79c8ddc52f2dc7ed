//! Requests of an export: pages of a list, or single records by ID. Several requests are in flight at once; results come in
//! order.

mod ids;
mod list;
mod records;
mod response;

pub use self::ids::IdFile;
pub(super) use self::ids::IdRow;
pub(super) use self::list::{ListPages, fetch_page};
pub(super) use self::records::{RecordsById, fetch_record};
pub(super) use self::response::{Fetched, Fetcher, MissingRecord};

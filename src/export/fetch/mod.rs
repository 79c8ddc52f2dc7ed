//! Requests of an export: pages of a list, or single records by their IDs. Several are in flight at once; results come
//! in order.

mod ids;
mod list;
mod page_size;
mod records;
mod response;

pub use self::ids::IdFile;
pub(super) use self::list::{ListPages, fetch_page, try_page};
pub(super) use self::page_size::{FirstPage, SAFE, may_depend_on_size};
pub use self::page_size::{KnownSizes, PageSize};
pub(super) use self::records::RecordsById;
pub(super) use self::response::{Fetched, Fetcher, MissingRecord};

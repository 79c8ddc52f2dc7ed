//! Exports to files and object storage.

mod export;
mod request;
mod shared_rate;
mod staging;

pub use export::check;
pub use export::{export, lacks_array};
pub use request::{EXPORTABLE, ExportRequest, IdSource};

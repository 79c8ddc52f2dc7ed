//! Exports to files and object storage.

mod export;
mod shared_rate;
mod staging;

pub use export::check;
pub use export::{EXPORTABLE, ExportRequest, IdSource, export, lacks_array};

//! Without the feature `storage`: a path that begins like the address of an object is an error, so no address and no bucket exist. Their
//! types have no values, which tells the compiler that what is done with them never runs.

mod address;
mod bucket;

pub use address::ObjectAddress;
pub use bucket::Bucket;

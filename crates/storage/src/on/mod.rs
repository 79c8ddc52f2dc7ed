//! With the feature `storage`: objects by the library `object_store`.

mod address;
mod bucket;
mod connector;
mod failure;
mod s3_profile;

pub use address::ObjectAddress;
pub use bucket::Bucket;

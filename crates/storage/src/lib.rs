//! Files in object storage: S3 and compatible services, Google Cloud Storage, and Azure Blob Storage.

mod address;
mod bucket;
mod connector;
mod error;
mod failure;
mod s3_profile;

pub use address::{AddressError, ObjectAddress};
pub use bucket::{Bucket, Object};
pub use error::Error;

//! Files in object storage: S3 and compatible services, Google Cloud Storage, and Azure Blob Storage.
//!
//! Knows no spreadsheets, exports or inboxes; these are in `operations::files`, `operations::exports` and `jobs::inbox`. Requests go over the
//! client's own connections (`connector.rs`), with the same proxies and certificates as requests to the service, instead of a second HTTP
//! client.
//!
//! | module | purpose |
//! |---|---|
//! | [`address`] | addresses such as `s3://bucket/in/prices.xlsx` |
//! | [`bucket`] | reads, writes, copies and lists objects |
//! | [`connector`] | the HTTP connection |
//! | [`s3_profile`] | profiles of `~/.aws`, ignored by the library |
//! | [`error`], [`failure`] | why an object can't be read or written |

mod address;
mod bucket;
mod connector;
mod error;
mod failure;
mod s3_profile;

pub use address::{AddressError, ObjectAddress};
pub use bucket::{Bucket, Object};
pub use error::Error;

//! Files in object storage: S3 and compatible services, Google Cloud Storage, and Azure Blob Storage, with the feature `storage`.
//!
//! Both implementations have the same interface. Without the feature there are no addresses of objects: what looks like one is an error
//! that says how to get an executable with object storage, and no other code knows of the feature.
//!
//! Knows no spreadsheets, exports or inboxes; these are in `operations::files`, `operations::exports` and `jobs::inbox`. Requests go over the
//! client's own connections (`on/connector.rs`), with the same proxies and certificates as requests to the service, instead of a second HTTP
//! client.
//!
//! | module | purpose |
//! |---|---|
//! | `on/address.rs` | addresses such as `s3://bucket/in/prices.xlsx` |
//! | `on/bucket.rs` | reads, writes, copies and lists objects |
//! | `on/connector.rs` | the HTTP connection |
//! | `on/s3_profile.rs` | profiles of `~/.aws`, ignored by the library |
//! | `off/` | addresses and buckets that cannot exist |
//! | [`error`], [`address_error`], `on/failure.rs` | why an object can't be read or written |

mod address_error;
mod error;
mod object;
#[cfg(not(feature = "storage"))]
mod off;
#[cfg(feature = "storage")]
mod on;
mod scheme;

pub use address_error::AddressError;
pub use error::Error;
pub use object::Object;
#[cfg(not(feature = "storage"))]
pub use off::{Bucket, ObjectAddress};
#[cfg(feature = "storage")]
pub use on::{Bucket, ObjectAddress};

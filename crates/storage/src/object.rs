//! What a bucket says about an object.

use super::ObjectAddress;

/// An object in a bucket, with the properties reported by the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub address: ObjectAddress,
    pub bytes: u64,
    /// The entity tag. Changes with the content.
    pub version: Option<String>,
    /// Time of the last change, in milliseconds since 1970 (UTC).
    pub modified: i64,
}

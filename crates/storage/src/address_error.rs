//! Why a path is no address of an object.

use std::path::PathBuf;

/// A path that begins like the address of an object, and can't be used.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    #[error("{} is not the address of an object: {reason}", address.display())]
    Malformed { address: PathBuf, reason: String },
    /// This executable is built without the feature `storage`.
    #[error("{} is in object storage, which this executable is built without", address.display())]
    NotIncluded { address: PathBuf },
}

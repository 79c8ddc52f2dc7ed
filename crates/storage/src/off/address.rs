//! Addresses of objects, of which there are none.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::address_error::AddressError;
use crate::scheme::Scheme;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectAddress(pub(super) Infallible);

impl ObjectAddress {
    /// Whether a path is meant as the address of an object.
    pub fn is_meant(path: &Path) -> bool {
        Scheme::of(path).is_some()
    }

    /// Returns `None` for a path in the file system.
    ///
    /// # Errors
    /// For all other paths.
    pub fn of(path: &Path) -> Result<Option<ObjectAddress>, AddressError> {
        match Scheme::of(path) {
            None => Ok(None),
            Some(_) => Err(AddressError::NotIncluded { address: path.to_owned() }),
        }
    }

    pub(crate) fn scheme(&self) -> Scheme {
        match self.0 {}
    }

    pub fn name(&self) -> &str {
        match self.0 {}
    }

    pub fn join(&self, _name: &str) -> Result<ObjectAddress, AddressError> {
        match self.0 {}
    }

    pub fn is_in_bucket_of(&self, _other: &ObjectAddress) -> bool {
        match self.0 {}
    }

    pub fn folder(&self) -> ObjectAddress {
        match self.0 {}
    }

    pub fn path(&self) -> PathBuf {
        match self.0 {}
    }
}

impl fmt::Display for ObjectAddress {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_refused_in_every_storage() {
        for path in ["prices.xlsx", "/data/s3/prices.xlsx", "s3:/bucket", "-"] {
            assert!(matches!(ObjectAddress::of(Path::new(path)), Ok(None)), "{path}");
        }
        for path in ["s3://bucket/in/a.csv", "GS://b/a.csv", "az://container"] {
            let refused = ObjectAddress::of(Path::new(path)).expect_err(path);
            assert!(
                matches!(&refused, AddressError::NotIncluded { address } if address.as_os_str() == path),
                "{refused}"
            );
        }
    }
}

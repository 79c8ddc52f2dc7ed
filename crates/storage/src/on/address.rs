//! Addresses of objects, such as `s3://bucket/in/prices.xlsx`.

use std::fmt;
use std::path::{Path, PathBuf};

use object_store::path::Path as Key;

use crate::address_error::AddressError;
use crate::scheme::Scheme;

/// The address of an object or of a prefix. Keys are written literally, without percent-encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectAddress {
    pub(super) scheme: Scheme,
    /// Name of the bucket, or of the container.
    pub(super) bucket: String,
    pub(super) key: Key,
}

impl ObjectAddress {
    /// Whether a path is meant as the address of an object.
    pub fn is_meant(path: &Path) -> bool {
        Scheme::of(path).is_some()
    }

    /// Parses a path as an address. Returns `None` for a path in the file system.
    ///
    /// # Errors
    /// If the name of the bucket is missing or the key is invalid.
    pub fn of(path: &Path) -> Result<Option<ObjectAddress>, AddressError> {
        let Some((scheme, rest)) = Scheme::of(path) else { return Ok(None) };
        let wrong = |reason: &str| AddressError::Malformed { address: path.to_owned(), reason: reason.to_owned() };
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(wrong("the name of the bucket is missing"));
        }
        if bucket.contains(['@', ':', '?', '#']) {
            return Err(wrong("the name of a bucket has none of @ : ? #; credentials come from the environment"));
        }
        let malformed = || wrong("a key has no empty parts, and none that are . or ..");
        let key = Key::parse(key).map_err(|_| malformed())?;
        // The library takes no notice of a slash at the beginning.
        if rest.starts_with(&format!("{bucket}//")) {
            return Err(malformed());
        }
        Ok(Some(ObjectAddress { scheme, bucket: bucket.to_owned(), key }))
    }

    pub(crate) fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the last part of the key.
    pub fn name(&self) -> &str {
        self.key.filename().unwrap_or_default()
    }

    /// Returns the address of an object below this prefix.
    ///
    /// # Errors
    /// If a part of the name is invalid in a key.
    pub fn join(&self, name: &str) -> Result<ObjectAddress, AddressError> {
        let path = format!("{}/{name}", self.to_string().trim_end_matches('/'));
        let path = Path::new(&path);
        let wrong = || AddressError::Malformed { address: path.to_owned(), reason: "it is no address".to_owned() };
        ObjectAddress::of(path)?.ok_or_else(wrong)
    }

    /// Whether both are in the same bucket.
    pub fn is_in_bucket_of(&self, other: &ObjectAddress) -> bool {
        (self.scheme, &self.bucket) == (other.scheme, &other.bucket)
    }

    /// Returns the prefix of the object.
    pub fn folder(&self) -> ObjectAddress {
        let parts: Vec<_> = self.key.parts().collect();
        let parts = parts.into_iter();
        let count = parts.len().saturating_sub(1);
        ObjectAddress { key: parts.take(count).collect(), ..self.clone() }
    }

    /// Returns the address as a path, in the notation for users.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(self.to_string())
    }
}

impl fmt::Display for ObjectAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}/{}", self.scheme.prefix(), self.bucket, self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Result<Option<ObjectAddress>, AddressError> {
        ObjectAddress::of(Path::new(text))
    }

    #[test]
    fn addresses_are_told_from_paths() {
        for path in ["prices.xlsx", "/data/s3/prices.xlsx", "s3:/bucket", "C:\\s3\\a.csv", "-", "https://example.org/a"]
        {
            assert_eq!(address(path).expect("no error"), None, "{path}");
            assert!(!ObjectAddress::is_meant(Path::new(path)));
        }
        for (text, bucket, key) in [
            ("s3://bucket/in/My prices (1).xlsx", "bucket", "in/My prices (1).xlsx"),
            ("S3://bucket/a.csv", "bucket", "a.csv"),
            ("gs://b/50% off#1.csv", "b", "50% off#1.csv"),
            ("az://container/Größe.csv", "container", "Größe.csv"),
            ("s3://bucket/in/", "bucket", "in"),
            ("s3://bucket", "bucket", ""),
        ] {
            let found = address(text).expect("an address").expect("an address");
            assert_eq!((found.bucket.as_str(), found.key.as_ref()), (bucket, key));
        }
    }

    #[test]
    fn wrong_addresses_are_refused() {
        for text in ["s3://", "s3:///a.csv", "s3://b/../a.csv", "s3://b//a.csv", "s3://key:secret@b/a.csv"] {
            assert!(address(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_are_joined_to_prefixes() {
        let inbox = address("s3://b/in/").expect("an address").expect("an address");
        let file = inbox.join("done/prices.csv").expect("an address");
        assert_eq!(file.to_string(), "s3://b/in/done/prices.csv");
        assert_eq!((file.name(), file.folder().to_string().as_str()), ("prices.csv", "s3://b/in/done"));
        assert_eq!(file.folder().folder().folder().to_string(), "s3://b/");
        assert!(inbox.join("../a.csv").is_err());
    }
}

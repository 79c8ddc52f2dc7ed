//! How addresses of objects begin.

use std::path::Path;

/// The kind of storage service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    S3,
    Google,
    Azure,
}

impl Scheme {
    const ALL: [Scheme; 3] = [Scheme::S3, Scheme::Google, Scheme::Azure];

    /// Returns the beginning of addresses.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Scheme::S3 => "s3://",
            Scheme::Google => "gs://",
            Scheme::Azure => "az://",
        }
    }

    /// Returns the scheme of an address, and the rest. Returns `None` for a path in the file system.
    pub(crate) fn of(path: &Path) -> Option<(Scheme, &str)> {
        let text = path.to_str()?;
        Scheme::ALL.into_iter().find_map(|scheme| {
            let (start, rest) = text.split_at_checked(scheme.prefix().len())?;
            start.eq_ignore_ascii_case(scheme.prefix()).then_some((scheme, rest))
        })
    }
}

//! Compression of text files.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// Detects the compression of a file that starts with `sample`.
    pub(super) fn detect(sample: &[u8]) -> Compression {
        if sample.starts_with(b"\x1F\x8B\x08") {
            Compression::Gzip
        } else if sample.starts_with(b"\x28\xB5\x2F\xFD") {
            Compression::Zstd
        } else {
            Compression::None
        }
    }

    /// Returns the name of the format and its usual file extension.
    pub fn name(self) -> Option<(&'static str, &'static str)> {
        match self {
            Compression::None => None,
            Compression::Gzip => Some(("gzip", "gz")),
            Compression::Zstd => Some(("Zstandard", "zst")),
        }
    }
}

//! Absolute paths.

use std::path::{Path, PathBuf};

/// Returns the absolute path without resolving symbolic links, or the path itself if the current folder is unknown.
pub fn absolute(path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

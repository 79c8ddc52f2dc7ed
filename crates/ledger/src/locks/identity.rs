//! Names of locks and of shared rates: hashes of what they are for.

use sheetport_files::digest;

/// Bytes of a hash in the name of a lock.
const IDENTITY: usize = 16;

/// Returns the name for an identity, such as a service and a workspace.
pub(crate) fn file_name(identity: &[&str]) -> String {
    digest::hex(&digest::of_parts(identity.iter().map(|part| part.as_bytes()))[..IDENTITY])
}

/// Whether a name is one of [`file_name`].
pub(crate) fn is_identity(name: &str) -> bool {
    name.len() == 2 * IDENTITY && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

//! Maps by hashes of texts, which are not hashed again.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by the hash of a text.
pub(super) type ByHash<T> = HashMap<u64, T, BuildHasherDefault<Hashed>>;

/// Returns the hash itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    /// Only for keys of other types, which these maps have not.
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }
}

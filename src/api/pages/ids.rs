//! A set of what tells records apart, in little memory: a 64-bit hash of each under a secret of this process. Among ten
//! million records the chance that two different ones are taken for one is one in 400,000, and a total would tell.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

use super::read::{Entry, unquoted};

/// A set that grows holds its old and its new table at once; of many small ones only one does so at a time.
const SHARDS: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Ids {
    hasher: RandomState,
    shards: [HashSet<u64, BuildHasherDefault<AsItIs>>; SHARDS],
}

impl Ids {
    /// An empty set that knows records by the same hashes.
    pub fn none_yet(&self) -> Ids {
        Ids { hasher: self.hasher.clone(), shards: Default::default() }
    }

    /// Whether an entry has an id, and what tells it from others: the id, or else its whole text.
    pub fn identity(&self, entry: Entry<'_>) -> (bool, u64) {
        let id = entry.fields().find(|(name, _)| *name == "\"id\"").map(|(_, value)| value);
        let id = id.filter(|value| *value != "null").map(unquoted);
        let text = id.as_deref().unwrap_or_else(|| entry.text());
        (id.is_some(), self.hasher.hash_one((id.is_some(), text)))
    }

    pub fn contains(&self, identity: u64) -> bool {
        self.shards[shard(identity)].contains(&identity)
    }

    /// True if it was not there yet.
    pub fn insert(&mut self, identity: u64) -> bool {
        self.shards[shard(identity)].insert(identity)
    }

    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.shards.iter().flatten().copied()
    }
}

fn shard(identity: u64) -> usize {
    // The low and the high bits are the sets' own.
    (identity >> 32) as usize % SHARDS
}

/// What is hashed is a hash.
#[derive(Clone, Copy, Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

//! A set of what tells records apart, in little memory: a 64-bit hash of each under a secret of this walk. Among ten
//! million records the chance that two different ones are taken for one is one in 400,000, and a total would tell.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

use twox_hash::XxHash3_64;

use super::read::{Entry, unquoted};

/// A set that grows holds its old and its new table at once; of many small ones only one does so at a time.
const SHARDS: usize = 32;
/// Room that is made at once for as many records as a list is said to have, up to this.
const MOST_AHEAD: usize = 1 << 20;

/// What tells a record from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Without an id, two records may look alike.
    pub(super) has_id: bool,
    pub(super) hash: u64,
}

/// Makes identities that can be compared with each other, of any pages in any order.
#[derive(Clone, Copy, Debug)]
pub struct Identifier {
    secret: u64,
}

#[derive(Debug, Default)]
pub(super) struct Ids {
    pub identifier: Identifier,
    shards: [HashSet<u64, BuildHasherDefault<AsItIs>>; SHARDS],
}

impl Identifier {
    /// Of the id, or else of the whole text.
    pub fn identity(&self, entry: Entry<'_>) -> Identity {
        let id = entry.fields().find(|(name, _)| *name == "\"id\"").map(|(_, value)| value);
        let id = id.filter(|value| *value != "null").map(unquoted);
        let (has_id, text) = (id.is_some(), id.as_deref().unwrap_or_else(|| entry.text()));
        // An id and the text of a record without one are told apart, whatever they say.
        let secret = if has_id { self.secret } else { !self.secret };
        Identity { has_id, hash: XxHash3_64::oneshot_with_seed(secret, text.as_bytes()) }
    }
}

impl Default for Identifier {
    fn default() -> Identifier {
        // The system's randomness, as the standard library's own tables take it.
        Identifier { secret: RandomState::new().hash_one(0_u64) }
    }
}

impl Ids {
    /// An empty set that knows records by the same hashes.
    pub fn none_yet(&self) -> Ids {
        Ids { identifier: self.identifier, shards: Default::default() }
    }

    /// Makes room for so many at once, as far as that costs little where they never come.
    pub fn make_room(&mut self, for_all: u64) {
        let each = usize::try_from(for_all).map_or(MOST_AHEAD, |all| all.min(MOST_AHEAD)) / SHARDS;
        // Hashes spread a little unevenly.
        self.shards.iter_mut().for_each(|shard| shard.reserve(each + each / 32));
    }

    pub fn contains(&self, hash: u64) -> bool {
        self.shards[shard(hash)].contains(&hash)
    }

    /// True if it was not there yet.
    pub fn insert(&mut self, hash: u64) -> bool {
        self.shards[shard(hash)].insert(hash)
    }

    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.shards.iter().flatten().copied()
    }
}

fn shard(hash: u64) -> usize {
    // The low and the high bits are the sets' own.
    (hash >> 32) as usize % SHARDS
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

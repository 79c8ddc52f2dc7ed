//! The keys of the records read so far. Two records with one key would overwrite each other in the service; the template
//! says what becomes of them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

use crate::ledger::Seq;

/// Maps grow one after the other, so that the memory of two sizes is only needed for one of them.
const SHARDS: usize = 16;
/// Marks a record that is to be sent and would have to be taken back.
const TO_BE_SENT: u32 = 1 << 31;

/// The most records or rows that can be kept apart.
pub const MOST: u64 = (TO_BE_SENT - 1) as u64;

/// Keys are held as 64-bit hashes under a secret of this process, so that a million of them fit in 40 MB. Two different
/// keys among a million share a hash once in thirty million runs, and then a record is taken for a duplicate, not lost.
#[derive(Debug)]
pub struct Keys {
    hasher: RandomState,
    shards: Vec<HashMap<u64, Holder, BuildHasherDefault<Hashed>>>,
}

/// Keys of the shards are hashes already.
#[derive(Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Who holds a key.
#[derive(Clone, Copy, Debug)]
struct Holder {
    /// With [`TO_BE_SENT`].
    seq: u32,
    row: u32,
}

/// The record that had a key before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earlier {
    pub seq: Seq,
    pub row: u64,
    pub is_to_be_sent: bool,
}

impl Default for Keys {
    fn default() -> Keys {
        Keys { hasher: RandomState::new(), shards: (0..SHARDS).map(|_| HashMap::default()).collect() }
    }
}

impl Keys {
    /// Notes that a record has `key`. Answers who had it before. The record counted as the key's holder from then on is
    /// the new one if `replaces`, and else the earlier.
    pub fn meet(&mut self, key: &str, seq: Seq, row: u64, is_to_be_sent: bool, replaces: bool) -> Option<Earlier> {
        let hash = self.hasher.hash_one(key);
        let new = Holder {
            seq: u32::try_from(seq).unwrap_or(0) | if is_to_be_sent { TO_BE_SENT } else { 0 },
            row: u32::try_from(row).unwrap_or(u32::MAX),
        };
        let shard = self.shards.get_mut(shard(hash))?;
        match shard.entry(hash) {
            Entry::Vacant(place) => {
                place.insert(new);
                None
            }
            Entry::Occupied(mut place) => {
                let old = *place.get();
                if replaces {
                    place.insert(new);
                }
                Some(Earlier {
                    seq: Seq::from(old.seq & !TO_BE_SENT),
                    row: u64::from(old.row),
                    is_to_be_sent: old.seq & TO_BE_SENT != 0,
                })
            }
        }
    }

    /// Notes that the holder of `key` is not to be sent any more.
    pub fn take_back(&mut self, key: &str) {
        let hash = self.hasher.hash_one(key);
        if let Some(holder) = self.shards.get_mut(shard(hash)).and_then(|shard| shard.get_mut(&hash)) {
            holder.seq &= !TO_BE_SENT;
        }
    }
}

/// By bits from the middle: a map goes by those at both ends.
fn shard(hash: u64) -> usize {
    usize::from(hash.to_be_bytes()[4]) % SHARDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_holder_stays_or_makes_room() {
        let mut keys = Keys::default();
        assert_eq!(keys.meet("a", 0, 2, true, false), None);
        assert_eq!(keys.meet("b", 1, 3, false, false), None);
        let first = Earlier { seq: 0, row: 2, is_to_be_sent: true };
        assert_eq!(keys.meet("a", 2, 4, true, false), Some(first));
        assert_eq!(keys.meet("a", 3, 5, true, true), Some(first));
        keys.take_back("a");
        let last = Earlier { seq: 3, row: 5, is_to_be_sent: false };
        assert_eq!(keys.meet("a", 4, 6, true, false), Some(last));
        assert_eq!(keys.meet("b", 5, 7, true, false).map(|earlier| earlier.is_to_be_sent), Some(false));
    }
}

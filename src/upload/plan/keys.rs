//! Keys of the records read so far, for finding duplicates. Two records with the same key would overwrite each other in
//! the service.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};

use crate::ledger::Seq;

/// Number of maps. Each grows separately, to limit the memory for copying a map into a larger map.
const SHARDS: usize = 16;
/// Marks a record to be sent.
const TO_BE_SENT: u32 = 1 << 31;

/// Maximum number of records or rows in a sheet.
pub const MAX_ROWS: u64 = (TO_BE_SENT - 1) as u64;

/// Keys as 64-bit hashes with a secret of this process: a million keys need 40 MB.
///
/// Among a million keys, two share a hash in one of thirty million runs. A record is then reported as a
/// duplicate; no record is lost.
#[derive(Debug)]
pub struct Keys {
    hasher: RandomState,
    shards: Vec<HashMap<u64, Packed>>,
}

/// The record with a key. The sequence number includes [`TO_BE_SENT`].
#[derive(Clone, Copy, Debug)]
struct Packed {
    seq: u32,
    row: u32,
}

/// The record holding a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyHolder {
    pub seq: Seq,
    pub row: u64,
    pub is_to_be_sent: bool,
}

impl Default for Keys {
    fn default() -> Keys {
        Keys { hasher: RandomState::new(), shards: (0..SHARDS).map(|_| HashMap::new()).collect() }
    }
}

impl Keys {
    /// Adds a record with `key` and returns the previous holder, if any. The new record becomes the holder of a free
    /// key, or if `replace` is set.
    pub fn insert(&mut self, key: &str, new: KeyHolder, replace: bool) -> Option<KeyHolder> {
        let hash = self.hasher.hash_one(key);
        match self.shard(hash).entry(hash) {
            Entry::Vacant(entry) => {
                entry.insert(new.packed());
                None
            }
            Entry::Occupied(mut entry) => {
                let old = *entry.get();
                if replace {
                    entry.insert(new.packed());
                }
                Some(old.unpacked())
            }
        }
    }

    /// Marks the holder of `key` as not to be sent.
    pub fn withdraw(&mut self, key: &str) {
        let hash = self.hasher.hash_one(key);
        if let Some(holder) = self.shard(hash).get_mut(&hash) {
            holder.seq &= !TO_BE_SENT;
        }
    }

    fn shard(&mut self, hash: u64) -> &mut HashMap<u64, Packed> {
        &mut self.shards[(hash % SHARDS as u64) as usize]
    }
}

impl KeyHolder {
    fn packed(self) -> Packed {
        let seq = u32::try_from(self.seq).expect("a sheet has at most MAX_ROWS records");
        let row = u32::try_from(self.row).expect("row numbers are at most MAX_ROWS");
        Packed { seq: seq | if self.is_to_be_sent { TO_BE_SENT } else { 0 }, row }
    }
}

impl Packed {
    fn unpacked(self) -> KeyHolder {
        let is_to_be_sent = self.seq & TO_BE_SENT != 0;
        KeyHolder { seq: Seq::from(self.seq & !TO_BE_SENT), row: u64::from(self.row), is_to_be_sent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_holder_keeps_a_key_until_it_is_replaced() {
        let holder = |seq, row, is_to_be_sent| KeyHolder { seq, row, is_to_be_sent };
        let mut keys = Keys::default();
        assert_eq!(keys.insert("a", holder(0, 2, true), false), None);
        assert_eq!(keys.insert("b", holder(1, 3, false), false), None);
        assert_eq!(keys.insert("a", holder(2, 4, true), false), Some(holder(0, 2, true)));
        assert_eq!(keys.insert("a", holder(3, 5, true), true), Some(holder(0, 2, true)));
        keys.withdraw("a");
        assert_eq!(keys.insert("a", holder(4, 6, true), false), Some(holder(3, 5, false)));
        assert_eq!(keys.insert("b", holder(5, 7, true), false), Some(holder(1, 3, false)));
    }
}

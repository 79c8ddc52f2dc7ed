//! Keys of the records read so far, for finding duplicates. Two records with the same key would overwrite each other in
//! the service.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};

use crate::ledger::Seq;

/// Maximum number of records or rows in a sheet.
pub(super) const MAX_ROWS: u64 = (1 << 31) - 1;

/// Keys as 64-bit hashes with a secret of this process: a million keys need 70 MB.
///
/// Among a million keys, two share a hash in one of thirty million runs. A record is then reported as a
/// duplicate; no record is lost.
#[derive(Debug, Default)]
pub(super) struct Keys {
    hasher: RandomState,
    holders: HashMap<u64, KeyHolder>,
}

/// The record holding a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyHolder {
    pub seq: Seq,
    pub row: u64,
    pub is_to_be_sent: bool,
}

impl Keys {
    /// Adds a record with `key` and returns the previous holder, if any. The new record becomes the holder of a free
    /// key, or if `replace` is set.
    pub(super) fn insert(&mut self, key: &str, new: KeyHolder, replace: bool) -> Option<KeyHolder> {
        match self.holders.entry(self.hasher.hash_one(key)) {
            Entry::Vacant(entry) => {
                entry.insert(new);
                None
            }
            Entry::Occupied(mut entry) if replace => Some(entry.insert(new)),
            Entry::Occupied(entry) => Some(*entry.get()),
        }
    }

    /// Marks the holder of `key` as not to be sent.
    pub(super) fn withdraw(&mut self, key: &str) {
        if let Some(holder) = self.holders.get_mut(&self.hasher.hash_one(key)) {
            holder.is_to_be_sent = false;
        }
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

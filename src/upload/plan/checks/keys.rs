//! Keys of the records read so far, for finding duplicates. Two records with the same key would overwrite each other in
//! the service.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::ledger::Seq;

/// Maximum number of records or rows in a sheet.
pub(in crate::upload::plan) const MAX_ROWS: u64 = (1 << 31) - 1;

/// Keys as 64-bit hashes with a secret of this process: a million keys need 70 MB.
///
/// Among a million keys, two share a hash in one of thirty million runs. A record is then reported as a
/// duplicate; no record is lost.
#[derive(Debug, Default)]
pub(in crate::upload::plan) struct Keys {
    holders: HashTable<(u64, KeyHolder)>,
}

/// The record holding a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::upload::plan) struct KeyHolder {
    pub seq: Seq,
    pub row: u64,
    pub is_to_be_sent: bool,
}

impl Keys {
    /// Adds a record, by the hash of its key, and returns the previous holder, if any. The new record becomes the holder
    /// of a free key, or if `replace` is set.
    pub(in crate::upload::plan) fn insert(&mut self, key: u64, new: KeyHolder, replace: bool) -> Option<KeyHolder> {
        match self.holders.entry(key, |(hash, _)| *hash == key, |(hash, _)| *hash) {
            Entry::Vacant(entry) => {
                entry.insert((key, new));
                None
            }
            Entry::Occupied(mut entry) => {
                let (_, holder) = entry.get_mut();
                Some(if replace { std::mem::replace(holder, new) } else { *holder })
            }
        }
    }

    /// Marks the holder of `key` as not to be sent.
    pub(in crate::upload::plan) fn withdraw(&mut self, key: u64) {
        if let Some((_, holder)) = self.holders.find_mut(key, |(hash, _)| *hash == key) {
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
        let (a, b) = (1, 2);
        assert_eq!(keys.insert(a, holder(0, 2, true), false), None);
        assert_eq!(keys.insert(b, holder(1, 3, false), false), None);
        assert_eq!(keys.insert(a, holder(2, 4, true), false), Some(holder(0, 2, true)));
        assert_eq!(keys.insert(a, holder(3, 5, true), true), Some(holder(0, 2, true)));
        keys.withdraw(a);
        assert_eq!(keys.insert(a, holder(4, 6, true), false), Some(holder(3, 5, false)));
        assert_eq!(keys.insert(b, holder(5, 7, true), false), Some(holder(1, 3, false)));
    }
}

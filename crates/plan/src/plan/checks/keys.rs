//! Keys of the records read so far, for finding duplicates. Two records with the same key would overwrite each other in
//! the service.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use sheetport_ledger::Seq;

/// Maximum number of records or rows in a sheet.
pub(crate) const MAX_ROWS: u64 = (1 << 31) - 1;

/// Keys as 64-bit hashes with a secret of this process: a million keys need 36 MB.
///
/// Among a million keys, two share a hash in one of thirty million runs. A record is then reported as a
/// duplicate; no record is lost.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    slots: HashTable<Slot>,
}

/// A key and its holder. Small, because there is one per record.
#[derive(Debug)]
struct Slot {
    key: u64,
    /// Less than 2^31: [`MAX_ROWS`].
    row: u32,
    /// The number of the record, and [`TO_BE_SENT`].
    seq: u32,
}

/// The flag of a record to be sent.
const TO_BE_SENT: u32 = 1 << 31;

/// The record holding a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyHolder {
    pub seq: Seq,
    pub row: u64,
    pub is_to_be_sent: bool,
}

impl Keys {
    /// Adds a record by the hash of its key. Returns the previous holder, if any. The new record becomes the holder if the key is
    /// free or `replace` is set.
    pub(crate) fn insert(&mut self, key: u64, new: KeyHolder, replace: bool) -> Option<KeyHolder> {
        match self.slots.entry(key, |slot| slot.key == key, |slot| slot.key) {
            Entry::Vacant(entry) => {
                entry.insert(Slot::new(key, new));
                None
            }
            Entry::Occupied(mut entry) => {
                let known = entry.get().holder();
                if replace {
                    *entry.get_mut() = Slot::new(key, new);
                }
                Some(known)
            }
        }
    }

    /// Marks the holder of `key` as not to be sent.
    pub(crate) fn withdraw(&mut self, key: u64) {
        if let Some(slot) = self.slots.find_mut(key, |slot| slot.key == key) {
            slot.seq &= !TO_BE_SENT;
        }
    }
}

impl Slot {
    fn new(key: u64, holder: KeyHolder) -> Slot {
        let narrow = |number: u64| u32::try_from(number).ok().filter(|number| *number < TO_BE_SENT);
        let seq = narrow(holder.seq.unsigned_abs()).expect("there are at most MAX_ROWS records");
        let row = narrow(holder.row).expect("row numbers are at most MAX_ROWS");
        Slot { key, row, seq: if holder.is_to_be_sent { seq | TO_BE_SENT } else { seq } }
    }

    fn holder(&self) -> KeyHolder {
        KeyHolder {
            seq: Seq::from(self.seq & !TO_BE_SENT),
            row: u64::from(self.row),
            is_to_be_sent: self.seq & TO_BE_SENT != 0,
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

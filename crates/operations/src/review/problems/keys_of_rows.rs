//! Finds rows with the same key, so that a changed row can be judged together with the rows affected.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use sheetport_ledger::{Disposition, PlannedRecord};

/// Hashes of the keys of a sheet, with their rows.
#[derive(Clone, Debug, Default)]
pub(super) struct KeysOfRows {
    hasher: RandomState,
    /// As the sheet was read, sorted.
    read: Arc<Vec<(u64, u64)>>,
    /// Rows changed since, each with the hash of its current key, if any.
    changed: HashMap<u64, Option<u64>>,
    /// The changed rows by the hashes of their current keys.
    changed_of: HashMap<u64, BTreeSet<u64>>,
}

impl KeysOfRows {
    pub(super) fn add(&mut self, record: &PlannedRecord) {
        if matches!(record.disposition, Disposition::Skipped(_)) {
            return;
        }
        if let (Some(key), Some(row)) = (&record.key, record.rows.first()) {
            let hash = self.hasher.hash_one(key);
            Arc::make_mut(&mut self.read).push((hash, *row));
        }
    }

    pub(super) fn sort(&mut self) {
        Arc::make_mut(&mut self.read).sort_unstable();
    }

    /// Notes the key of a changed row.
    pub(super) fn set(&mut self, row: u64, key: Option<&str>) {
        let hash = key.map(|key| self.hasher.hash_one(key));
        if let Some(before) = self.changed.insert(row, hash).flatten()
            && let Some(rows) = self.changed_of.get_mut(&before)
        {
            rows.remove(&row);
        }
        if let Some(hash) = hash {
            self.changed_of.entry(hash).or_default().insert(row);
        }
    }

    /// Returns the rows with a key, in order.
    pub(super) fn rows_of(&self, key: &str) -> Vec<u64> {
        let hash = self.hasher.hash_one(key);
        let start = self.read.partition_point(|(known, _)| *known < hash);
        let read = self.read[start..].iter().take_while(|(known, _)| *known == hash).map(|(_, row)| *row);
        let changed = self.changed_of.get(&hash).into_iter().flatten().copied();
        let mut rows: Vec<u64> = read.filter(|row| !self.changed.contains_key(row)).chain(changed).collect();
        rows.sort_unstable();
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_row_has_its_new_key_only() {
        let mut keys = KeysOfRows::default();
        for (row, key) in [(2, "A"), (3, "B"), (4, "A")] {
            let disposition = Disposition::Rejected(Vec::new());
            let (key, rows) = (Some(key.to_owned()), vec![row]);
            keys.add(&PlannedRecord {
                key,
                target: None,
                rows,
                sheet: String::new(),
                disposition,
                command: None,
                warnings: Vec::new(),
            });
        }
        keys.sort();
        assert_eq!((keys.rows_of("A"), keys.rows_of("B"), keys.rows_of("C")), (vec![2, 4], vec![3], vec![]));
        keys.set(2, Some("B"));
        keys.set(4, None);
        assert_eq!((keys.rows_of("A"), keys.rows_of("B")), (vec![], vec![2, 3]));
        keys.set(2, Some("A"));
        assert_eq!((keys.rows_of("A"), keys.rows_of("B")), (vec![2], vec![3]));
    }
}

//! The records of a file by their keys and ids in the service's list.
//!
//! A file may have a million of them, so a record is found by a hash, and read back to compare its key.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use sheetport_client::pages::{Entry, object_fields};
use sheetport_records::listed_name;

use super::candidate::Candidate;
use super::candidates::{CandidateFile, Place};
use super::server_diff::canonical;
use crate::error::Error;

#[derive(Debug)]
pub(super) struct Keyed {
    /// The name of the key in the list.
    key: &'static str,
    hasher: RandomState,
    file: CandidateFile,
    records: Vec<Record>,
    /// The records that were not taken, by the hash of their key.
    by_key: HashTable<u32>,
    /// Those with a known id, by the hash of that.
    by_id: HashTable<(u64, u32)>,
    /// Records that can't be found, because their request has no key, or another one has the same.
    pub not_keyed: u64,
    /// Whether an entry of the list has shown its key.
    pub has_shown_keys: bool,
}

#[derive(Debug)]
struct Record {
    place: Place,
    /// The hash of its key.
    hash: u64,
}

impl Keyed {
    pub(super) fn new(key: &'static str, mut file: CandidateFile, places: Vec<Place>) -> Result<Keyed, Error> {
        let hasher = RandomState::new();
        let mut records: Vec<Record> = Vec::with_capacity(places.len());
        let (mut by_key, mut by_id, mut not_keyed) = (HashTable::with_capacity(places.len()), HashTable::new(), 0);
        for place in places {
            let candidate = file.read(place)?;
            let (Some(name), Ok(index)) = (key_of(&candidate.body, key), u32::try_from(records.len())) else {
                not_keyed += 1;
                continue;
            };
            let hash = hasher.hash_one(name);
            records.push(Record { place, hash });
            if let Some(id) = &candidate.sent.id {
                let id = hasher.hash_one(&**id);
                by_id.insert_unique(id, (id, index), |(id, _)| *id);
            }
            let hash_of = |index: &u32| records.get(*index as usize).map_or(0, |record| record.hash);
            match by_key.entry(hash, |other| hash_of(other) == hash, hash_of) {
                Slot::Occupied(mut other) => {
                    *other.get_mut() = index;
                    not_keyed += 1;
                }
                Slot::Vacant(slot) => drop(slot.insert(index)),
            }
        }
        Ok(Keyed { key, hasher, file, records, by_key, by_id, not_keyed, has_shown_keys: false })
    }

    /// Returns the number of records that were not taken.
    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Whether records can be found by their id, if the list does not show their key.
    pub(super) fn has_ids(&self) -> bool {
        !self.by_id.is_empty()
    }

    /// Takes the record of an entry of the list, if the file has it.
    pub(super) fn take(&mut self, entry: &Entry<'_>) -> Result<Option<Candidate>, Error> {
        match entry.field(self.key) {
            Some(json) => {
                self.has_shown_keys = true;
                let Some(name) = canonical(json) else { return Ok(None) };
                self.take_if(self.hasher.hash_one(&name), |candidate, key| key_of(&candidate.body, key) == Some(name))
            }
            None => {
                let Some(id) = entry.text("id") else { return Ok(None) };
                let hash = self.hasher.hash_one(&*id);
                let Ok(slot) = self.by_id.find_entry(hash, |(other, _)| *other == hash) else { return Ok(None) };
                let ((_, index), _) = slot.remove();
                let Some(key) = self.records.get(index as usize).map(|record| record.hash) else { return Ok(None) };
                self.take_if(key, |candidate, _| candidate.sent.id.as_deref() == Some(&*id))
            }
        }
    }

    /// Takes the record with this hash of its key, if it is the right one.
    fn take_if(
        &mut self,
        hash: u64,
        is_right: impl FnOnce(&Candidate, &str) -> bool,
    ) -> Result<Option<Candidate>, Error> {
        let hash_of = |index: &u32| self.records.get(*index as usize).map_or(0, |record| record.hash);
        let Ok(slot) = self.by_key.find_entry(hash, |index| hash_of(index) == hash) else { return Ok(None) };
        let Some(record) = self.records.get(*slot.get() as usize) else { return Ok(None) };
        let candidate = self.file.read(record.place)?;
        if !is_right(&candidate, self.key) {
            return Ok(None);
        }
        slot.remove();
        Ok(Some(candidate))
    }

    /// Reads the records that were not taken, in their order.
    pub(super) fn rest(mut self) -> impl Iterator<Item = Result<Candidate, Error>> {
        let mut indexes: Vec<u32> = self.by_key.into_iter().collect();
        indexes.sort_unstable();
        let places = indexes.into_iter().filter_map(move |index| Some(self.records.get(index as usize)?.place));
        places.map(move |place| self.file.read(place))
    }
}

/// Returns the key of a request as the list shows it.
fn key_of(body: &str, key: &str) -> Option<String> {
    let members = object_fields(body)?;
    let (_, json) = members.iter().find(|(name, _)| listed_name(name) == key)?;
    canonical(json)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::candidate::LastSent;
    use super::super::candidates::{Candidates, Way};
    use super::*;

    fn candidate(seq: i64, body: &str, id: Option<&str>) -> Candidate {
        let sent = LastSent { id: id.map(Into::into), body: None };
        Candidate { row: Some(2), sent, ..Candidate::new(seq, "a name".to_owned(), body.into()) }
    }

    fn keyed(records: impl IntoIterator<Item = Candidate>) -> Keyed {
        let candidates = Candidates::of(&std::env::temp_dir(), records).expect("memory");
        let (file, [places]) = candidates.into_parts([Way::Key]).expect("memory");
        Keyed::new("external_id", file, places).expect("memory")
    }

    #[test]
    fn a_record_is_found_once_by_its_key_or_its_id() {
        let mut keyed = keyed([
            candidate(0, r#"{"externalId":"A"}"#, None),
            candidate(1, r#"{"externalId":"B"}"#, Some("i1")),
            candidate(2, r#"{"name":"C"}"#, None),
            candidate(3, r#"{"externalId":"D"}"#, None),
        ]);
        assert_eq!((keyed.len(), keyed.not_keyed, keyed.has_ids(), keyed.has_shown_keys), (3, 1, true, false));
        let mut take = |entry: &str| keyed.take(&Entry::new(entry)).expect("memory").map(|found| found.seq);
        for (entry, expected) in [
            (r#"{"id":"i1"}"#, Some(1)),
            (r#"{"id":"i1"}"#, None),
            (r#"{"id":"i9"}"#, None),
            (r#"{"external_id":"\u0041"}"#, Some(0)),
            (r#"{"external_id":"A"}"#, None),
            (r#"{"external_id":null,"id":"i1"}"#, None),
        ] {
            assert_eq!(take(entry), expected, "{entry}");
        }
        assert!(keyed.has_shown_keys);
        assert_eq!(keyed.rest().map(|candidate| candidate.expect("memory").seq).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn records_beyond_the_memory_are_read_back_from_a_file() {
        let body = |seq: i64| format!(r#"{{"externalId":"{seq}","name":"{}"}}"#, "x".repeat(700));
        let mut keyed = keyed((0..3_000).map(|seq| candidate(seq, &body(seq), None)));
        for seq in (0..3_000).rev().filter(|seq| seq % 1_000 != 7) {
            let entry = format!(r#"{{"external_id":"{seq}"}}"#);
            let found = keyed.take(&Entry::new(&entry)).expect("a file").expect("a record");
            assert_eq!((found.seq, &*found.body), (seq, &*body(seq)));
        }
        assert_eq!(keyed.rest().map(|candidate| candidate.expect("a file").seq).collect::<Vec<_>>(), [7, 1_007, 2_007]);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error() {
        let mut candidates = Candidates::new(Path::new("no such folder"));
        let long = "x".repeat(600 << 10);
        let pushed = (0..3).try_for_each(|seq| candidates.push(&candidate(seq, &long, None)));
        let message = pushed.expect_err("no folder").to_string();
        assert!(message.starts_with("no such folder: "), "{message}");
    }
}

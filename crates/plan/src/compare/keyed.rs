//! The records of a file by their keys and ids in the service's list.
//!
//! A file may have a million of them, so a record is found by a hash, and its name and body are kept once.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use sheetport_client::pages::{Entry, object_fields};
use sheetport_records::listed_name;

use super::candidate::Candidate;
use super::server_diff::canonical;

#[derive(Debug)]
pub(super) struct Keyed {
    /// The name of the key in the list.
    key: &'static str,
    hasher: RandomState,
    /// `None` for those that were taken.
    candidates: Vec<Option<Candidate>>,
    /// The places of those that were not taken.
    by_key: HashMap<u64, usize>,
    /// The places of those with a known id.
    by_id: HashMap<u64, usize>,
    /// Records that can't be found, because their request has no key, or another one has the same.
    pub not_keyed: u64,
    /// Whether an entry of the list has shown its key.
    pub has_shown_keys: bool,
}

impl Keyed {
    pub(super) fn new(key: &'static str, candidates: Vec<Candidate>) -> Keyed {
        let hasher = RandomState::new();
        let (mut by_key, mut by_id, mut not_keyed) = (HashMap::new(), HashMap::new(), 0);
        for (place, candidate) in candidates.iter().enumerate() {
            let Some(name) = key_of(candidate.body(), key) else {
                not_keyed += 1;
                continue;
            };
            if let Some(id) = candidate.known_id() {
                by_id.insert(hasher.hash_one(id), place);
            }
            not_keyed += u64::from(by_key.insert(hasher.hash_one(name), place).is_some());
        }
        let candidates = candidates.into_iter().map(Some).collect();
        Keyed { key, hasher, candidates, by_key, by_id, not_keyed, has_shown_keys: false }
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
    pub(super) fn take(&mut self, entry: &Entry<'_>) -> Option<Candidate> {
        let (hash, place) = match entry.field(self.key) {
            Some(json) => {
                self.has_shown_keys = true;
                let name = canonical(json)?;
                let hash = self.hasher.hash_one(&name);
                let place = *self.by_key.get(&hash)?;
                (self.name_of(place)? == name).then_some((hash, place))?
            }
            None => {
                let id = entry.text("id")?;
                let place = self.by_id.remove(&self.hasher.hash_one(&*id))?;
                let candidate = self.candidates.get(place)?.as_ref()?;
                candidate.known_id().filter(|own| *own == &*id)?;
                (self.hasher.hash_one(self.name_of(place)?), place)
            }
        };
        self.by_key.remove(&hash)?;
        self.candidates.get_mut(place)?.take()
    }

    /// Returns the records that were not taken, in their order.
    pub(super) fn rest(self) -> impl Iterator<Item = Candidate> {
        let mut places: Vec<usize> = self.by_key.into_values().collect();
        places.sort_unstable();
        let mut candidates = self.candidates;
        places.into_iter().filter_map(move |place| candidates.get_mut(place)?.take())
    }

    fn name_of(&self, place: usize) -> Option<String> {
        key_of(self.candidates.get(place)?.as_ref()?.body(), self.key)
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
    use super::super::candidate::LastSent;
    use super::*;

    fn candidate(seq: i64, body: &str, id: Option<&str>) -> Candidate {
        let mut candidate = Candidate::new(seq, Some(2), None, "a name", body);
        candidate.sent = id.map(|id| Box::new(LastSent { id: Some(id.into()), body: None }));
        candidate
    }

    #[test]
    fn a_record_is_found_once_by_its_key_or_its_id() {
        let mut keyed = Keyed::new(
            "external_id",
            vec![
                candidate(0, r#"{"externalId":"A"}"#, None),
                candidate(1, r#"{"externalId":"B"}"#, Some("i1")),
                candidate(2, r#"{"name":"C"}"#, None),
                candidate(3, r#"{"externalId":"D"}"#, None),
            ],
        );
        assert_eq!((keyed.len(), keyed.not_keyed, keyed.has_ids(), keyed.has_shown_keys), (3, 1, true, false));
        let mut take = |entry: &str| keyed.take(&Entry::new(entry)).map(|found| found.seq);
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
        assert_eq!(keyed.rest().map(|candidate| candidate.seq).collect::<Vec<_>>(), [3]);
    }
}

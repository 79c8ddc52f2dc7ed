//! A set of what tells records apart, in little memory: a 64-bit hash of each under a secret of this walk. Among ten
//! million records the chance that two different ones are taken for one is one in 400,000, and a total would tell.
//!
//! It is much larger than the processor's caches, and what it takes is the waiting for memory. So it is a table with
//! nothing but the hashes in it, each at one place of memory, and the places of a whole page are asked for together.

use std::hash::{BuildHasher, RandomState};

use twox_hash::XxHash3_64;

use super::read::Entry;

/// A table that grows holds its old and its new places at once; of many small ones only one does so at a time.
const SHARDS: usize = 32;
/// Room that is made at once for as many records as a list is said to have, up to this.
const MOST_AHEAD: usize = 1 << 20;
/// A table's first places.
const FEWEST: usize = 64;

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
    shards: [Shard; SHARDS],
}

/// Hashes by open addressing with linear probing. No more than three of four places are taken.
#[derive(Clone, Debug, Default)]
struct Shard {
    /// [`FREE`] where there is none.
    places: Vec<u64>,
    taken: usize,
}

/// A hash that is never kept: one that is zero is kept as one.
const FREE: u64 = 0;

impl Identifier {
    /// Of the id, or else of the whole text.
    pub fn identity(&self, entry: Entry<'_>) -> Identity {
        let id = entry.id();
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
        let places = (each + each / 32) / 5 * 8;
        self.shards.iter_mut().for_each(|shard| shard.grow(places));
    }

    pub fn contains(&self, hash: u64) -> bool {
        let hash = kept(hash);
        self.shards[shard(hash)].contains(hash)
    }

    /// Adds a page's, and tells of each whether it was not there yet.
    pub fn insert_all(&mut self, hashes: impl Iterator<Item = u64> + Clone) -> Vec<bool> {
        // Nothing hangs on what is read here, so that the processor waits for all of them at once.
        let near = hashes.clone().map(kept).fold(0, |near, hash| near ^ self.shards[shard(hash)].near(hash));
        std::hint::black_box(near);
        hashes.map(kept).map(|hash| self.shards[shard(hash)].insert(hash)).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.shards.iter().flat_map(|shard| &shard.places).copied().filter(|hash| *hash != FREE)
    }
}

impl Shard {
    /// Where the looking for a hash begins.
    fn first(&self, hash: u64) -> usize {
        // The places are as many parts of all hashes, in their order. It is less than their number.
        ((u128::from(hash) * self.places.len() as u128) >> 64) as usize
    }

    /// What is at that place.
    fn near(&self, hash: u64) -> u64 {
        self.places.get(self.first(hash)).copied().unwrap_or(FREE)
    }

    /// The hash's place, or else the free one for it; nothing in an empty table.
    fn place_of(&self, hash: u64) -> Option<usize> {
        let (before, from) = self.places.split_at(self.first(hash));
        let nth = from.iter().chain(before).position(|found| *found == hash || *found == FREE)?;
        Some(if nth < from.len() { before.len() + nth } else { nth - from.len() })
    }

    fn contains(&self, hash: u64) -> bool {
        self.place_of(hash).is_some_and(|place| self.places[place] == hash)
    }

    /// True if it was not there yet.
    fn insert(&mut self, hash: u64) -> bool {
        if self.taken >= self.places.len() / 4 * 3 {
            self.grow((self.places.len() * 2).max(FEWEST));
        }
        let free = self.place_of(hash).map(|place| &mut self.places[place]).filter(|place| **place == FREE);
        let Some(free) = free else { return false };
        *free = hash;
        self.taken += 1;
        true
    }

    fn grow(&mut self, places: usize) {
        if places <= self.places.len() {
            return;
        }
        let before = std::mem::replace(&mut self.places, vec![FREE; places]);
        for hash in before.into_iter().filter(|hash| *hash != FREE) {
            if let Some(place) = self.place_of(hash) {
                self.places[place] = hash;
            }
        }
    }
}

fn kept(hash: u64) -> u64 {
    hash.max(FREE + 1)
}

fn shard(hash: u64) -> usize {
    // The high bits say where in the shard.
    hash as usize % SHARDS
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::{Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};

    use super::*;

    proptest! {
        /// Hashes that crowd at one place, at the very end and anywhere.
        #[test]
        fn it_knows_what_a_set_of_the_library_knows(
            pages in prop::collection::vec(
                prop::collection::vec(
                    prop_oneof![any::<u64>(), 0..200_u64, u64::MAX - 200..=u64::MAX, (0..300_u64).prop_map(|n| n << 40)],
                    0..60,
                ),
                0..40,
            ),
            room in 0..5_000_u64,
        ) {
            let mut ids = Ids::default();
            ids.make_room(room);
            let mut set = HashSet::new();
            for page in pages {
                let new: Vec<bool> = page.iter().map(|hash| set.insert(kept(*hash))).collect();
                prop_assert_eq!(ids.insert_all(page.iter().copied()), new);
            }
            let mut all: Vec<u64> = ids.iter().collect();
            all.sort_unstable();
            let mut expected: Vec<u64> = set.iter().copied().collect();
            expected.sort_unstable();
            prop_assert_eq!(all, expected);
            for hash in 0..300 {
                prop_assert_eq!(ids.contains(hash), set.contains(&kept(hash)));
            }
        }
    }
}

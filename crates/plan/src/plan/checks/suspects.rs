//! Rows that contradict the rows above: names that probably mean another record, and further rows of the record above.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use sheetport_mapping::map::Gathered;
use sheetport_mapping::{Cause, Mapper};

use super::name::Name;

/// The names of the records so far, and the values of the row above.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    names: HashTable<Known>,
    /// The rules with a value in the row above, if each row is a record.
    above: Vec<usize>,
}

/// The first of several names that differ only in details that people overlook.
#[derive(Debug)]
struct Known {
    folded: u64,
    /// The lower half of the name's hash.
    hash: u32,
    /// The row, at most [`MAX_ROWS`](super::keys::MAX_ROWS).
    row: u32,
}

impl Suspects {
    /// Returns the rule of the name, if the row lacks the name and another text of the row above. Programs write the texts of a
    /// product only on the row of its first variant.
    pub(crate) fn continues_above(&mut self, mapper: &Mapper<'_>, gathered: &Gathered) -> Option<usize> {
        let name = mapper.name_rule()?;
        if self.above.contains(&name) && !gathered.rules().any(|rule| rule == name) {
            let lost = self.above.iter().filter(|above| !gathered.rules().any(|rule| rule == **above));
            if lost.count() > 1 {
                // Further rows continue the same record.
                return Some(name);
            }
        }
        self.above.clear();
        self.above.extend(gathered.rules());
        None
    }

    /// Adds the name of a record. Returns the suspicious features of the name.
    pub(crate) fn add_name(&mut self, row: u64, name: Name) -> Vec<Cause> {
        let Name { hash, folded, mut causes } = name;
        let (hash, row) = (hash as u32, u32::try_from(row).expect("row numbers are at most MAX_ROWS"));
        match self.names.entry(folded, |known| known.folded == folded, |known| known.folded) {
            Entry::Vacant(entry) => {
                entry.insert(Known { folded, hash, row });
            }
            Entry::Occupied(entry) => {
                let known = entry.get();
                // The same name is another problem, or the same record.
                if known.hash != hash {
                    causes.push(Cause::NearlyTheSame { other_row: u64::from(known.row) });
                }
            }
        }
        causes
    }
}

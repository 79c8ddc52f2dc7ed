//! Rows and numbers that a person asked for with flags. If the file has none of them, a mistyped flag would look like success.

use crate::error::Error;
use crate::plan::source::Source;
use crate::sent_before::canonical_name;

/// Numbers of records named in a message.
const NAMED: usize = 5;

/// What was asked for, and what the file has of it.
pub(crate) struct Asked<'s> {
    source: &'s Source,
    /// Numbers of `--allow-repeat` that no record has had so far, in canonical form.
    missing: Vec<(&'s str, String)>,
    has_chosen: bool,
    /// The first and last row with a record.
    rows: Option<(u64, u64)>,
    /// The first numbers of records.
    names: Vec<String>,
    records: u64,
}

impl<'s> Asked<'s> {
    pub(crate) fn new(source: &'s Source) -> Asked<'s> {
        let missing = source.repeated.iter().map(|name| (name.as_str(), canonical_name(name))).collect();
        Asked { source, missing, has_chosen: false, rows: None, names: Vec::new(), records: 0 }
    }

    /// Notes the next record with its first row and its number. Returns whether it is to be sent.
    pub(crate) fn is_chosen(&mut self, row: u64, name: &str) -> bool {
        if !self.source.repeated.is_empty() && !name.is_empty() {
            self.records += 1;
            if self.names.len() < NAMED {
                self.names.push(name.to_owned());
            }
            if !self.missing.is_empty() {
                let canonical = canonical_name(name);
                self.missing.retain(|(_, missing)| *missing != canonical);
            }
        }
        let Some((first, last)) = self.source.chosen else { return true };
        let (lowest, highest) = self.rows.unwrap_or((row, row));
        self.rows = Some((lowest.min(row), highest.max(row)));
        let is_chosen = (first..=last).contains(&row);
        self.has_chosen |= is_chosen;
        is_chosen
    }

    /// Checks that the file has what was asked for, after its last record.
    ///
    /// # Errors
    /// [`Error::NoChosenRows`] and [`Error::NoSuchNumbers`].
    pub(crate) fn check(&self) -> Result<(), Error> {
        let path = || self.source.path.clone();
        if let (Some((first, last)), Some(rows), false) = (self.source.chosen, self.rows, self.has_chosen) {
            return Err(Error::NoChosenRows { path: path(), first, last, rows });
        }
        if self.missing.is_empty() {
            return Ok(());
        }
        let numbers = self.missing.iter().map(|(name, _)| (*name).to_owned()).collect();
        Err(Error::NoSuchNumbers { path: path(), numbers, records: self.records, names: self.names.clone() })
    }
}

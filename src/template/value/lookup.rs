//! A lookup table from values in a sheet to values in the service, such as unit names to unit codes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::diagnostics::nearest;

/// Maximum number of entries in a table.
pub const MAX_ENTRIES: usize = 1_000_000;

/// Maximum number of entries compared for a suggestion.
const MAX_COMPARED: usize = 20_000;

/// Values by key: the exact key first, then the key in any case.
#[derive(Debug, Default)]
pub struct Lookup {
    entries: Vec<Entry>,
    exact: HashMap<Arc<str>, u32>,
    /// By lower-case key. `None` for several keys with different values.
    folded: HashMap<Arc<str>, Option<u32>>,
}

#[derive(Debug)]
struct Entry {
    key: Arc<str>,
    value: Box<str>,
    /// Row number in the table's file.
    row: u64,
}

/// Why a table can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    #[error("the lookup table has no column '{column}'{}", did_you_mean(.nearest.as_deref()))]
    MissingColumn { column: String, nearest: Option<String> },
    /// The header has the column more than once.
    #[error("the column '{column}' appears more than once in the lookup table")]
    DuplicateColumn { column: String },
    /// A key has two values.
    #[error(
        "'{key}' has two values in the lookup table, '{}' in row {} and '{}' in row {}",
        .values[0], .rows[0], .values[1], .rows[1]
    )]
    Conflict { key: String, values: [String; 2], rows: [u64; 2] },
    #[error("the lookup table has more than {MAX_ENTRIES} entries")]
    TooLarge,
}

impl Lookup {
    /// Builds the table from the columns `from` and `to` of some rows; the first has the number `first_row` in the file.
    /// Skips rows with a blank key. Fails if a column is missing, if a key has different values, or if there are more than
    /// `limit` entries.
    pub fn from_rows<R, C>(
        header: &[C],
        rows: impl IntoIterator<Item = R>,
        first_row: u64,
        (from, to): (&str, &str),
        limit: usize,
    ) -> Result<Lookup, LookupError>
    where
        R: AsRef<[C]>,
        C: AsRef<str>,
    {
        let (from, to) = (find(header, from)?, find(header, to)?);
        let mut lookup = Lookup::default();
        for (row, cells) in (first_row..).zip(rows) {
            let cell = |index: usize| cells.as_ref().get(index).map_or("", |cell| cell.as_ref().trim());
            lookup.insert(row, cell(from), cell(to), limit)?;
        }
        Ok(lookup)
    }

    /// Returns the value of a key, or of the same key in another case.
    pub fn get(&self, key: &str) -> Option<&str> {
        let key = key.trim();
        let index = match self.exact.get(key) {
            Some(index) => *index,
            None => (*self.folded.get(folded(key).as_ref())?)?,
        };
        Some(&self.entry(index).value)
    }

    /// Returns the most similar key, for suggestions.
    pub fn nearest(&self, key: &str) -> Option<&str> {
        nearest(key, self.keys().take(MAX_COMPARED))
    }

    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.iter().map(|entry| entry.key.as_ref())
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn insert(&mut self, row: u64, key: &str, value: &str, limit: usize) -> Result<(), LookupError> {
        if key.is_empty() {
            return Ok(());
        }
        if let Some(index) = self.exact.get(key) {
            let known = self.entry(*index);
            if known.value.as_ref() == value {
                return Ok(());
            }
            return Err(LookupError::Conflict {
                key: key.to_owned(),
                values: [known.value.to_string(), value.to_owned()],
                rows: [known.row, row],
            });
        }
        if self.entries.len() >= limit {
            return Err(LookupError::TooLarge);
        }
        let index = u32::try_from(self.entries.len()).map_err(|_| LookupError::TooLarge)?;
        let key: Arc<str> = key.into();
        let folded: Arc<str> = match folded(&key) {
            Cow::Borrowed(_) => key.clone(),
            Cow::Owned(folded) => folded.into(),
        };
        let is_same = |known: u32| self.entry(known).value.as_ref() == value;
        let by_folded = match self.folded.get(&folded) {
            None => Some(index),
            Some(known) => known.filter(|known| is_same(*known)),
        };
        self.folded.insert(folded, by_folded);
        self.exact.insert(key.clone(), index);
        self.entries.push(Entry { key, value: value.into(), row });
        Ok(())
    }

    fn entry(&self, index: u32) -> &Entry {
        &self.entries[index as usize]
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("; did you mean '{nearest}'?"))
}

/// Returns the index of a column, comparing names in any case.
fn find<C: AsRef<str>>(header: &[C], column: &str) -> Result<usize, LookupError> {
    let same = |name: &str| folded(name.trim()) == folded(column.trim());
    let mut matching = header.iter().enumerate().filter(|(_, name)| same(name.as_ref())).map(|(index, _)| index);
    match (matching.next(), matching.next()) {
        (Some(index), None) => Ok(index),
        (Some(_), Some(_)) => Err(LookupError::DuplicateColumn { column: column.to_owned() }),
        (None, _) => {
            let nearest = nearest(column, header.iter().map(AsRef::as_ref)).map(str::to_owned);
            Err(LookupError::MissingColumn { column: column.to_owned(), nearest })
        }
    }
}

/// Returns the key in lower case.
fn folded(key: &str) -> Cow<'_, str> {
    if key.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        return Cow::Borrowed(key);
    }
    Cow::Owned(key.to_lowercase())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    const HEADER: [&str; 3] = ["Unit", "Note", "Code"];

    fn table(rows: &[[&str; 3]]) -> Result<Lookup, LookupError> {
        Lookup::from_rows(&HEADER, rows, 2, ("unit", " Code "), MAX_ENTRIES)
    }

    #[test]
    fn exact_keys_win_over_keys_in_another_case() {
        let lookup =
            table(&[["Stück", "", "pcs"], ["kg", "", "kgm"], ["KG", "", "KGM"], ["", "", "?"], ["m", "x", ""]])
                .expect("a table");
        for (key, value) in [
            ("Stück", Some("pcs")),
            (" STÜCK ", Some("pcs")),
            ("kg", Some("kgm")),
            ("KG", Some("KGM")),
            ("Kg", None),
            ("m", Some("")),
            ("", None),
            ("l", None),
        ] {
            assert_eq!(lookup.get(key), value, "{key}");
        }
        assert_eq!(lookup.nearest("Stueck"), Some("Stück"));
        assert_eq!(lookup.nearest("xyz"), None);
        assert_eq!(lookup.len(), 4);
    }

    #[test]
    fn a_key_with_two_values_is_an_error_naming_both_rows() {
        let error = table(&[["kg", "", "a"], ["m", "", "b"], ["kg", "", "c"]]).expect_err("an error");
        assert_eq!(error.to_string(), "'kg' has two values in the lookup table, 'a' in row 2 and 'c' in row 4");
        assert!(table(&[["kg", "", "a"], ["kg", "other", "a"]]).is_ok());
    }

    #[test]
    fn columns_are_found_by_name() {
        let rows: [[&str; 3]; 0] = [];
        let error = |from: &str, header: [&str; 3]| {
            Lookup::from_rows(&header, rows, 2, (from, "Code"), MAX_ENTRIES).expect_err("an error")
        };
        assert_eq!(
            error("Units", HEADER),
            LookupError::MissingColumn { column: "Units".to_owned(), nearest: Some("Unit".to_owned()) }
        );
        assert_eq!(error("a", ["A", "a", "Code"]), LookupError::DuplicateColumn { column: "a".to_owned() });
        assert!(
            Lookup::from_rows(&HEADER, rows, 2, ("Unit", "Code"), MAX_ENTRIES).is_ok_and(|lookup| lookup.is_empty())
        );
    }

    #[test]
    fn the_number_of_entries_is_limited() {
        let rows = ["a", "b", "c", "a"].map(|key| [key, "x"]);
        let build =
            |limit| Lookup::from_rows(&["from", "to"], rows, 2, ("from", "to"), limit).map(|lookup| lookup.len());
        assert_eq!(build(3), Ok(3));
        assert_eq!(build(2), Err(LookupError::TooLarge));
    }

    proptest! {
        #[test]
        fn every_inserted_key_is_found(pairs in proptest::collection::hash_map("[a-cA-CäÄß ]{1,4}", "[xy]?", 0..20)) {
            let mut expected: HashMap<String, String> = HashMap::new();
            for (key, value) in &pairs {
                if !key.trim().is_empty() {
                    expected.entry(key.trim().to_owned()).or_insert(value.trim().to_owned());
                }
            }
            let rows: Vec<[&str; 2]> = expected.iter().map(|(key, value)| [key.as_str(), value.as_str()]).collect();
            let lookup = Lookup::from_rows(&["k", "v"], &rows, 2, ("k", "v"), MAX_ENTRIES).expect("a table");
            for (key, value) in &expected {
                prop_assert_eq!(lookup.get(key), Some(value.as_str()));
            }
        }
    }
}

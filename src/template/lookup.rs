//! A table from values in a sheet to values in the service, such as unit names to unit codes.

use crate::diagnostics::nearest;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The most entries that a table may have.
pub const MOST_ENTRIES: usize = 1_000_000;

/// Suggestions are looked for in tables of so many entries, because each of them is compared.
const MOST_COMPARED: usize = 20_000;

/// Values by their keys, to the letter and without regard to case.
#[derive(Debug, Default)]
pub struct Lookup {
    entries: Vec<Entry>,
    exact: HashMap<Arc<str>, u32>,
    /// By the key in small letters. Keys that differ in case alone and have different values are not in it.
    folded: HashMap<Arc<str>, Option<u32>>,
}

#[derive(Debug)]
struct Entry {
    key: Arc<str>,
    value: Box<str>,
    /// The table's row, as a spreadsheet program counts.
    row: u64,
}

/// Why a table can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    MissingColumn {
        column: String,
        nearest: Option<String>,
    },
    /// The header has the column more than once.
    ColumnTwice {
        column: String,
    },
    /// A key with two values, in these rows.
    Conflict {
        key: String,
        values: [String; 2],
        rows: [u64; 2],
    },
    TooLarge,
}

impl Lookup {
    /// Makes the table of `rows`, whose first is row `first_row` of the file. Rows with a blank key are left out; a key
    /// may be there several times with one value.
    pub fn from_rows<R, C>(
        header: &[C],
        rows: impl IntoIterator<Item = R>,
        first_row: u64,
        from_column: &str,
        to_column: &str,
    ) -> Result<Lookup, Fault>
    where
        R: AsRef<[C]>,
        C: AsRef<str>,
    {
        Lookup::bounded(header, rows, first_row, (from_column, to_column), MOST_ENTRIES)
    }

    /// The value of a key, to the letter if it is there so, otherwise without regard to case.
    pub fn get(&self, key: &str) -> Option<&str> {
        let key = key.trim();
        let index = match self.exact.get(key) {
            Some(index) => *index,
            None => (*self.folded.get(folded(key).as_ref())?)?,
        };
        self.entries.get(usize::try_from(index).ok()?).map(|entry| entry.value.as_ref())
    }

    /// The key that was probably meant.
    pub fn nearest(&self, key: &str) -> Option<&str> {
        let keys = self.entries.iter().take(MOST_COMPARED).map(|entry| entry.key.as_ref());
        nearest(key, keys)
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

    fn bounded<R, C>(
        header: &[C],
        rows: impl IntoIterator<Item = R>,
        first_row: u64,
        columns: (&str, &str),
        most: usize,
    ) -> Result<Lookup, Fault>
    where
        R: AsRef<[C]>,
        C: AsRef<str>,
    {
        let (from, to) = (find(header, columns.0)?, find(header, columns.1)?);
        let mut lookup = Lookup::default();
        for (row, cells) in (first_row..).zip(rows) {
            let cell = |index: usize| cells.as_ref().get(index).map_or("", |cell| cell.as_ref().trim());
            lookup.insert(row, cell(from), cell(to), most)?;
        }
        Ok(lookup)
    }

    fn insert(&mut self, row: u64, key: &str, value: &str, most: usize) -> Result<(), Fault> {
        if key.is_empty() {
            return Ok(());
        }
        let entry = |index: u32| usize::try_from(index).ok().and_then(|index| self.entries.get(index));
        if let Some(known) = self.exact.get(key).copied().and_then(entry) {
            if known.value.as_ref() == value {
                return Ok(());
            }
            return Err(Fault::Conflict {
                key: key.to_owned(),
                values: [known.value.to_string(), value.to_owned()],
                rows: [known.row, row],
            });
        }
        if self.entries.len() >= most {
            return Err(Fault::TooLarge);
        }
        let index = u32::try_from(self.entries.len()).map_err(|_| Fault::TooLarge)?;
        let shared: Arc<str> = key.into();
        let folded: Arc<str> = match folded(key) {
            Cow::Borrowed(_) => shared.clone(),
            Cow::Owned(folded) => folded.into(),
        };
        match self.folded.get(&folded).copied() {
            None => {
                self.folded.insert(folded, Some(index));
            }
            Some(Some(other)) if entry(other).is_some_and(|known| known.value.as_ref() != value) => {
                self.folded.insert(folded, None);
            }
            Some(_) => {}
        }
        self.exact.insert(shared.clone(), index);
        self.entries.push(Entry { key: shared, value: value.into(), row });
        Ok(())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::MissingColumn { column, nearest: Some(nearest) } => {
                write!(f, "the lookup table has no column '{column}' (the nearest is '{nearest}')")
            }
            Fault::MissingColumn { column, nearest: None } => write!(f, "the lookup table has no column '{column}'"),
            Fault::ColumnTwice { column } => {
                write!(f, "the lookup table has the column '{column}' more than once; rename one of them")
            }
            Fault::Conflict { key, values: [first, second], rows: [one, other] } => {
                write!(
                    f,
                    "the lookup table gives '{key}' two values, '{first}' in row {one} and '{second}' in row {other}; keep one of them"
                )
            }
            Fault::TooLarge => write!(f, "the lookup table has more than {MOST_ENTRIES} entries"),
        }
    }
}

fn find<C: AsRef<str>>(header: &[C], column: &str) -> Result<usize, Fault> {
    let same = |name: &str| folded(name.trim()) == folded(column.trim());
    let mut there = header.iter().enumerate().filter(|(_, name)| same(name.as_ref())).map(|(index, _)| index);
    match (there.next(), there.next()) {
        (Some(index), None) => Ok(index),
        (Some(_), Some(_)) => Err(Fault::ColumnTwice { column: column.to_owned() }),
        (None, _) => {
            let nearest = nearest(column, header.iter().map(AsRef::as_ref)).map(str::to_owned);
            Err(Fault::MissingColumn { column: column.to_owned(), nearest })
        }
    }
}

/// In small letters; borrowed when it is so already.
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

    fn table(rows: &[[&str; 3]]) -> Result<Lookup, Fault> {
        Lookup::from_rows(&HEADER, rows, 2, "unit", " Code ")
    }

    #[test]
    fn values_are_found_to_the_letter_and_then_without_regard_to_case() {
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
    fn a_table_that_contradicts_itself_is_refused_with_both_rows() {
        let fault = table(&[["kg", "", "a"], ["m", "", "b"], ["kg", "", "c"]]).expect_err("a fault");
        assert_eq!(
            fault.to_string(),
            "the lookup table gives 'kg' two values, 'a' in row 2 and 'c' in row 4; keep one of them"
        );
        assert!(table(&[["kg", "", "a"], ["kg", "other", "a"]]).is_ok());
    }

    #[test]
    fn columns_are_found_by_name() {
        let rows: [[&str; 3]; 0] = [];
        let fault =
            |from: &str, header: [&str; 3]| Lookup::from_rows(&header, rows, 2, from, "Code").expect_err("a fault");
        assert_eq!(
            fault("Units", HEADER),
            Fault::MissingColumn { column: "Units".to_owned(), nearest: Some("Unit".to_owned()) }
        );
        assert_eq!(fault("a", ["A", "a", "Code"]), Fault::ColumnTwice { column: "a".to_owned() });
        assert!(Lookup::from_rows(&HEADER, rows, 2, "Unit", "Code").is_ok_and(|lookup| lookup.is_empty()));
    }

    #[test]
    fn a_table_is_bounded() {
        let rows = ["a", "b", "c", "a"].map(|key| [key, "x"]);
        let made = |most| Lookup::bounded(&["from", "to"], rows, 2, ("from", "to"), most).map(|lookup| lookup.len());
        assert_eq!(made(3), Ok(3));
        assert_eq!(made(2), Err(Fault::TooLarge));
    }

    proptest! {
        #[test]
        fn whatever_was_put_in_is_found(pairs in proptest::collection::hash_map("[a-cA-CäÄß ]{1,4}", "[xy]?", 0..20)) {
            let mut kept: HashMap<String, String> = HashMap::new();
            for (key, value) in &pairs {
                if !key.trim().is_empty() {
                    kept.entry(key.trim().to_owned()).or_insert(value.trim().to_owned());
                }
            }
            let rows: Vec<[&str; 2]> = kept.iter().map(|(key, value)| [key.as_str(), value.as_str()]).collect();
            let lookup = Lookup::from_rows(&["k", "v"], &rows, 2, "k", "v").expect("a table");
            for (key, value) in &kept {
                prop_assert_eq!(lookup.get(key), Some(value.as_str()));
            }
        }
    }
}

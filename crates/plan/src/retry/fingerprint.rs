//! Fingerprints of rows for detecting edits: hashes of the cells in the columns shared by a run and a report. Pure.

use std::collections::{HashMap, HashSet};

use sheetport_ledger::{Run, cell_hash};
use sheetport_sheet::{Cell, Row};
use twox_hash::XxHash3_64;

use super::lossy::LossyFields;
use crate::plan::table::Table;

/// The shared columns of a sheet: a hash seed for each column in both the run and the report.
#[derive(Clone, Debug, Default)]
pub(super) struct CommonColumns(Vec<Option<u64>>);

/// The columns shared by a run and all sheets of a report.
pub(super) struct SharedColumns(HashSet<(String, usize)>);

/// Returns the columns shared by a run and all sheets of a report, and where they are in each sheet.
pub(super) fn common_columns(header: &[String], tables: &[Table]) -> (SharedColumns, Vec<CommonColumns>) {
    let run = numbered(header);
    let tables: Vec<_> =
        tables.iter().map(|table| numbered(&table.layout.header.names[..table.layout.width])).collect();
    let mut shared: HashSet<(&str, usize)> = run.iter().copied().collect();
    tables.iter().for_each(|table| shared.retain(|column| table.contains(column)));
    let shared = SharedColumns(shared.into_iter().map(|(name, count)| (name.to_owned(), count)).collect());
    let of_tables = tables.iter().map(|table| shared.among(table)).collect();
    (shared, of_tables)
}

impl SharedColumns {
    /// Returns where the columns are in the cells of a run.
    pub(super) fn of_run(&self, run: &Run) -> CommonColumns {
        self.among(&numbered(&run.about.header))
    }

    fn among(&self, columns: &[(&str, usize)]) -> CommonColumns {
        let seed = |(name, count): &(&str, usize)| {
            let is_shared = self.0.contains(&((*name).to_owned(), *count));
            is_shared.then(|| XxHash3_64::oneshot_with_seed(*count as u64, name.as_bytes()))
        };
        CommonColumns(columns.iter().map(seed).collect())
    }
}

/// Returns the name of each column with the number of preceding columns of the same name.
pub(super) fn numbered(names: &[String]) -> Vec<(&str, usize)> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    names
        .iter()
        .map(|name| {
            let name = name.trim();
            let count = seen.entry(name).or_default();
            *count += 1;
            (name, *count - 1)
        })
        .collect()
}

impl CommonColumns {
    /// Returns the fingerprint of a row of the report.
    pub(super) fn fingerprint_in_report(&self, row: &Row) -> u32 {
        self.fingerprint(row.cells())
    }

    /// Returns the fingerprint of encoded cells of the ledger after the losses of a report.
    pub(super) fn fingerprint_in_ledger(&self, cells: &[u8], lossy: LossyFields, row: &mut Row) -> u32 {
        match row.decode_one(cells) {
            Some(()) if lossy == LossyFields::LongTexts && lossy.may_affect(cells) => {
                let mut cut = Row::default();
                lossy.cut(row, &mut cut);
                self.fingerprint(cut.cells())
            }
            Some(()) => self.fingerprint(row.cells()),
            None => 0,
        }
    }

    /// Returns the same number for equal cells in the same columns, in any order of the columns.
    fn fingerprint<'a>(&self, cells: impl Iterator<Item = Cell<'a>>) -> u32 {
        let mut sum: u64 = 0;
        for (seed, cell) in self.0.iter().zip(cells) {
            let Some(seed) = seed.filter(|_| !cell.is_blank()) else { continue };
            sum = sum.wrapping_add(cell_hash(seed, &cell.shown()));
        }
        // Any half of the hash is good enough.
        (sum >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    proptest! {
        #[test]
        fn column_order_does_not_change_a_fingerprint(cells in proptest::collection::vec("[a-c0-9.]{0,4}", 1..6), turn in 0usize..6) {
            let seeds: Vec<Option<u64>> = (0..cells.len() as u64).map(Some).collect();
            let mut columns: Vec<(Option<u64>, &str)> = seeds.iter().copied().zip(cells.iter().map(String::as_str)).collect();
            let print = |columns: &[(Option<u64>, &str)]| {
                let common = CommonColumns(columns.iter().map(|(seed, _)| *seed).collect());
                common.fingerprint(columns.iter().map(|(_, text)| Cell::Text(text)))
            };
            let first = print(&columns);
            columns.rotate_left(turn % cells.len());
            columns.push((None, "an added column"));
            prop_assert_eq!(print(&columns), first);
        }
    }

    #[test]
    fn number_formats_do_not_change_a_fingerprint_but_edits_do() {
        let of = |cell| CommonColumns(vec![Some(1)]).fingerprint([cell].into_iter());
        let print = |text| of(Cell::Text(text));
        assert_eq!(print("1.50"), print("1.5"));
        assert_eq!(print("1.50"), of(Cell::Number(1.5)));
        assert_ne!(print("1.50"), print("1.51"));
        assert_ne!(print("Bolt"), print("Bolts"));
        assert_eq!(print("two\r\nlines"), print("two\nlines"));
    }
}

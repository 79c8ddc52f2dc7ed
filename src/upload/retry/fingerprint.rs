//! Whether a row says the same as in the first file: a number made of what its cells say in the columns that the run and
//! its report both have. Pure.

use std::collections::{HashMap, HashSet};

use twox_hash::XxHash3_64;

use super::lost::{Lost, with_plain_ends};
use crate::sheet::{Cell, Row, write};
use crate::upload::source::Part;

/// For each column of a sheet that the run and the report both have, a number of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct CommonColumns(Vec<Option<u64>>);

/// The columns that a run and all sheets of its report have in common: for the run, and for each of the sheets.
pub(super) fn common_columns(header: &[String], parts: &[Part]) -> (CommonColumns, Vec<CommonColumns>) {
    let run = named(header);
    let parts: Vec<_> =
        parts.iter().map(|part| named(part.layout.header.names.get(..part.layout.width).unwrap_or_default())).collect();
    let mut shared: HashSet<(&str, usize)> = run.iter().copied().collect();
    parts.iter().for_each(|part| shared.retain(|column| part.contains(column)));
    let seeds = |columns: &[(&str, usize)]| {
        let seed = |column: &(&str, usize)| {
            shared.contains(column).then(|| XxHash3_64::oneshot_with_seed(column.1 as u64, column.0.as_bytes()))
        };
        CommonColumns(columns.iter().map(seed).collect())
    };
    (seeds(&run), parts.iter().map(|part| seeds(part)).collect())
}

/// Each column by its name and how many of that name are before it.
pub(super) fn named(names: &[String]) -> Vec<(&str, usize)> {
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
    /// The fingerprint of a row of the report, in which a text that we defused is as it was before.
    pub fn fingerprint_of_report(&self, row: &Row) -> u32 {
        self.fingerprint(row.cells().map(|cell| match cell {
            Cell::Text(text) => Cell::Text(write::restore(text)),
            cell => cell,
        }))
    }

    /// Of cells as the ledger has them, in a kind of file that loses some of such.
    pub fn fingerprint_of_kept(&self, cells: &[u8], lost: Lost, row: &mut Row) -> u32 {
        match row.decode_one(cells) {
            Some(()) if lost == Lost::Ends && lost.may_be_of(cells) => {
                let mut kept = Row::default();
                lost.from(row, &mut kept);
                self.fingerprint(kept.cells())
            }
            Some(()) => self.fingerprint(row.cells()),
            None => 0,
        }
    }

    /// Of those cells that say the same in the same columns it is the same, wherever the columns stand.
    fn fingerprint<'a>(&self, cells: impl Iterator<Item = Cell<'a>>) -> u32 {
        let mut sum: u64 = 0;
        for (seed, cell) in self.0.iter().zip(cells) {
            let Some(seed) = seed.filter(|_| !cell.is_blank()) else { continue };
            let shown = cell.shown();
            let text = shown.trim();
            // A spreadsheet program that saves the file again may write 1.5 for 1.50, and end lines in its own way.
            let hash = match text.parse::<f64>().ok().filter(|number| number.is_finite()) {
                Some(number) => XxHash3_64::oneshot_with_seed(seed, &number.to_le_bytes()),
                None => XxHash3_64::oneshot_with_seed(seed, with_plain_ends(text).as_bytes()),
            };
            sum = sum.wrapping_add(hash);
        }
        // Either half will do.
        (sum >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    proptest! {
        /// Wherever the columns stand, and however a program writes numbers, the same cells are the same.
        #[test]
        fn a_fingerprint_is_of_what_the_cells_say(cells in proptest::collection::vec("[a-c0-9.]{0,4}", 1..6), turn in 0usize..6) {
            let seeds: Vec<Option<u64>> = (0..cells.len() as u64).map(Some).collect();
            let mut columns: Vec<(Option<u64>, &str)> = seeds.iter().copied().zip(cells.iter().map(String::as_str)).collect();
            let print = |columns: &[(Option<u64>, &str)]| {
                let common = CommonColumns(columns.iter().map(|(seed, _)| *seed).collect());
                common.fingerprint(columns.iter().map(|(_, text)| Cell::Text(text)))
            };
            let first = print(&columns);
            columns.rotate_left(turn % cells.len());
            columns.push((None, "a column of somebody's own"));
            prop_assert_eq!(print(&columns), first);
        }
    }

    #[test]
    fn a_number_is_the_same_however_it_is_written_and_a_change_is_seen() {
        let of = |cell| CommonColumns(vec![Some(1)]).fingerprint([cell].into_iter());
        let print = |text| of(Cell::Text(text));
        assert_eq!(print("1.50"), print("1.5"));
        assert_eq!(print("1.50"), of(Cell::Number(1.5)));
        assert_ne!(print("1.50"), print("1.51"));
        assert_ne!(print("Bolt"), print("Bolts"));
        assert_eq!(print("two\r\nlines"), print("two\nlines"));
    }
}

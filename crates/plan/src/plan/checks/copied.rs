//! Copied rows: blocks that repeat earlier rows in the same order, sheets that equal other sheets, and equal rows side by side
//! because the sheet was sorted after copying.
//!
//! Found by hashes of three consecutive rows. A copy is only detected at the third row, so single records wait for the next 16 rows.
//! Records of a group wait anyway.

use std::ops::Range;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use sheetport_findings::Code;
use sheetport_ledger::{Problem, Seq};

use super::keys::MAX_ROWS;

/// Minimum length of a copied block. Two equal rows in the same order may be chance.
const BLOCK: usize = 3;
/// Maximum number of equal rows that count as copies. Longer groups are probably pieces, scanned one by one.
const MAX_EQUAL: usize = 5;
/// Minimum number of rows in a copied sheet.
const SHEET: usize = 2;

/// The rows so far, as hashes of their content. A million rows need about 30 MB.
#[derive(Debug, Default)]
pub(crate) struct CopiedRows {
    rows: Vec<SeenRow>,
    /// Start of the first of each set of equal blocks in `rows`.
    blocks: HashTable<u32>,
    /// Where the rows of each sheet begin in `rows`, by the table of the source.
    sheets: Vec<usize>,
    /// The place after the last copied row.
    copied: usize,
    /// The number of copied rows.
    found: usize,
    /// The last groups of equal rows, side by side and of the same length.
    groups: Groups,
}

/// Consecutive groups of equal rows.
#[derive(Debug, Default)]
struct Groups {
    /// Start of the unfinished group.
    current: usize,
    /// Starts of the groups before, all of the same length.
    complete: Vec<usize>,
    /// Length of each of these groups, at least two.
    len: usize,
}

/// A row and its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeenRow {
    hash: u64,
    seq: u32,
    row: u32,
}

/// A copied row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopiedRow {
    pub copy: SeenRow,
    pub original: SeenRow,
    /// The tables of the source with these rows.
    pub tables: (usize, usize),
}

impl CopiedRows {
    /// Adds a row by the hash of its content. Returns the rows now recognized as copies.
    pub(crate) fn add(&mut self, hash: u64, seq: Seq, row: u64) -> Vec<CopiedRow> {
        let begins_group = self.rows.last().is_none_or(|last| last.hash != hash);
        let mut found = if begins_group { self.end_group() } else { Vec::new() };
        self.rows.push(SeenRow::new(hash, seq, row));
        found.extend(self.end_block());
        found
    }

    /// Returns the last rows if they repeat an earlier block.
    fn end_block(&mut self) -> Vec<CopiedRow> {
        let Some(start) = self.rows.len().checked_sub(BLOCK) else { return Vec::new() };
        let rows = &self.rows;
        // The same row several times may be several pieces, scanned one by one.
        if rows[start..].iter().all(|row| row.hash == rows[start].hash) {
            return Vec::new();
        }
        let is_same = |other: &u32| equal(&rows[start..], &rows[*other as usize..][..BLOCK]);
        let hash_of = |place: &u32| block_hash(&rows[*place as usize..]);
        match self.blocks.entry(block_hash(&rows[start..]), is_same, hash_of) {
            Entry::Vacant(entry) => {
                entry.insert(narrow(start as u64));
                Vec::new()
            }
            Entry::Occupied(entry) => {
                let original = *entry.get() as usize;
                // Alternating rows overlap with their repetition.
                if original + BLOCK > start { Vec::new() } else { self.report(original, start..start + BLOCK) }
            }
        }
    }

    /// Ends a group of equal rows. Returns the copies in it and in the groups before, if all of these groups have the same
    /// length: several different rows, repeated equally often, are probably a mistake.
    fn end_group(&mut self) -> Vec<CopiedRow> {
        let (begin, end) = (self.groups.current, self.rows.len());
        self.groups.current = end;
        let len = end - begin;
        if len != self.groups.len {
            self.groups.complete.clear();
        }
        if !(2..=MAX_EQUAL).contains(&len) {
            self.groups.len = 0;
            return Vec::new();
        }
        self.groups.len = len;
        self.groups.complete.push(begin);
        if self.groups.complete.len() < BLOCK {
            return Vec::new();
        }
        let begins = std::mem::take(&mut self.groups.complete);
        let found = begins.iter().flat_map(|begin| self.report_copies_of(*begin, *begin + 1..*begin + len)).collect();
        // Further groups of this length are also copies.
        self.groups.complete = begins[begins.len() + 1 - BLOCK..].to_vec();
        found
    }

    /// Whether a row is known to be a copy.
    pub(crate) fn has_copies(&self) -> bool {
        self.found > 0
    }

    /// Returns the number of times that each row occurs, if equal for all rows. Returns `None` if all are known as copies.
    pub(crate) fn times_of_each(&self) -> Option<usize> {
        let mut hashes: Vec<u64> = self.rows.iter().map(|row| row.hash).collect();
        hashes.sort_unstable();
        let mut groups = hashes.chunk_by(|hash, other| hash == other).map(<[u64]>::len);
        let times = groups.next().filter(|times| *times > 1)?;
        let others = groups.try_fold(0, |count, len| (len == times).then_some(count + 1))?;
        let copies = (others + 1) * (times - 1);
        (others + 1 >= BLOCK && self.found < copies).then_some(times)
    }

    /// Begins the rows of a table of the source, unless already done. Returns the rows of the previous sheet if it is a copy of an
    /// earlier sheet.
    pub(crate) fn begin_sheet(&mut self, table: usize) -> Vec<CopiedRow> {
        if self.sheets.len() > table {
            return Vec::new();
        }
        let found = self.end_sheet();
        self.sheets.resize(table + 1, self.rows.len());
        found
    }

    /// Returns the rows of the last sheet if it is a copy of an earlier sheet.
    pub(crate) fn end_sheet(&mut self) -> Vec<CopiedRow> {
        let mut found = self.end_group();
        let Some(begin) = self.sheets.last().copied() else { return found };
        let sheet = &self.rows[begin..];
        if sheet.len() < SHEET || sheet.iter().all(|row| row.hash == sheet[0].hash) {
            return found;
        }
        let is_original = |bounds: &&[usize]| equal(&self.rows[bounds[0]..bounds[1]], sheet);
        if let Some(original) = self.sheets.windows(2).find(is_original).map(|bounds| bounds[0]) {
            found.extend(self.report(original, begin..self.rows.len()));
        }
        found
    }

    /// Returns the copies of a single row that were not returned before.
    fn report_copies_of(&mut self, original: usize, copies: Range<usize>) -> Vec<CopiedRow> {
        copies.flat_map(|copy| self.report(original, copy..copy + 1)).collect()
    }

    /// Returns the copies that were not returned before.
    fn report(&mut self, original: usize, copies: Range<usize>) -> Vec<CopiedRow> {
        let new = copies.start.max(self.copied)..copies.end;
        self.copied = copies.end.max(self.copied);
        self.found += new.len();
        let table_of = |place| self.sheets.partition_point(|begin| *begin <= place).saturating_sub(1);
        let copied = |place| {
            let original = original + (place - copies.start);
            CopiedRow {
                copy: self.rows[place],
                original: self.rows[original],
                tables: (table_of(place), table_of(original)),
            }
        };
        new.map(copied).collect()
    }
}

impl SeenRow {
    fn new(hash: u64, seq: Seq, row: u64) -> SeenRow {
        SeenRow { hash, seq: narrow(seq.unsigned_abs()), row: narrow(row) }
    }

    pub(crate) fn seq(self) -> Seq {
        Seq::from(self.seq)
    }

    pub(crate) fn row(self) -> u64 {
        u64::from(self.row)
    }
}

fn equal(rows: &[SeenRow], others: &[SeenRow]) -> bool {
    rows.len() == others.len() && rows.iter().zip(others).all(|(row, other)| row.hash == other.hash)
}

fn block_hash(rows: &[SeenRow]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    rows[..BLOCK].iter().fold(0, |hash, row| (hash ^ row.hash).wrapping_mul(FACTOR).rotate_left(29))
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number.min(MAX_ROWS)).expect("the number of rows is less than 2^31")
}

/// Returns the problem of a copied row. `first` is the first row of its record.
pub(crate) fn copied_row(copied: CopiedRow, first: u64) -> Problem {
    let original = copied.original.row();
    Problem {
        row: Some(copied.copy.row()),
        remedy: format!(
            "if it was copied, delete it; if it is right, `--rows {first}-{first} --allow-repeat` sends it; it is the same as \
             row {original}"
        ),
        ..Problem::of_record(
            Code::CopiedRows,
            "repeats an earlier row, as do rows next to it: they were probably copied",
        )
    }
}

/// Returns the problem of a record that equals an earlier record, in a file with copied rows.
pub(crate) fn copied_among_others(row: u64, original: u64) -> Problem {
    Problem {
        row: Some(row),
        remedy: format!(
            "if it was copied, delete it; if it is right, `--rows {row}-{row} --allow-repeat` sends it; it is the same as row \
             {original}"
        ),
        ..Problem::of_record(Code::CopiedRows, "repeats an earlier row, and other rows of the file were copied")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the copied rows and their originals. Sheets are separated by `|`, and the rows are numbered from 0 without
    /// them.
    fn copies(rows: &str) -> Vec<(u64, u64)> {
        let mut copied = CopiedRows::default();
        let (mut found, mut number) = (Vec::new(), 0);
        for (table, rows) in rows.split('|').enumerate() {
            found.extend(copied.begin_sheet(table));
            for row in rows.bytes() {
                found.extend(copied.add(u64::from(row), number, number.unsigned_abs()));
                number += 1;
            }
        }
        found.extend(copied.end_sheet());
        found.into_iter().map(|found| (found.copy.row(), found.original.row())).collect()
    }

    #[test]
    fn blocks_in_the_same_order_are_copies() {
        assert_eq!(copies("abcdefbcd"), [(6, 1), (7, 2), (8, 3)]);
        assert_eq!(copies("abcabc"), [(3, 0), (4, 1), (5, 2)]);
        // The original may be a copy itself.
        assert_eq!(copies("abcabcabc"), [(3, 0), (4, 1), (5, 2), (6, 3), (7, 4), (8, 2)]);
        assert_eq!(copies("abcxaabcd"), [(5, 0), (6, 1), (7, 2)]);
        assert_eq!(copies("aabcaab"), [(4, 0), (5, 1), (6, 2)]);
    }

    #[test]
    fn single_rows_and_pairs_may_be_repeated() {
        for rows in ["", "a", "aa", "aaaaaaaaa", "abab", "ababab", "abcdab", "abcacb", "abcdefbad"] {
            assert_eq!(copies(rows), [], "{rows}");
        }
    }

    #[test]
    fn rows_side_by_side_with_their_equals_are_copies() {
        assert_eq!(copies("aabbcc"), [(1, 0), (3, 2), (5, 4)]);
        assert_eq!(copies("xaabbccddy"), [(2, 1), (4, 3), (6, 5), (8, 7)]);
        assert_eq!(copies("aaabbbccc"), [(1, 0), (2, 0), (4, 3), (5, 3), (7, 6), (8, 6)]);
        for rows in ["aabb", "aabbbcc", "aaxbbycc", "aabbxcc", "aaxxx"] {
            assert_eq!(copies(rows), [], "{rows}");
        }
    }

    #[test]
    fn all_rows_may_be_there_equally_often() {
        let times = |rows: &str| {
            let mut copied = CopiedRows::default();
            copied.begin_sheet(0);
            (0..).zip(rows.bytes()).for_each(|(seq, row)| drop(copied.add(u64::from(row), seq, seq.unsigned_abs())));
            copied.end_sheet();
            copied.times_of_each()
        };
        assert_eq!(times("aabcbcdd"), Some(2));
        assert_eq!(times("abccab"), Some(2));
        for rows in ["", "a", "aa", "abab", "abc", "aabbc", "abcabc", "aabbcc", "aabbbcc"] {
            assert_eq!(times(rows), None, "{rows}");
        }
    }

    #[test]
    fn a_sheet_that_equals_another_one_is_a_copy() {
        assert_eq!(copies("ab|ab"), [(2, 0), (3, 1)]);
        assert_eq!(copies("abcd|xyz|abcd"), [(7, 0), (8, 1), (9, 2), (10, 3)]);
        assert_eq!(copies("ab|xy|xyz"), []);
        assert_eq!(copies("a|a"), []);
        assert_eq!(copies("aaaa|aaaa"), []);
        assert_eq!(copies("||"), []);
    }
}

//! Sorts records in bounded memory: sorted runs go to temporary files and are merged at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::civil;
use sheetport_client::pages::Entry;
use sheetport_values::decimal;

use crate::error::Error;
use crate::framed::{read_bytes, read_text, write_bytes, write_text};
use crate::template::model::SortBy;

/// Maximum size of a run in memory, in bytes.
const MAX_RUN: usize = if cfg!(test) { 1 << 10 } else { 24 << 20 };

/// Sorts entries by fields. The sort is stable.
pub(super) struct Sorter {
    by: Vec<SortBy>,
    today: Option<civil::Date>,
    /// Folder of the temporary files.
    folder: PathBuf,
    records: Vec<Record>,
    bytes: usize,
    runs: Vec<BufReader<File>>,
    count: u64,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Record {
    key: Vec<u8>,
    /// Position in the input.
    position: u64,
    json: String,
}

/// The sorted entries as JSON.
pub(super) struct Sorted {
    folder: PathBuf,
    /// All records, if there are no runs.
    records: std::vec::IntoIter<Record>,
    runs: Vec<BufReader<File>>,
    /// The next record of each run.
    heads: BinaryHeap<Reverse<(Record, usize)>>,
}

impl Sorter {
    pub(super) fn new(by: Vec<SortBy>, today: Option<civil::Date>, folder: PathBuf) -> Sorter {
        Sorter { by, today, folder, records: Vec::new(), bytes: 0, runs: Vec::new(), count: 0 }
    }

    pub(super) fn add(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        let mut key = Vec::new();
        for by in &self.by {
            key.extend(sort_key(&by.value(entry, self.today)?, by.descending));
        }
        let record = Record { key, position: self.count, json: entry.json().to_owned() };
        self.bytes += record.key.len() + record.json.len() + size_of::<Record>();
        self.records.push(record);
        self.count += 1;
        if self.bytes >= MAX_RUN { self.spill() } else { Ok(()) }
    }

    /// Returns all entries in order.
    pub(super) fn finish(mut self) -> Result<Sorted, Error> {
        if !self.runs.is_empty() {
            self.spill()?;
        }
        self.records.sort_unstable();
        let Sorter { folder, records, runs, .. } = self;
        let mut sorted = Sorted { folder, records: records.into_iter(), runs, heads: BinaryHeap::new() };
        for run in 0..sorted.runs.len() {
            sorted.advance(run)?;
        }
        Ok(sorted)
    }

    fn spill(&mut self) -> Result<(), Error> {
        self.records.sort_unstable();
        let run = write_run(&self.folder, self.records.drain(..));
        self.runs.push(run.map_err(Error::at(&self.folder))?);
        self.bytes = 0;
        Ok(())
    }
}

impl Sorted {
    fn advance(&mut self, run: usize) -> Result<(), Error> {
        let next = read_record(&mut self.runs[run]);
        let next = next.map_err(Error::at(&self.folder))?;
        self.heads.extend(next.map(|record| Reverse((record, run))));
        Ok(())
    }
}

impl Iterator for Sorted {
    type Item = Result<String, Error>;

    fn next(&mut self) -> Option<Result<String, Error>> {
        if let Some(record) = self.records.next() {
            return Some(Ok(record.json));
        }
        let Reverse((record, run)) = self.heads.pop()?;
        Some(self.advance(run).map(|()| record.json))
    }
}

fn write_run(folder: &Path, records: impl Iterator<Item = Record>) -> io::Result<BufReader<File>> {
    let mut file = BufWriter::new(tempfile::tempfile_in(folder)?);
    for Record { key, position, json } in records {
        write_bytes(&mut file, &key)?;
        write_text(&mut file, &json)?;
        file.write_all(&position.to_le_bytes())?;
    }
    let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(BufReader::new(file))
}

/// Reads the next record of a run, or returns `None` at the end.
fn read_record(run: &mut impl Read) -> io::Result<Option<Record>> {
    let Some((key, json)) = read_bytes(run)?.zip(read_text(run)?) else { return Ok(None) };
    let mut position = [0; 8];
    run.read_exact(&mut position)?;
    Ok(Some(Record { key, position: u64::from_le_bytes(position), json }))
}

/// Returns a key whose byte order is the sort order: numbers by value, then text, then blanks.
fn sort_key(text: &str, descending: bool) -> Vec<u8> {
    let mut key = if text.is_empty() {
        vec![if descending { 0 } else { 3 }]
    } else if let Some(number) = number_key(text) {
        [&[1], number.as_slice()].concat()
    } else {
        let mut key = vec![2];
        // Escapes zeros, so that a prefix sorts before longer text.
        key.extend(text.bytes().flat_map(|byte| if byte == 0 { vec![0, 1] } else { vec![byte] }));
        key.extend([0, 0]);
        key
    };
    if descending {
        key.iter_mut().for_each(|byte| *byte = !*byte);
    }
    key
}

/// Returns a key whose byte order is the order of numbers, with all their digits: the sign, the power of ten of the first digit, and
/// the digits. Returns `None` for other texts.
fn number_key(text: &str) -> Option<Vec<u8>> {
    // Such as -15e-1 for -1.50.
    let canonical = decimal::canonical(text)?;
    let Some((number, power)) = canonical.split_once('e') else { return Some(vec![1]) };
    let digits = number.trim_start_matches('-');
    let power = power.parse::<i64>().ok()?.checked_add(i64::try_from(digits.len()).ok()?)?;
    let mut key = Vec::from((power as u64 ^ 1 << 63).to_be_bytes());
    // No digit is as low as the end.
    key.extend(digits.bytes());
    key.push(0);
    let is_negative = number.starts_with('-');
    if is_negative {
        key.iter_mut().for_each(|byte| *byte = !*byte);
    }
    key.insert(0, if is_negative { 0 } else { 2 });
    Some(key)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::template::model::SortKey;
    use crate::value::text;

    fn sorted(by: &[(&str, bool)], entries: &[&str]) -> Vec<String> {
        let by = by
            .iter()
            .map(|(path, descending)| SortBy { key: SortKey::Field((*path).to_owned()), descending: *descending });
        let mut sorter = Sorter::new(by.collect(), None, std::env::temp_dir());
        entries.iter().for_each(|entry| sorter.add(&Entry::new(entry)).unwrap());
        sorter.finish().unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn numbers_sort_by_value_and_blanks_last() {
        let entries = [r#"{"a":10}"#, r#"{"a":9.5}"#, r#"{"b":1}"#, r#"{"a":"x"}"#, r#"{"a":-3}"#, r#"{"a":""}"#];
        let by_a = [entries[4], entries[1], entries[0], entries[3], entries[2], entries[5]];
        assert_eq!(sorted(&[("a", false)], &entries), by_a);
        let down = [entries[3], entries[0], entries[1], entries[4], entries[2], entries[5]];
        assert_eq!(sorted(&[("a", true)], &entries), down);
    }

    #[test]
    fn numbers_of_any_length_sort_by_all_their_digits() {
        let ordered = [
            "-12345678901234567891",
            "-12345678901234567890",
            "-10",
            "-9.51",
            "-9.5",
            "-1e-9",
            "0",
            "2e-9",
            "9.5",
            "9.51",
            "10",
            "9007199254740992",
            "9007199254740993",
            "1e30",
            "x",
            "",
        ];
        let entries: Vec<String> = ordered.iter().rev().map(|text| format!(r#"{{"a":"{text}"}}"#)).collect();
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        let expected: Vec<&str> = entries.iter().rev().copied().collect();
        assert_eq!(sorted(&[("a", false)], &entries), expected);
        assert_eq!(number_key("1.50"), number_key("15e-1"));
    }

    #[test]
    fn runs_on_disk_are_merged_stably() {
        let entries: Vec<String> =
            (0..2_000).map(|n| format!(r#"{{"n":{},"t":"{}"}}"#, n * 7919 % 100, n % 13)).collect();
        let all: Vec<&str> = entries.iter().map(String::as_str).collect();
        let found = sorted(&[("n", false), ("t", true)], &all);
        let number = |json: &str, name: &str| -> i64 {
            let value: serde_json::Value = serde_json::from_str(json).unwrap();
            text(Some(&value[name].to_string())).parse().unwrap()
        };
        let mut expected = all.clone();
        expected.sort_by_key(|json| (number(json, "n"), -number(json, "t")));
        assert_eq!(found, expected);
    }
}

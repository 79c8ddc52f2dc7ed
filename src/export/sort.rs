//! Records in the order that a template asks for, in bounded memory: sorted runs go to a temporary file each, and are
//! merged in the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use super::Error;
use super::template::model::{SortBy, json_at, text};
use crate::client::pages::{Entry, Page, read};

/// The bytes of records that are sorted at once.
const RUN: usize = if cfg!(test) { 1 << 10 } else { 24 << 20 };
/// Records written at once.
const BATCH: usize = 100;

/// Sorts entries by fields. Those that are alike keep the order in which they came.
pub struct Sorter {
    by: Vec<SortBy>,
    /// Where runs wait.
    folder: PathBuf,
    held: Vec<Keyed>,
    bytes: usize,
    runs: Vec<BufReader<File>>,
    count: u64,
}

/// What is compared first, then the place, then the record's JSON.
type Keyed = (Vec<u8>, u64, Vec<u8>);

impl Sorter {
    pub fn new(by: Vec<SortBy>, folder: PathBuf) -> Sorter {
        Sorter { by, folder, held: Vec::new(), bytes: 0, runs: Vec::new(), count: 0 }
    }

    pub fn add(&mut self, entry: Entry<'_>) -> Result<(), Error> {
        let key =
            self.by.iter().flat_map(|by| key(&text(json_at(entry, &by.path)), by.descending)).collect::<Vec<u8>>();
        let json = entry.text().as_bytes().to_vec();
        self.bytes += key.len() + json.len() + size_of::<Keyed>();
        self.held.push((key, self.count, json));
        self.count += 1;
        if self.bytes >= RUN { self.spill().map_err(|error| self.failed(error)) } else { Ok(()) }
    }

    /// Gives all entries in their order, on pages of some.
    pub fn each(mut self, take: &mut dyn FnMut(&Page) -> Result<(), Error>) -> Result<(), Error> {
        if !self.runs.is_empty() {
            self.spill().map_err(|error| self.failed(error))?;
        }
        self.held.sort_unstable();
        let mut batch = Vec::new();
        let mut give = |json: Vec<u8>, batch: &mut Vec<Vec<u8>>| {
            batch.push(json);
            if batch.len() >= BATCH { flush(batch, take) } else { Ok(()) }
        };
        for (_, _, json) in std::mem::take(&mut self.held) {
            give(json, &mut batch)?;
        }
        let folder = self.folder.clone();
        let failed = |source| Error::Spool { path: folder.clone(), source };
        let mut heads = BinaryHeap::new();
        for (number, run) in self.runs.iter_mut().enumerate() {
            heads.extend(next(run).map_err(failed)?.map(|keyed| Reverse((keyed, number))));
        }
        while let Some(Reverse(((_, _, json), number))) = heads.pop() {
            give(json, &mut batch)?;
            heads.extend(next(&mut self.runs[number]).map_err(failed)?.map(|keyed| Reverse((keyed, number))));
        }
        flush(&mut batch, take)
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Spool { path: self.folder.clone(), source }
    }

    fn spill(&mut self) -> io::Result<()> {
        self.held.sort_unstable();
        let mut file = BufWriter::new(tempfile::tempfile_in(&self.folder)?);
        for (key, place, json) in self.held.drain(..) {
            for part in [&key, &json] {
                let len = u32::try_from(part.len()).map_err(io::Error::other)?;
                file.write_all(&len.to_le_bytes())?;
                file.write_all(part)?;
            }
            file.write_all(&place.to_le_bytes())?;
        }
        let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        self.runs.push(BufReader::new(file));
        self.bytes = 0;
        Ok(())
    }
}

fn flush(batch: &mut Vec<Vec<u8>>, take: &mut dyn FnMut(&Page) -> Result<(), Error>) -> Result<(), Error> {
    let mut text = b"[".to_vec();
    for (place, json) in batch.drain(..).enumerate() {
        if place > 0 {
            text.push(b',');
        }
        text.extend(json);
    }
    text.push(b']');
    let page = read(text).map_err(|reason| Error::Page { page: 0, reason })?;
    take(&page)
}

fn next(run: &mut BufReader<File>) -> io::Result<Option<Keyed>> {
    let mut len = [0; 4];
    match run.read_exact(&mut len) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let mut key = vec![0; u32::from_le_bytes(len) as usize];
    run.read_exact(&mut key)?;
    run.read_exact(&mut len)?;
    let mut json = vec![0; u32::from_le_bytes(len) as usize];
    run.read_exact(&mut json)?;
    let mut place = [0; 8];
    run.read_exact(&mut place)?;
    Ok(Some((key, u64::from_le_bytes(place), json)))
}

/// Bytes that compare as the texts do: numbers by their size, then texts, blanks last.
fn key(text: &str, descending: bool) -> Vec<u8> {
    let mut key = match text.parse::<f64>() {
        _ if text.is_empty() => vec![if descending { 0 } else { 3 }],
        Ok(number) if text.bytes().any(|byte| byte.is_ascii_digit()) => {
            let bits = number.to_bits();
            // Negative numbers are the other way round; the sign bit makes the others larger.
            let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
            let mut key = vec![1];
            key.extend(ordered.to_be_bytes());
            key
        }
        _ => {
            let mut key = vec![2];
            // A zero within is more than the end.
            key.extend(text.bytes().flat_map(|byte| if byte == 0 { vec![0, 1] } else { vec![byte] }));
            key.extend([0, 0]);
            key
        }
    };
    if descending {
        key.iter_mut().for_each(|byte| *byte = !*byte);
    }
    key
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn sorted(by: &[(&str, bool)], entries: &[&str]) -> Vec<String> {
        let by = by.iter().map(|(path, descending)| SortBy { path: (*path).to_owned(), descending: *descending });
        let mut sorter = Sorter::new(by.collect(), std::env::temp_dir());
        let page = read(format!("[{}]", entries.join(",")).into_bytes()).unwrap();
        page.entries().for_each(|entry| sorter.add(entry).unwrap());
        let mut found = Vec::new();
        let mut take = |page: &Page| {
            found.extend(page.entries().map(|entry| entry.text().to_owned()));
            Ok(())
        };
        sorter.each(&mut take).unwrap();
        found
    }

    #[test]
    fn numbers_come_by_size_and_blanks_last() {
        let entries = [r#"{"a":10}"#, r#"{"a":9.5}"#, r#"{"b":1}"#, r#"{"a":"x"}"#, r#"{"a":-3}"#, r#"{"a":""}"#];
        let by_a = [entries[4], entries[1], entries[0], entries[3], entries[2], entries[5]];
        assert_eq!(sorted(&[("a", false)], &entries), by_a);
        let down = [entries[3], entries[0], entries[1], entries[4], entries[2], entries[5]];
        assert_eq!(sorted(&[("a", true)], &entries), down);
    }

    #[test]
    fn what_does_not_fit_into_memory_is_merged() {
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

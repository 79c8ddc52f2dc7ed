//! Search for formulas in an XLSX workbook. In a workbook without formulas, cells without a value are blank, so the sheet need
//! not be parsed a second time.

use std::io::Read;

use memchr::memmem::Finder;
use zip::ZipArchive;

use super::input::{Input, Source};
use crate::read::workbook::row_sender::{RowSender, Stop};

/// Maximum number of bytes to search. Searching more takes longer than parsing twice.
const MAX_BYTES: u64 = 4 << 30;
const CHUNK: usize = 256 * 1024;

/// The search for formulas in a workbook, with the result of the first search.
pub(super) struct Formulas {
    archive: Source,
    known: Option<bool>,
}

impl Formulas {
    pub(super) fn new(archive: &Source) -> Formulas {
        Formulas { archive: archive.again(), known: None }
    }

    /// Returns false if no part has a formula, or true for possible formulas.
    pub(super) fn may_exist(&mut self, rows: &mut RowSender<'_>) -> Result<bool, Stop> {
        if let Some(known) = self.known {
            return Ok(known);
        }
        let found = ZipArchive::new(self.archive.input()).map_or(Ok(true), |archive| any(archive, rows))?;
        Ok(*self.known.insert(found))
    }
}

fn any(mut archive: ZipArchive<Input>, rows: &mut RowSender<'_>) -> Result<bool, Stop> {
    let mut left = MAX_BYTES;
    for index in 0..archive.len() {
        // An unreadable part may have formulas.
        let Ok(part) = archive.by_index(index) else { return Ok(true) };
        let mut search = Search::default();
        let mut part = part.take(left);
        loop {
            rows.check_wanted()?;
            match search.feed(&mut part) {
                Some(Fed::Nothing) => {}
                Some(Fed::End) => break,
                Some(Fed::Formula) | None => return Ok(true),
            }
        }
        left = part.limit();
        if left == 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Searches text in chunks for the start of an element `f`, with or without a prefix.
struct Search {
    bytes: Vec<u8>,
    finders: [Finder<'static>; 2],
}

enum Fed {
    Nothing,
    Formula,
    End,
}

impl Default for Search {
    fn default() -> Search {
        Search { bytes: Vec::new(), finders: [Finder::new("<f"), Finder::new(":f")] }
    }
}

impl Search {
    /// Searches the next chunk. Returns `None` if the chunk cannot be read.
    fn feed(&mut self, part: &mut impl Read) -> Option<Fed> {
        // The last bytes may start a match.
        let kept = self.bytes.len().min(2);
        self.bytes.drain(..self.bytes.len() - kept);
        let taken = part.take(CHUNK as u64).read_to_end(&mut self.bytes).ok()?;
        let follows = |at: usize| matches!(self.bytes.get(at + 2), Some(b'>' | b'/' | b' ' | b'\t' | b'\r' | b'\n'));
        if self.finders.iter().any(|finder| finder.find_iter(&self.bytes).any(follows)) {
            return Some(Fed::Formula);
        }
        Some(if taken == 0 { Fed::End } else { Fed::Nothing })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches the text in chunks of every length.
    fn found(text: &str) -> bool {
        struct Few<'a>(&'a [u8], usize);
        impl Read for Few<'_> {
            fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
                let few = self.1.min(bytes.len());
                self.0.read(&mut bytes[..few])
            }
        }
        let in_chunks = |length: usize| {
            let (mut search, mut rest) = (Search::default(), text.as_bytes());
            loop {
                let mut chunk = Few(&rest[..length.min(rest.len())], 3);
                match search.feed(&mut chunk) {
                    Some(Fed::Formula) => return true,
                    Some(Fed::End) | None => return false,
                    Some(Fed::Nothing) => rest = &rest[length.min(rest.len())..],
                }
            }
        };
        let all: Vec<bool> = (1..=text.len()).map(in_chunks).collect();
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{text}");
        all[0]
    }

    #[test]
    fn formulas_are_found_across_chunks() {
        for text in
            ["<c r=\"A1\"><f>1+1</f></c>", "<c><f t=\"shared\" si=\"0\"/></c>", "<x:c><x:f/></x:c>", "<f\n>1</f>"]
        {
            assert!(found(text), "{text}");
        }
        for text in ["<c r=\"A1\"><v>1</v></c>", "<fonts><font/></fonts>", "<fill>", "f> <g"] {
            assert!(!found(text), "{text}");
        }
    }
}

//! What a ZIP archive says and shows of itself before a workbook in it is read: whether it is a bomb, and whether its
//! XML parts bring definitions of their own.
//!
//! An archive's directory may lie. It is believed only where it says that the archive is bad; what the beginning of
//! each part really unpacks to is looked at as well, and how much memory and time the whole may take is for the
//! process's limits to hold.

use std::io::{Read, Seek};

use zip::ZipArchive;

use super::mend::utf16;

/// A workbook has a few parts for each of its sheets.
const MAX_PARTS: usize = 20_000;
/// All parts unpacked: more than any sheet could be read from in a day's patience.
const MAX_BYTES: u64 = 16 << 30;
/// Parts that unpack to more than this many times their size are bombs, once they are not small.
const MAX_RATIO: u64 = 200;
const FREE_BYTES: u64 = 128 << 20;
/// As much as is unpacked of the beginning of a part.
const PEEK: u64 = 4096;

/// What there is to know of an archive that is not refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// A part of it is XML in UTF-16.
    pub has_utf16: bool,
}

/// Looks the archive over. An error is the reason for which it is refused.
pub fn check(input: &mut (impl Read + Seek)) -> Result<Look, String> {
    let mut look = Look::default();
    // What is no archive at all, calamine has better words for.
    let Ok(mut archive) = ZipArchive::new(&mut *input) else { return rewind(input).map(|()| look) };
    if archive.len() > MAX_PARTS {
        return Err(format!("it is an archive of {} parts, more than a workbook has", archive.len()));
    }
    let mut total = 0_u64;
    for index in 0..archive.len() {
        let Ok(mut part) = archive.by_index(index) else { continue };
        let (packed, unpacked) = (part.compressed_size(), part.size());
        total = total.saturating_add(unpacked);
        if total > MAX_BYTES || unpacked > FREE_BYTES && unpacked / MAX_RATIO > packed {
            return Err("its parts unpack to far more than a workbook holds, as those of a ZIP bomb do".to_owned());
        }
        let name = part.name().map(|name| name.to_ascii_lowercase()).unwrap_or_default();
        if !name.ends_with(".xml") && !name.ends_with(".rels") {
            continue;
        }
        let mut start = Vec::new();
        // A part that can't be unpacked is for the parser to report, if it needs that part.
        if (&mut part).take(PEEK).read_to_end(&mut start).is_ok() && defines_a_type(&start) {
            return Err("a part of it has a document type definition, which no workbook needs".to_owned());
        }
        look.has_utf16 |= utf16(&start).is_some();
    }
    drop(archive);
    rewind(input).map(|()| look)
}

/// The target of the relation with this identifier, of a part whose XML other programs wrote as one does.
pub fn relation_target<'a>(relations: &'a str, id: &str) -> Option<&'a str> {
    let attribute = |element: &'a str, name: &str| {
        let value = element.split_once(&format!(" {name}=\""))?.1;
        Some(value.split_once('"')?.0)
    };
    let mut elements = relations.split("<Relationship ").map(|element| element.split_once('>').map_or("", |(e, _)| e));
    // The attribute that comes first has no space before it any more.
    let element = elements.find(|element| {
        attribute(element, "Id") == Some(id) || element.strip_prefix(&format!("Id=\"{id}\"")).is_some()
    })?;
    attribute(element, "Target").or_else(|| Some(element.strip_prefix("Target=\"")?.split_once('"')?.0))
}

fn rewind(input: &mut impl Seek) -> Result<(), String> {
    input.rewind().map_err(|error| error.to_string())
}

fn defines_a_type(start: &[u8]) -> bool {
    // UTF-16 is ASCII with zeros between.
    let text: Vec<u8> = start.iter().copied().filter(|byte| *byte != 0).collect();
    text.windows(9).any(|window| window == b"<!DOCTYPE")
}

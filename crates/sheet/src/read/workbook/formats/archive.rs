//! Checks a ZIP archive before reading the workbook in it. Refuses ZIP bombs and document type definitions.
//!
//! The archive's directory may be wrong. If it shows a bomb, that is enough; otherwise the start of each part is unpacked as
//! well. The limits of the process apply to everything else.

use std::io::{Read, Seek};

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use zip::ZipArchive;

/// Maximum number of parts. Workbooks have a few per sheet.
const MAX_PARTS: usize = 20_000;
/// Maximum unpacked size of all parts.
const MAX_BYTES: u64 = 16 << 30;
/// Maximum compression ratio of parts larger than [`FREE_BYTES`].
const MAX_RATIO: u64 = 200;
const FREE_BYTES: u64 = 128 << 20;
/// Number of bytes to unpack from the start of each part.
const PEEK: u64 = 4096;

/// Properties of an accepted archive.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    /// Some XML part is in UTF-16.
    pub has_utf16: bool,
}

/// Checks an archive. The error is the reason to refuse it.
pub(super) fn check(input: &mut (impl Read + Seek)) -> Result<Found, String> {
    let mut found = Found::default();
    // For an invalid archive, calamine has better messages.
    let Ok(mut archive) = ZipArchive::new(&mut *input) else { return rewind(input).map(|()| found) };
    if archive.len() > MAX_PARTS {
        return Err(format!("it is an archive of {} parts, too many for a workbook", archive.len()));
    }
    let mut total = 0_u64;
    for index in 0..archive.len() {
        let Ok(mut part) = archive.by_index(index) else { continue };
        let (packed, unpacked) = (part.compressed_size(), part.size());
        total = total.saturating_add(unpacked);
        if total > MAX_BYTES || unpacked > FREE_BYTES && unpacked / MAX_RATIO > packed {
            return Err("its parts unpack to far more data than a workbook has, as in a ZIP bomb".to_owned());
        }
        let name = part.name().map(|name| name.to_ascii_lowercase()).unwrap_or_default();
        if !name.ends_with(".xml") && !name.ends_with(".rels") {
            continue;
        }
        let mut start = Vec::new();
        // Unpacking errors are reported by the parser.
        if (&mut part).take(PEEK).read_to_end(&mut start).is_ok() && defines_a_type(&start) {
            return Err("a part of it has a document type definition, which workbooks never need".to_owned());
        }
        found.has_utf16 |= utf16(&start).is_some();
    }
    drop(archive);
    rewind(input).map(|()| found)
}

/// Returns the target of the relation with this identifier in XML with the usual formatting.
pub(super) fn relation_target<'a>(relations: &'a str, id: &str) -> Option<&'a str> {
    let mut elements = relations.split("<Relationship ").map(|element| element.split_once('>').map_or("", |(e, _)| e));
    // Splitting removed the space before the first attribute.
    let element = elements.find(|element| {
        attribute(element, "Id") == Some(id) || element.strip_prefix(&format!("Id=\"{id}\"")).is_some()
    })?;
    attribute(element, "Target").or_else(|| Some(element.strip_prefix("Target=\"")?.split_once('"')?.0))
}

/// Returns the value of an XML element's attribute.
pub(super) fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = element.split_once(&format!(" {name}=\""))?;
    Some(value.split_once('"')?.0)
}

/// Returns the encoding of an XML part in UTF-16, or `None` for other encodings.
pub(super) fn utf16(start: &[u8]) -> Option<&'static Encoding> {
    match start {
        [0xFF, 0xFE, ..] | [b'<', 0, ..] => Some(UTF_16LE),
        [0xFE, 0xFF, ..] | [0, b'<', ..] => Some(UTF_16BE),
        _ => None,
    }
}

fn rewind(input: &mut impl Seek) -> Result<(), String> {
    input.rewind().map_err(|error| error.to_string())
}

fn defines_a_type(start: &[u8]) -> bool {
    // In UTF-16, ASCII characters alternate with zeros.
    let text: Vec<u8> = start.iter().copied().filter(|byte| *byte != 0).collect();
    text.windows(9).any(|window| window == b"<!DOCTYPE")
}

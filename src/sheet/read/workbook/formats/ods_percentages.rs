//! Percentages in OpenDocument sheets, which calamine reads as numbers. Before parsing, their values are moved to the
//! attribute for times and marked with a percent sign, which never occurs in times.

use std::io::{BufRead, BufReader, Cursor, Read, Seek, Write};

use memchr::memmem::find;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::sheet::Cell;

const CONTENT: &str = "content.xml";
const CELLS: [&[u8]; 2] = [b"table:table-cell", b"table:covered-table-cell"];
const TYPES: [&[u8]; 2] = [b"office:value-type=\"percentage\"", b"office:value-type='percentage'"];
const VALUES: [(&[u8], &[u8]); 2] =
    [(b"office:value=\"", b"office:time-value=\"%"), (b"office:value='", b"office:time-value='%")];
const MARK: char = '%';

/// Returns a copy of the archive with marked percentages, or `None` without percentages.
pub(super) fn mark(input: &mut (impl Read + Seek)) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(input).ok()?;
    let content = archive.by_name(CONTENT).ok()?;
    if each_piece(content, |piece| Ok(marked_piece(piece).is_none())).ok()? {
        return None;
    }
    let mut marked = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let part = archive.by_index_raw(index).ok()?;
        if part.name().ok()? != CONTENT {
            marked.raw_copy_file(part).ok()?;
        }
    }
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    marked.start_file(CONTENT, options.compression_level(Some(1)).large_file(true)).ok()?;
    let write = |piece: &[u8]| {
        let changed = marked_piece(piece);
        marked.write_all(changed.as_deref().unwrap_or(piece)).map(|()| true)
    };
    each_piece(archive.by_name(CONTENT).ok()?, write).ok()?;
    Some(marked.finish().ok()?.into_inner())
}

/// Returns the content with marked percentages.
pub(super) fn marked_text(xml: &str) -> String {
    let mut marked = Vec::with_capacity(xml.len());
    for piece in xml.split_inclusive('<') {
        marked.extend_from_slice(marked_piece(piece.as_bytes()).as_deref().unwrap_or(piece.as_bytes()));
    }
    String::from_utf8(marked).expect("marking replaces ASCII by ASCII")
}

/// Parses a marked percentage.
pub(super) fn parse_mark(value: &str) -> Option<Cell<'static>> {
    let number: f64 = value.strip_prefix(MARK)?.parse().ok()?;
    Some(if number.is_finite() { Cell::Percent(number) } else { Cell::Number(number) })
}

/// Calls `take` with pieces of the text, each up to the start of the next element, until `take` returns false. Returns true
/// after the last piece.
fn each_piece(part: impl Read, mut take: impl FnMut(&[u8]) -> std::io::Result<bool>) -> std::io::Result<bool> {
    let (mut part, mut piece) = (BufReader::with_capacity(64 * 1024, part), Vec::new());
    loop {
        piece.clear();
        if part.read_until(b'<', &mut piece)? == 0 {
            return Ok(true);
        }
        if !take(&piece)? {
            return Ok(false);
        }
    }
}

/// Marks the value of a percentage cell at the start of the piece.
fn marked_piece(piece: &[u8]) -> Option<Vec<u8>> {
    if !CELLS.iter().any(|cell| piece.starts_with(cell)) || !TYPES.iter().any(|kind| find(piece, kind).is_some()) {
        return None;
    }
    VALUES.iter().find_map(|(attribute, instead)| {
        let at = find(piece, attribute).filter(|at| piece[at - 1].is_ascii_whitespace())?;
        Some([&piece[..at], instead, &piece[at + attribute.len()..]].concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_percentages_are_marked() {
        for (xml, marked) in [
            (
                "<table:table-cell office:value-type=\"percentage\" office:value=\"0.19\"><text:p>19%</text:p>",
                "<table:table-cell office:value-type=\"percentage\" office:time-value=\"%0.19\"><text:p>19%</text:p>",
            ),
            (
                "<table:covered-table-cell\noffice:value='0.19'\noffice:value-type='percentage'/>",
                "<table:covered-table-cell\noffice:time-value='%0.19'\noffice:value-type='percentage'/>",
            ),
            (
                "<table:table-cell office:value-type=\"float\" office:value=\"0.19\"/>",
                "<table:table-cell office:value-type=\"float\" office:value=\"0.19\"/>",
            ),
            (
                "<text:p>table:table-cell office:value-type=\"percentage\" office:value=\"0.19\"</text:p>",
                "<text:p>table:table-cell office:value-type=\"percentage\" office:value=\"0.19\"</text:p>",
            ),
        ] {
            assert_eq!(marked_text(xml), marked);
        }
        assert_eq!(parse_mark("%0.19"), Some(Cell::Percent(0.19)));
        assert_eq!(parse_mark("PT09H30M00S"), None);
        assert_eq!(parse_mark("%x"), None);
    }
}

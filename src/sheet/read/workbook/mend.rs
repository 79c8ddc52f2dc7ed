//! Archives that are right, but not as calamine expects them, made over: XML in UTF-16, indented OpenDocument tables,
//! macro sheets, sheets without a part, sheets in a state that nobody has heard of.
//!
//! This is for workbooks that can't be opened as they are. The others pay nothing for it.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Write};
use std::path::Path;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::archive::relation_target;
use super::percentages;

/// Larger files and parts are left as they are.
const LARGEST_FILE: u64 = 32 << 20;
const LARGEST_PART: u64 = 64 << 20;

/// The archive made over; nothing if that can't be done.
pub fn mend(path: &Path) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    if file.metadata().ok()?.len() > LARGEST_FILE {
        return None;
    }
    let mut archive = ZipArchive::new(BufReader::new(file)).ok()?;
    let mut mended = ZipWriter::new(Cursor::new(Vec::new()));
    let relations = part(&mut archive, "xl/_rels/workbook.xml.rels").unwrap_or_default();
    for index in 0..archive.len() {
        let name = archive.by_index_raw(index).ok()?.name().ok()?.to_string();
        let text = if is_xml(&name) { part(&mut archive, &name) } else { None };
        let Some(text) = text else {
            mended.raw_copy_file(archive.by_index_raw(index).ok()?).ok()?;
            continue;
        };
        let text = match name.as_str() {
            "content.xml" => percentages::marked_text(&without_indent(&text)),
            "xl/workbook.xml" => with_readable_sheets(&text, &relations),
            _ => text,
        };
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        mended.start_file(name, options).ok()?;
        mended.write_all(text.as_bytes()).ok()?;
    }
    Some(mended.finish().ok()?.into_inner())
}

/// The encoding of an XML part, if it is one of UTF-16's.
pub fn utf16(start: &[u8]) -> Option<&'static Encoding> {
    match start {
        [0xFF, 0xFE, ..] | [b'<', 0, ..] => Some(UTF_16LE),
        [0xFE, 0xFF, ..] | [0, b'<', ..] => Some(UTF_16BE),
        _ => None,
    }
}

fn is_xml(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with(".xml") || name.ends_with(".rels")
}

/// A part's text; nothing for one that is too large or not text.
fn part(archive: &mut ZipArchive<BufReader<File>>, name: &str) -> Option<String> {
    let part = archive.by_name(name).ok()?;
    if part.size() > LARGEST_PART {
        return None;
    }
    let mut bytes = Vec::new();
    part.take(LARGEST_PART).read_to_end(&mut bytes).ok()?;
    match utf16(&bytes) {
        Some(encoding) => {
            let text = encoding.decode(&bytes).0.into_owned();
            // What it says of its encoding is no longer true.
            Some(text.replacen("\"UTF-16\"", "\"UTF-8\"", 1).replacen("\"utf-16\"", "\"UTF-8\"", 1))
        }
        None => String::from_utf8(bytes).ok(),
    }
}

/// Without the white space between elements, except in paragraphs, where it means something.
fn without_indent(xml: &str) -> String {
    let mut text = String::with_capacity(xml.len());
    let mut paragraphs = 0_u32;
    for piece in xml.split_inclusive('>') {
        let (between, tag) = piece.split_at(piece.find('<').unwrap_or(piece.len()));
        if paragraphs > 0 || !between.trim().is_empty() {
            text.push_str(between);
        }
        text.push_str(tag);
        if tag.starts_with("</text:p>") || tag.starts_with("</text:h>") {
            paragraphs = paragraphs.saturating_sub(1);
        } else if ["<text:p>", "<text:p ", "<text:h>", "<text:h "].iter().any(|start| tag.starts_with(start))
            && !tag.ends_with("/>")
        {
            paragraphs += 1;
        }
    }
    text
}

/// Without the sheets that have no part of cells, and without states other than those that there are.
fn with_readable_sheets(workbook: &str, relations: &str) -> String {
    let mut text = String::with_capacity(workbook.len());
    for piece in workbook.split_inclusive('>') {
        let Some(at) = piece.find("<sheet ") else {
            text.push_str(piece);
            continue;
        };
        let (before, sheet) = piece.split_at(at);
        text.push_str(before);
        let part = attribute(sheet, "r:id").and_then(|id| relation_target(relations, id));
        if part.is_none_or(|part| part.contains("macrosheets/")) {
            continue;
        }
        match attribute(sheet, "state") {
            Some(state) if !["visible", "hidden", "veryHidden"].contains(&state) => {
                text.push_str(&sheet.replacen(&format!(" state=\"{state}\""), "", 1));
            }
            _ => text.push_str(sheet),
        }
    }
    text
}

fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = element.split_once(&format!(" {name}=\""))?;
    Some(value.split_once('"')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indents_go_and_paragraphs_stay() {
        let xml = "<a>\n  <b c=\"1>0\">\n <text:p> x\n<s> </s> </text:p>\n<text:p/>\n</b>";
        assert_eq!(without_indent(xml), "<a><b c=\"1>0\"><text:p> x\n<s> </s> </text:p><text:p/></b>");
    }

    #[test]
    fn sheets_that_can_t_be_read_are_left_out() {
        let relations =
            "<Relationship Id=\"a\" Target=\"worksheets/1.xml\"/><Relationship Target=\"macrosheets/1.xml\" Id=\"b\"/>";
        let workbook = "<sheets><sheet name=\"1\" state=\"show\" r:id=\"a\"/><sheet name=\"2\" r:id=\"b\"/><sheet name=\"3\"/></sheets>";
        assert_eq!(with_readable_sheets(workbook, relations), "<sheets><sheet name=\"1\" r:id=\"a\"/></sheets>");
    }
}

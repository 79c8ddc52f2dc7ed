//! Repair of archives that calamine cannot open: XML in UTF-16, indented OpenDocument tables, macro sheets, sheets without
//! a part, and sheets with an unknown visibility.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::archive::{attribute, relation_target, utf16};
use super::input::{Input, Source};
use super::ods::Marker;
use crate::read::workbook::styles::NumberFormat;

/// Maximum size of a file for repair, in bytes.
const MAX_FILE: u64 = 32 << 20;
/// Maximum size of a part for repair, in bytes.
const MAX_PART: u64 = 64 << 20;

/// Returns a repaired copy of the archive with the formats of its marks, or `None` if repair is impossible.
pub(super) fn repair(file: &Source) -> Option<(Vec<u8>, Vec<NumberFormat>)> {
    if file.len().ok()? > MAX_FILE {
        return None;
    }
    let mut archive = ZipArchive::new(file.input()).ok()?;
    let mut repaired = ZipWriter::new(Cursor::new(Vec::new()));
    let styles = part(&mut archive, "styles.xml").unwrap_or_default();
    let mut formats = Vec::new();
    let relations = part(&mut archive, "xl/_rels/workbook.xml.rels").unwrap_or_default();
    for index in 0..archive.len() {
        let name = archive.by_index_raw(index).ok()?.name().ok()?.to_string();
        let text = if is_xml(&name) { part(&mut archive, &name) } else { None };
        let Some(text) = text else {
            repaired.raw_copy_file(archive.by_index_raw(index).ok()?).ok()?;
            continue;
        };
        let text = match name.as_str() {
            "content.xml" => {
                let marked = Marker::mark_text(&styles, &without_indent(&text));
                formats = marked.formats;
                marked.text
            }
            "xl/workbook.xml" => with_readable_sheets(&text, &relations),
            _ => text,
        };
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        repaired.start_file(name, options).ok()?;
        repaired.write_all(text.as_bytes()).ok()?;
    }
    Some((repaired.finish().ok()?.into_inner(), formats))
}

fn is_xml(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with(".xml") || name.ends_with(".rels")
}

/// Reads a part as text. Returns `None` for large parts and for other content than text.
fn part(archive: &mut ZipArchive<Input>, name: &str) -> Option<String> {
    let part = archive.by_name(name).ok()?;
    if part.size() > MAX_PART {
        return None;
    }
    let mut bytes = Vec::new();
    part.take(MAX_PART).read_to_end(&mut bytes).ok()?;
    match utf16(&bytes) {
        Some(encoding) => {
            let text = encoding.decode(&bytes).0.into_owned();
            // Corrects the declared encoding.
            Some(text.replacen("\"UTF-16\"", "\"UTF-8\"", 1).replacen("\"utf-16\"", "\"UTF-8\"", 1))
        }
        None => String::from_utf8(bytes).ok(),
    }
}

/// The ends of elements of a number format whose white space is significant.
const ENDS_OF_LITERALS: [&str; 2] = ["</number:text>", "</number:embedded-text>"];

/// Removes insignificant white space between elements. Keeps white space within paragraphs and in number formats.
pub(super) fn without_indent(xml: &str) -> String {
    let mut text = String::with_capacity(xml.len());
    let mut paragraphs = 0_u32;
    for piece in xml.split_inclusive('>') {
        let (between, tag) = piece.split_at(piece.find('<').unwrap_or(piece.len()));
        let is_literal = ENDS_OF_LITERALS.iter().any(|end| tag.starts_with(end));
        if paragraphs > 0 || is_literal || !between.trim().is_empty() {
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

/// Removes sheets without a part of cells, and unknown visibilities.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indents_are_removed_outside_paragraphs() {
        let xml = "<a>\n  <b c=\"1>0\">\n <text:p> x\n<s> </s> </text:p>\n<text:p/>\n</b>";
        assert_eq!(without_indent(xml), "<a><b c=\"1>0\"><text:p> x\n<s> </s> </text:p><text:p/></b>");
        assert_eq!(without_indent("<a>\n<number:text> </number:text>\n</a>"), "<a><number:text> </number:text></a>");
    }

    #[test]
    fn unreadable_sheets_are_removed() {
        let relations =
            "<Relationship Id=\"a\" Target=\"worksheets/1.xml\"/><Relationship Target=\"macrosheets/1.xml\" Id=\"b\"/>";
        let workbook = "<sheets><sheet name=\"1\" state=\"show\" r:id=\"a\"/><sheet name=\"2\" r:id=\"b\"/><sheet name=\"3\"/></sheets>";
        assert_eq!(with_readable_sheets(workbook, relations), "<sheets><sheet name=\"1\" r:id=\"a\"/></sheets>");
    }
}

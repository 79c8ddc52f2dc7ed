//! Hidden rows, hidden columns and merged cells of XLSX sheets, which calamine leaves out.

use std::collections::HashMap;
use std::io::{self, Read, Seek, Write};

use memchr::memmem::Finder;
use zip::ZipArchive;

use super::tag::{Tag, each_piece};
use crate::read::appearance::{Appearance, MergedCells};

const WORKBOOK: &str = "xl/workbook.xml";
const RELATIONS: &str = "xl/_rels/workbook.xml.rels";
/// Longest tag of a row, of columns or of merged cells.
const MAX_TAG: usize = 4096;

/// Returns the names of sheets by the names of their parts. Empty for a workbook with an unusual structure.
pub(super) fn sheets_by_part(archive: &mut ZipArchive<impl Read + Seek>) -> HashMap<String, String> {
    let (mut targets, mut sheets) = (HashMap::new(), HashMap::new());
    let text = |tag: &Tag<'_>, name: &str| tag.attribute(name).map(|value| value.into_owned());
    let mut read = |part: &str, take: &mut dyn FnMut(&Tag<'_>)| {
        // Without these parts, no sheet is known.
        drop(archive.by_name(part).ok().map(|part| {
            each_piece(part, |piece| {
                Tag::parse(piece).iter().for_each(&mut *take);
                Ok(true)
            })
        }));
    };
    read(RELATIONS, &mut |tag| targets.extend(text(tag, "Id").zip(text(tag, "Target"))));
    read(WORKBOOK, &mut |tag| {
        if tag.name == "sheet" || tag.name.ends_with(":sheet") {
            let target = text(tag, "r:id").and_then(|id| targets.get(&id).cloned());
            let part = target.map(|target| match target.strip_prefix('/') {
                Some(absolute) => absolute.to_owned(),
                None => format!("xl/{target}"),
            });
            sheets.extend(part.zip(text(tag, "name")));
        }
    });
    sheets
}

/// Collects the appearance of the sheet written to this writer.
pub(super) struct AppearanceReader {
    pub appearance: Appearance,
    /// The end of the previous text, possibly the start of a tag.
    rest: Vec<u8>,
    /// Find attributes of hidden rows and columns: those called hidden, and those without height or width.
    hidden: [Finder<'static>; 3],
    merged: Finder<'static>,
}

impl Default for AppearanceReader {
    fn default() -> AppearanceReader {
        AppearanceReader {
            appearance: Appearance::default(),
            rest: Vec::new(),
            hidden: ["hidden=", " ht=\"0", " width=\"0"].map(Finder::new),
            merged: Finder::new("mergeCell"),
        }
    }
}

impl Write for AppearanceReader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = [&self.rest, bytes].concat();
        // Only complete tags of this text. The tag of a row ends before its cells.
        let end = memchr::memrchr(b'>', &text).map_or(0, |at| at + 1);
        let complete = &text[..end];
        let mut hidden: Vec<usize> = self.hidden.iter().flat_map(|finder| finder.find_iter(complete)).collect();
        hidden.sort_unstable();
        for tag in hidden.into_iter().filter_map(|at| tag_around(complete, at)) {
            if is_hidden(&tag) {
                hide(&tag, &mut self.appearance);
            }
        }
        for tag in self.merged.find_iter(complete).filter_map(|at| tag_around(complete, at)) {
            let range = tag.attribute("ref").filter(|_| local_name(&tag) == "mergeCell");
            if let Some(merged) = range.and_then(|range| MergedCells::parse(&range)) {
                self.appearance.merge(merged);
            }
        }
        self.rest = text[end..].to_vec();
        if self.rest.len() > MAX_TAG {
            self.rest.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns whether the row or the columns of a tag are hidden, or have no height or width.
fn is_hidden(tag: &Tag<'_>) -> bool {
    let is_zero = |size: &str| tag.attribute(size).and_then(|size| size.parse().ok()) == Some(0.0);
    let size = if local_name(tag) == "row" { "ht" } else { "width" };
    matches!(tag.attribute("hidden").as_deref(), Some("1" | "true")) || is_zero(size)
}

/// Adds the row or the columns of a tag to the hidden ones.
fn hide(tag: &Tag<'_>, appearance: &mut Appearance) {
    let number = |name: &str| tag.number(name).map(u64::from);
    match local_name(tag) {
        "row" => number("r").into_iter().for_each(|row| appearance.hide_rows(row, 1)),
        "col" => {
            if let (Some(first), Some(last)) = (number("min"), number("max"))
                && (1..=last).contains(&first)
            {
                appearance.hide_columns(first - 1, last - first + 1);
            }
        }
        _ => {}
    }
}

/// Returns the tag around a position.
fn tag_around(text: &[u8], at: usize) -> Option<Tag<'_>> {
    let start = memchr::memrchr(b'<', &text[..at]).map_or(0, |start| start + 1);
    Tag::parse(text[start..].split_inclusive(|byte| *byte == b'>').next()?)
}

/// Returns the name of a tag without its prefix.
fn local_name<'a>(tag: &Tag<'a>) -> &'a str {
    tag.name.rsplit(':').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_columns_and_merged_cells_are_found_in_pieces_of_any_length() {
        let xml = "<cols><col min=\"1\" max=\"2\"/><col min=\"3\" max=\"4\" hidden=\"1\"/><col min=\"6\" hidden=\"1\"/>\
                   <col min=\"8\" max=\"8\" width=\"0\" customWidth=\"1\"/><col min=\"9\" max=\"9\" width=\"0.75\"/></cols>\
                   <row r=\"2\" hidden=\"1\"><c><v>1</v></c></row><row r=\"3\" ht=\"0\" hidden=\"true\"/>\
                   <row r=\"4\" hidden=\"0\" ht=\"0.5\"/><row r=\"5\" spans=\"1:2\"><c><is><t>hidden= mergeCell</t></is></c></row>\
                   <row r=\"7\" ht=\"0\" customHeight=\"1\"/><x:row r=\"9\" hidden=\"1\"/><mergeCells count=\"3\"><mergeCell ref=\"B2:B5\"/><mergeCell ref='A1:C1'/>\
                   <x:mergeCell ref=\"C3:D4\"></x:mergeCell></mergeCells>";
        for length in 1..xml.len() {
            let mut reader = AppearanceReader::default();
            xml.as_bytes().chunks(length).for_each(|piece| reader.write_all(piece).expect("memory"));
            let found = reader.appearance;
            assert_eq!(found.hidden_rows(), [(2, 3), (7, 7), (9, 9)], "{length}");
            let hidden: Vec<usize> = (0..20).filter(|column| found.hides_column(*column)).collect();
            assert_eq!(hidden, [2, 3, 7], "{length}");
            let merged: Vec<String> = found.merged().iter().map(MergedCells::to_string).collect();
            assert_eq!(merged, ["B2:B5", "C3:D4"], "{length}");
        }
    }
}

//! Hidden rows of XLSX sheets. Calamine does not report them.

use std::collections::HashMap;
use std::io::{self, Read, Seek, Write};

use memchr::memmem::{Finder, rfind};
use zip::ZipArchive;

use super::tag::{Tag, each_piece};
use crate::sheet::read::workbook::row_ranges::RowRanges;

const WORKBOOK: &str = "xl/workbook.xml";
const RELATIONS: &str = "xl/_rels/workbook.xml.rels";
/// Longest tag of a row.
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

/// Collects the hidden rows of the sheet written to this writer.
pub(super) struct HiddenRows {
    pub rows: RowRanges,
    /// The end of the previous text, possibly the start of a tag.
    rest: Vec<u8>,
    finder: Finder<'static>,
}

impl Default for HiddenRows {
    fn default() -> HiddenRows {
        HiddenRows { rows: RowRanges::default(), rest: Vec::new(), finder: Finder::new("hidden=") }
    }
}

impl Write for HiddenRows {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = [&self.rest, bytes].concat();
        // Only complete tags of this text. A row's tag begins with its name, and ends before its cells.
        let end = memchr::memrchr(b'>', &text).map_or(0, |at| at + 1);
        for at in self.finder.find_iter(&text[..end]) {
            let start = rfind(&text[..at], b"<").map_or(0, |start| start + 1);
            let tag = text[start..end].split_inclusive(|byte| *byte == b'>').next().and_then(Tag::parse);
            let Some(tag) = tag.filter(|tag| tag.name == "row" || tag.name.ends_with(":row")) else { continue };
            if matches!(tag.attribute("hidden").as_deref(), Some("1" | "true"))
                && let Some(number) = tag.number("r")
            {
                self.rows.add(u64::from(number), 1);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_rows_are_found_in_pieces_of_any_length() {
        let xml = "<cols><col min=\"1\" hidden=\"1\"/></cols><row r=\"2\" hidden=\"1\"><c><v>1</v></c></row><row r=\"3\" ht=\"0\" \
                   hidden=\"true\"/><row r=\"4\" hidden=\"0\"/><row r=\"5\" spans=\"1:2\"><c><is><t>hidden=</t></is></c></row>\
                   <x:row r=\"9\" hidden=\"1\"/>";
        for length in 1..xml.len() {
            let mut hidden = HiddenRows::default();
            xml.as_bytes().chunks(length).for_each(|piece| hidden.write_all(piece).expect("memory"));
            assert_eq!(hidden.rows.0, [(2, 3), (9, 9)], "{length}");
        }
    }
}

//! Parts of XLSB workbooks missing in calamine: error results of formulas, texts in several fonts inside a cell, number formats, and the
//! appearance of the sheet. They are read from the sheet's records, cell by cell, in parallel with calamine.

use std::io::Read;

use zip::ZipArchive;

use super::super::archive::relation_target;
use super::super::cell_formats::{CellFormat, CellFormats};
use super::super::input::{Input, Source};
use super::super::rich_texts::parts_by_font;
use super::shared_texts::{fonts, of_font, rich_text};
use super::stream::Records;
use crate::cell::Setting;
use crate::read::appearance::{Appearance, MergedCells};
use crate::read::little_endian::{u16_at, u32_at};

/// Maximum number of sheets, formats and styles. Further entries are ignored.
const MAX_ENTRIES: usize = 1 << 16;

// Record types: [MS-XLSB] 2.3.
const ROW: u16 = 0;
/// A bit in the flags of a row.
const ROW_IS_HIDDEN: u8 = 0x10;
const CELL_BLANK: u16 = 1;
const CELL_FIRST: u16 = 2;
const FORMULA_ERROR: u16 = 11;
/// Cells without a column, which follows from the cell before.
const SHORT_CELLS: std::ops::RangeInclusive<u16> = 13..=18;
const FORMAT: u16 = 44;
const STYLE: u16 = 47;
const COLUMNS: u16 = 60;
const RICH_TEXT: u16 = 62;
/// A bit in the flags of columns.
const COLUMNS_ARE_HIDDEN: u16 = 0x01;
const SHEET_END: u16 = 130;
const SHEET_DATA_END: u16 = 146;
const SHEET: u16 = 156;
const MERGED_CELLS: u16 = 176;
const CELL_STYLES: u16 = 617;
const CELL_STYLES_END: u16 = 618;

/// A second reader of the workbook.
pub(super) struct XlsbRecords {
    archive: ZipArchive<Input>,
    /// Names and parts of the sheets.
    parts: Vec<(String, String)>,
    formats: Vec<CellFormat>,
    fonts: Vec<Setting>,
}

impl XlsbRecords {
    /// Opens the records. Returns `None` for a workbook with an unusual structure, to be read by calamine alone.
    pub(super) fn open(file: &Source) -> Option<XlsbRecords> {
        let mut archive = ZipArchive::new(file.input()).ok()?;
        let mut relations = String::new();
        archive.by_name("xl/_rels/workbook.bin.rels").ok()?.take(1 << 20).read_to_string(&mut relations).ok()?;
        let mut parts = Vec::new();
        let mut records = Records::new(archive.by_name("xl/workbook.bin").ok()?);
        while let Some((kind, body)) = records.next() {
            if kind == SHEET && parts.len() < MAX_ENTRIES {
                let (relation, rest) = utf16_text(body.get(8..)?)?;
                let (name, _) = utf16_text(rest)?;
                parts.push((name, format!("xl/{}", relation_target(&relations, &relation)?)));
            }
        }
        drop(records);
        let formats = archive.by_name("xl/styles.bin").map(|part| formats(Records::new(part))).unwrap_or_default();
        let fonts = archive.by_name("xl/styles.bin").map(|part| fonts(Records::new(part))).unwrap_or_default();
        Some(XlsbRecords { archive, parts, formats, fonts })
    }

    /// Reads the non-blank cells of a sheet in stored order.
    pub(super) fn cells(&mut self, sheet: &str) -> Option<CellRecords<'_>> {
        let (_, part) = self.parts.iter().find(|(name, _)| name == sheet)?;
        let part: Box<dyn Read + '_> = Box::new(self.archive.by_name(part).ok()?);
        Some(CellRecords {
            records: Records::new(part),
            formats: &self.formats,
            fonts: &self.fonts,
            row: 0,
            is_at_end: false,
            appearance: Appearance::default(),
        })
    }
}

pub(super) struct CellRecords<'a> {
    records: Records<Box<dyn Read + 'a>>,
    formats: &'a [CellFormat],
    fonts: &'a [Setting],
    row: u32,
    /// Whether all cells were read.
    is_at_end: bool,
    /// The appearance of the sheet so far.
    appearance: Appearance,
}

/// A cell.
pub(super) struct CellRecord<'a> {
    /// Zero-based row and column.
    pub at: (u32, u32),
    pub format: Option<&'a CellFormat>,
    /// The value if calamine skips the cell.
    pub missing: Option<MissingValue>,
}

/// The value of a cell that calamine skips.
pub(super) enum MissingValue {
    /// The result of a formula.
    Error(&'static str),
    /// The parts of a text.
    Text(Vec<(Setting, String)>),
    /// A form of cells that no known program writes.
    Unknown,
}

impl<'a> CellRecords<'a> {
    pub(super) fn next(&mut self) -> Option<CellRecord<'a>> {
        while !self.is_at_end {
            let (kind, body) = self.records.next()?;
            match kind {
                COLUMNS => add_columns(body, &mut self.appearance),
                ROW => {
                    self.row = u32_at(body, 0)?;
                    if body.get(11).is_some_and(|flags| flags & ROW_IS_HIDDEN != 0) {
                        self.appearance.hide_rows(u64::from(self.row) + 1, 1);
                    }
                }
                CELL_BLANK => {}
                CELL_FIRST..=FORMULA_ERROR | RICH_TEXT => {
                    let style = u32_at(body, 4)? & 0x00FF_FFFF;
                    let missing = match kind {
                        FORMULA_ERROR => Some(MissingValue::Error(error_text(*body.get(8)?))),
                        RICH_TEXT => Some(match rich_text(body.get(8..)?) {
                            Some((text, runs)) => MissingValue::Text(parts_by_font(&text, &runs, of_font(self.fonts))),
                            None => MissingValue::Unknown,
                        }),
                        _ => None,
                    };
                    let format = self.formats.get(style as usize).filter(|format| format.matters());
                    return Some(CellRecord { at: (self.row, u32_at(body, 0)?), format, missing });
                }
                kind if SHORT_CELLS.contains(&kind) => {
                    return Some(CellRecord { at: (self.row, 0), format: None, missing: Some(MissingValue::Unknown) });
                }
                SHEET_DATA_END => self.is_at_end = true,
                _ => {}
            }
        }
        None
    }

    /// Reads the records after the cells. Returns the appearance of the sheet.
    pub(super) fn finish(mut self) -> Appearance {
        while self.is_at_end
            && let Some((kind, body)) = self.records.next()
        {
            match kind {
                MERGED_CELLS => add_merged(body, &mut self.appearance),
                SHEET_END => break,
                _ => {}
            }
        }
        self.appearance
    }
}

/// Adds the columns of a record to the hidden ones, if they are.
fn add_columns(body: &[u8], appearance: &mut Appearance) {
    let at = |place: usize| u32_at(body, place);
    if let (Some(first), Some(last), Some(width), Some(flags)) = (at(0), at(4), at(8), u16_at(body, 16))
        && (width == 0 || flags & COLUMNS_ARE_HIDDEN != 0)
        && first <= last
    {
        appearance.hide_columns(u64::from(first), u64::from(last - first) + 1);
    }
}

/// Adds the merged cells of a record: the first and last rows, and the first and last columns.
fn add_merged(body: &[u8], appearance: &mut Appearance) {
    let at = |place: usize| u32_at(body, place);
    if let (Some(top), Some(bottom), Some(left), Some(right)) = (at(0), at(4), at(8), at(12)) {
        appearance.merge(MergedCells {
            first_row: u64::from(top) + 1,
            last_row: u64::from(bottom) + 1,
            first_column: left as usize,
            last_column: right as usize,
        });
    }
}

fn formats(mut records: Records<impl Read>) -> Vec<CellFormat> {
    let mut by_id = CellFormats::built_in();
    let (mut by_style, mut in_cells) = (Vec::new(), false);
    while let Some((kind, body)) = records.next() {
        match kind {
            FORMAT => {
                let code = body.get(2..).and_then(utf16_text);
                if let Some(((code, _), id)) = code.zip(u16_at(body, 0)) {
                    by_id.define(id, &code);
                }
            }
            CELL_STYLES => in_cells = true,
            CELL_STYLES_END => break,
            STYLE if in_cells && by_style.len() < MAX_ENTRIES => {
                by_style.push(u16_at(body, 2).map(|id| by_id.get(id)).unwrap_or_default());
            }
            _ => {}
        }
    }
    by_style
}

fn error_text(code: u8) -> &'static str {
    match code {
        0x00 => "#NULL!",
        0x07 => "#DIV/0!",
        0x0F => "#VALUE!",
        0x17 => "#REF!",
        0x1D => "#NAME?",
        0x24 => "#NUM!",
        0x2A => "#N/A",
        0x2B => "#GETTING_DATA",
        _ => "#UNKNOWN!",
    }
}

/// Parses a length-prefixed UTF-16 text and returns the remaining bytes.
fn utf16_text(bytes: &[u8]) -> Option<(String, &[u8])> {
    let len = (u32_at(bytes, 0)? as usize).checked_mul(2)?;
    let (text, rest) = bytes.get(4..)?.split_at_checked(len)?;
    let units: Vec<u16> = text.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
    Some((String::from_utf16_lossy(&units), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u16, numbers: &[u32]) -> Vec<u8> {
        let kind = if kind < 0x80 { vec![kind as u8] } else { vec![kind as u8 | 0x80, (kind >> 7) as u8] };
        let body: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        [kind.as_slice(), &[body.len() as u8], &body].concat()
    }

    /// Returns the appearance after all cells of a sheet with these records.
    fn appearance(records: &[Vec<u8>]) -> Appearance {
        let bytes = records.concat();
        let part: Box<dyn Read + '_> = Box::new(bytes.as_slice());
        let appearance = Appearance::default();
        let mut cells =
            CellRecords { records: Records::new(part), formats: &[], fonts: &[], row: 0, is_at_end: false, appearance };
        while cells.next().is_some() {}
        assert!(cells.next().is_none());
        cells.finish()
    }

    #[test]
    fn hidden_rows_hidden_columns_and_merged_cells_are_found() {
        let row = |number: u32, flags: u32| record(ROW, &[number, 0, flags << 24, 0]);
        let found = appearance(&[
            record(COLUMNS, &[0, 1, 2742, 0, 2]),
            record(COLUMNS, &[2, 3, 0, 0, 1]),
            record(COLUMNS, &[9, 7, 0, 0, 1]),
            row(0, 0),
            record(CELL_FIRST, &[0, 0, 0]),
            row(1, u32::from(ROW_IS_HIDDEN)),
            record(CELL_FIRST, &[0, 0, 0]),
            record(SHEET_DATA_END, &[]),
            record(177, &[2]),
            record(MERGED_CELLS, &[1, 4, 1, 1]),
            record(MERGED_CELLS, &[0, 0, 0, 2]),
            record(MERGED_CELLS, &[9, 1_048_575, 2, 3]),
            record(MERGED_CELLS, &[9]),
            record(SHEET_END, &[]),
            record(MERGED_CELLS, &[1, 4, 3, 3]),
        ]);
        assert_eq!(found.hidden_rows(), [(2, 2)]);
        assert_eq!((0..20).filter(|column| found.hides_column(*column)).collect::<Vec<_>>(), [2, 3]);
        let merged: Vec<String> = found.merged().iter().map(MergedCells::to_string).collect();
        assert_eq!(merged, ["B2:B5", "C10:D1048576"]);
    }

    #[test]
    fn merged_cells_of_a_sheet_without_an_end_are_not_read() {
        let cells = [record(ROW, &[0, 0, 0, 0]), record(MERGED_CELLS, &[1, 4, 1, 1])];
        assert_eq!(appearance(&cells), Appearance::default());
    }
}

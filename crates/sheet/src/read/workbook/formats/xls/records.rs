//! Parts of XLS workbooks missing in calamine: number formats, formulas without a result, hidden rows and columns, and merged
//! cells. Read from the sheet's records ([MS-XLS] 2.3) in a separate pass.

use std::collections::{HashMap, HashSet};
use std::io::{BufReader, Read, Seek, SeekFrom};

use calamine::DataRef;
use cfb::CompoundFile;
use encoding_rs::{Encoding, WINDOWS_1252};

use super::super::cell_formats::{CellFormat, CellFormats};
use super::super::cells::Known;
use super::super::input::{Input, Source};
use crate::read::appearance::{Appearance, MergedCells};
use crate::read::little_endian::{u16_at, u32_at};

/// Names of the stream, in Excel 97 and before.
pub(super) const STREAMS: [&str; 2] = ["Workbook", "Book"];
/// Maximum number of sheets, formats and styles.
const MAX_ENTRIES: usize = 1 << 16;

// Record types.
const FORMULA: u16 = 0x0006;
pub(super) const END: u16 = 0x000A;
pub(super) const CODE_PAGE: u16 = 0x0042;
const COLUMNS: u16 = 0x007D;
const SHEET: u16 = 0x0085;
const SEVERAL_NUMBERS: u16 = 0x00BD;
const STYLE: u16 = 0x00E0;
const MERGED_CELLS: u16 = 0x00E5;
const NUMBER: u16 = 0x0203;
const ROW: u16 = 0x0208;
const SHORT_NUMBER: u16 = 0x027E;
const FORMAT: u16 = 0x041E;
pub(super) const BEGIN: u16 = 0x0809;

/// A bit in the flags of a row.
const ROW_IS_HIDDEN: u8 = 0x20;
/// A bit in the flags of columns.
const COLUMNS_ARE_HIDDEN: u16 = 0x01;
/// Flag of a formula to be calculated when the workbook is opened. Libraries that cannot calculate set this flag, together with
/// one of [`NO_RESULTS`].
const CALCULATE_ON_LOAD: u16 = 0x02;
/// Zero, and an empty text.
const NO_RESULTS: [[u8; 8]; 2] = [[0; 8], [3, 0, 0, 0, 0, 0, 0xFF, 0xFF]];
/// The version in [`BEGIN`] of Excel 97 and later.
pub(super) const BIFF8: u16 = 0x0600;
/// The kind of a sheet with cells.
const WORKSHEET: u8 = 0;

/// A second reader of the workbook.
pub(crate) struct XlsRecords {
    records: Records,
    /// Positions of the worksheets in the stream.
    sheets: Vec<u64>,
    /// By style.
    formats: Vec<CellFormat>,
}

/// Data of a sheet by zero-based row and column: relevant number formats, and formulas without a result. Also its
/// appearance.
pub(crate) struct SheetRecords<'a> {
    styles: HashMap<(u32, u32), u16>,
    formats: &'a [CellFormat],
    uncalculated: HashSet<(u32, u32)>,
    pub(crate) appearance: Appearance,
}

impl XlsRecords {
    /// Opens the records. Returns `None` for a workbook with an unusual structure, to be read by calamine alone.
    pub(crate) fn open(file: &Source) -> Option<XlsRecords> {
        let mut file = CompoundFile::open(file.input()).ok()?;
        let stream = STREAMS.iter().find_map(|name| file.open_stream(name).ok())?;
        let mut records = Records::new(BufReader::new(stream));
        let (mut sheets, mut by_id, mut ids) = (Vec::new(), CellFormats::built_in(), Vec::new());
        let (mut is_biff8, mut encoding) = (true, WINDOWS_1252);
        while let Some((kind, body)) = records.next() {
            match kind {
                BEGIN => is_biff8 = u16_at(body, 0)? == BIFF8,
                CODE_PAGE => encoding = code_page(u16_at(body, 0)?),
                SHEET if sheets.len() < MAX_ENTRIES && body.get(5) == Some(&WORKSHEET) => {
                    sheets.push(u64::from(u32_at(body, 0)?));
                }
                FORMAT => {
                    if let Some((id, code)) = u16_at(body, 0).zip(code(body, is_biff8, encoding)) {
                        by_id.define(id, &code);
                    }
                }
                STYLE if ids.len() < MAX_ENTRIES => ids.push(u16_at(body, 2)?),
                END => break,
                _ => {}
            }
        }
        let formats = ids.into_iter().map(|id| by_id.get(id)).collect();
        Some(XlsRecords { records, sheets, formats })
    }

    /// Reads the styles of a worksheet's numbers. `sheet` is its index among the worksheets.
    pub(crate) fn cells(&mut self, sheet: usize) -> Option<SheetRecords<'_>> {
        let mut cells = SheetRecords {
            styles: HashMap::new(),
            formats: &self.formats,
            uncalculated: HashSet::new(),
            appearance: Appearance::default(),
        };
        self.records.stream.seek(SeekFrom::Start(*self.sheets.get(sheet)?)).ok()?;
        // Charts within the sheet also have records of cells.
        let mut depth = 0;
        while let Some((kind, body)) = self.records.next() {
            match kind {
                BEGIN => depth += 1,
                END if depth <= 1 => break,
                END => depth -= 1,
                _ if depth > 1 => {}
                ROW if body.get(12).is_some_and(|flags| flags & ROW_IS_HIDDEN != 0) => {
                    cells.appearance.hide_rows(u64::from(u16_at(body, 0)?) + 1, 1);
                }
                COLUMNS => add_columns(body, &mut cells.appearance),
                MERGED_CELLS => add_merged(body, &mut cells.appearance),
                NUMBER | SHORT_NUMBER | FORMULA => {
                    let (row, column, style) = (u16_at(body, 0)?, u16_at(body, 2)?, u16_at(body, 4)?);
                    let at = (u32::from(row), u32::from(column));
                    let has_none = || NO_RESULTS.iter().any(|result| body.get(6..14) == Some(result));
                    if kind == FORMULA && has_none() && u16_at(body, 14)? & CALCULATE_ON_LOAD != 0 {
                        cells.uncalculated.insert(at);
                    }
                    cells.add(at, style);
                }
                SEVERAL_NUMBERS => {
                    let (row, first) = (u16_at(body, 0)?, u16_at(body, 2)?);
                    let numbers = body.get(4..body.len().checked_sub(2)?)?.chunks_exact(6);
                    for (column, number) in (u32::from(first)..).zip(numbers) {
                        cells.add((u32::from(row), column), u16_at(number, 0)?);
                    }
                }
                _ => {}
            }
        }
        Some(cells)
    }
}

impl SheetRecords<'_> {
    fn add(&mut self, at: (u32, u32), style: u16) {
        if self.formats.get(usize::from(style)).is_some_and(CellFormat::matters) {
            self.styles.insert(at, style);
        }
    }

    /// Returns further data about a cell with this value.
    pub(crate) fn known<'f>(&'f self, at: (u32, u32), value: &DataRef<'f>, is_1904: bool) -> Option<Known<'f>> {
        if self.uncalculated.contains(&at) {
            return Some(Known::Uncalculated);
        }
        let format = self.formats.get(usize::from(*self.styles.get(&at)?))?;
        let is_number = matches!(value, DataRef::Int(_) | DataRef::Float(_) | DataRef::DateTime(_));
        is_number.then(|| Known::Formatted(format.value(value, is_1904), format.number.as_ref()))
    }
}

/// Adds the columns of a record to the hidden ones, if they are.
fn add_columns(body: &[u8], appearance: &mut Appearance) {
    let at = |place: usize| u16_at(body, place);
    if let (Some(first), Some(last), Some(width), Some(flags)) = (at(0), at(2), at(4), at(8))
        && (width == 0 || flags & COLUMNS_ARE_HIDDEN != 0)
        && first <= last
    {
        appearance.hide_columns(u64::from(first), u64::from(last - first) + 1);
    }
}

/// Adds the merged cells of a record: a number, and the first and last rows and columns of each range.
fn add_merged(body: &[u8], appearance: &mut Appearance) {
    for range in body.get(2..).unwrap_or_default().chunks_exact(8) {
        let at = |place: usize| u16_at(range, place).unwrap_or_default();
        appearance.merge(MergedCells {
            first_row: u64::from(at(0)) + 1,
            last_row: u64::from(at(2)) + 1,
            first_column: usize::from(at(4)),
            last_column: usize::from(at(6)),
        });
    }
}

/// Returns the code of a format.
fn code(body: &[u8], is_biff8: bool, encoding: &'static Encoding) -> Option<String> {
    if !is_biff8 {
        let len = usize::from(*body.get(2)?);
        return Some(encoding.decode_without_bom_handling(body.get(3..3 + len)?).0.into_owned());
    }
    let (len, is_wide) = (usize::from(u16_at(body, 2)?), body.get(4)? & 1 == 1);
    if is_wide {
        let units = body.get(5..5 + 2 * len)?.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        return Some(String::from_utf16_lossy(&units.collect::<Vec<_>>()));
    }
    Some(body.get(5..5 + len)?.iter().copied().map(char::from).collect())
}

/// Returns the encoding of a Windows code page, for currency signs in formats of Excel 95.
fn code_page(number: u16) -> &'static Encoding {
    Encoding::for_label(format!("windows-{number}").as_bytes()).unwrap_or(WINDOWS_1252)
}

/// The records of the stream: a type, a length and a body.
pub(super) struct Records {
    stream: BufReader<cfb::Stream<Input>>,
    body: Vec<u8>,
}

impl Records {
    pub(super) fn new(stream: BufReader<cfb::Stream<Input>>) -> Records {
        Records { stream, body: Vec::new() }
    }

    pub(super) fn next(&mut self) -> Option<(u16, &[u8])> {
        let mut head = [0; 4];
        self.stream.read_exact(&mut head).ok()?;
        let [kind0, kind1, len0, len1] = head;
        self.body.resize(usize::from(u16::from_le_bytes([len0, len1])), 0);
        self.stream.read_exact(&mut self.body).ok()?;
        Some((u16::from_le_bytes([kind0, kind1]), &self.body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the body of a record of numbers.
    fn body(numbers: &[u16]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    #[test]
    fn hidden_columns_and_merged_cells_are_found() {
        let mut appearance = Appearance::default();
        for columns in [[0, 1, 2048, 15, 0], [2, 3, 2048, 15, 1], [5, 5, 0, 15, 0x1001], [9, 7, 0, 0, 1]] {
            add_columns(&body(&columns), &mut appearance);
        }
        add_columns(&body(&[6, 6, 0]), &mut appearance);
        let hidden: Vec<usize> = (0..20).filter(|column| appearance.hides_column(*column)).collect();
        assert_eq!(hidden, [2, 3, 5]);
        add_merged(&body(&[3, 1, 4, 1, 1, 0, 0, 0, 2, 9, 65_535, 2, 3, 7]), &mut appearance);
        add_merged(&[], &mut appearance);
        let merged: Vec<String> = appearance.merged().iter().map(MergedCells::to_string).collect();
        assert_eq!(merged, ["B2:B5", "C10:D65536"]);
    }
}

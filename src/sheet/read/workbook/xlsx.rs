//! The cells of an XLSX sheet: what calamine gives in one pass or, where that is not enough, in several.

use std::io::Write;

use calamine::{DataRef, Xlsx, XlsxError};

use super::formulas::Formulas;
use super::number_format::NumberFormat;
use super::parser::{Input, damaged, put};
use super::rows_out::{RowsOut, Stop};
use crate::sheet::Cell;
use crate::sheet::cell::NOT_CALCULATED;

/// One pass over the sheet, wherever that is enough. Calamine gives styles or formulas beside the values, not both, so
/// a second pass begins where the first meets a cell without a value and the workbook has formulas: the cell may be one
/// that was never calculated. So it does at an error that calamine has no name for.
pub fn give<W: Write>(
    book: &mut Xlsx<Input>,
    formulas: &mut Formulas,
    name: &str,
    rows: &mut RowsOut<'_, W>,
) -> Result<(), Stop> {
    let mut sheet = XlsxSheet { given: 0, odd: OddErrors::default(), blanks: Blanks::Unmet, formulas };
    loop {
        let halt = match sheet.blanks {
            Blanks::ByFormula => sheet.pass_with_formulas(book, name, rows)?,
            _ => sheet.pass_with_styles(book, name, rows)?,
        };
        match halt {
            Halt::End => return Ok(()),
            Halt::OddError if !sheet.odd.0.is_empty() => return Err(damaged("its error values can't be followed")),
            Halt::OddError => sheet.odd = OddErrors::find(book, name, rows)?,
            Halt::Blank { has_formats: true } => sheet.blanks = Blanks::Marked(Marks::uncalculated(book, name, rows)?),
            Halt::Blank { has_formats: false } => sheet.blanks = Blanks::ByFormula,
            // Perhaps it is a formula alone that can't be followed.
            Halt::Formula => sheet.blanks = Blanks::Blank,
        }
    }
}

/// How far a sheet has been given, and what was found out about it on the way.
struct XlsxSheet<'f> {
    given: u64,
    odd: OddErrors,
    blanks: Blanks,
    formulas: &'f mut Formulas,
}

/// What a cell without a value is.
enum Blanks {
    /// None was met yet.
    Unmet,
    Blank,
    /// Blank, or a formula that was not calculated where there is a mark.
    Marked(Marks),
    /// What the cell itself says, asked for its formula.
    ByFormula,
}

/// Why a pass over a sheet came to its end.
enum Halt {
    End,
    /// An error that is not among the odd ones known.
    OddError,
    /// A cell without a value, of which there is more to know. Whether formats count, too.
    Blank {
        has_formats: bool,
    },
    /// A formula that can't be followed.
    Formula,
}

impl XlsxSheet<'_> {
    /// Gives the cells after the first `given`, with what their formats make of them.
    fn pass_with_styles<W: Write>(
        &mut self,
        book: &mut Xlsx<Input>,
        name: &str,
        rows: &mut RowsOut<'_, W>,
    ) -> Result<Halt, Stop> {
        let is_1904 = book.has_1904_epoch();
        let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
        let formats = cells.styles().iter().map(|style| NumberFormat::of(&style.number_format.as_ref()?.format_code));
        let mut formats: Vec<_> = formats.collect();
        if formats.iter().all(Option::is_none) {
            formats.clear();
        }
        let mut text = String::new();
        for nth in 0.. {
            match cells.next_cell_with_style_id() {
                Ok(None) => break,
                Err(XlsxError::CellError(_)) => match self.odd.give(nth, self.given, rows)? {
                    true => {}
                    false => return Ok(Halt::OddError),
                },
                Err(error) => return Err(damaged(error)),
                Ok(Some(_)) if nth < self.given => rows.pass_over()?,
                Ok(Some((cell, style))) => {
                    let at = cell.get_position();
                    match cell.get_value() {
                        DataRef::Empty => match &self.blanks {
                            Blanks::Marked(uncalculated) if uncalculated.get(nth) => {
                                let at = self.odd.checked(at, nth)?;
                                rows.cell(at.0, at.1, Cell::Error(NOT_CALCULATED))?;
                            }
                            Blanks::Unmet if self.formulas.may_be_there(rows)? => {
                                return Ok(Halt::Blank { has_formats: !formats.is_empty() });
                            }
                            Blanks::Unmet => self.blanks = Blanks::Blank,
                            _ => {}
                        },
                        DataRef::Float(number) if !formats.is_empty() => {
                            let format = formats.get(style).and_then(Option::as_ref);
                            let cell = format.and_then(|format| format.cell(*number, &mut text));
                            let at = self.odd.checked(at, nth)?;
                            rows.cell(at.0, at.1, cell.unwrap_or(Cell::Number(*number)))?;
                        }
                        value => put(rows, self.odd.checked(at, nth)?, value, is_1904)?,
                    }
                }
            }
            self.given = self.given.max(nth + 1);
        }
        Ok(Halt::End)
    }

    /// The same where no format counts, with what the cells' formulas say.
    fn pass_with_formulas<W: Write>(
        &mut self,
        book: &mut Xlsx<Input>,
        name: &str,
        rows: &mut RowsOut<'_, W>,
    ) -> Result<Halt, Stop> {
        let is_1904 = book.has_1904_epoch();
        let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
        for nth in 0.. {
            match cells.next_cell_with_formula_metadata() {
                Ok(None) => break,
                Err(XlsxError::CellError(_)) => match self.odd.give(nth, self.given, rows)? {
                    true => {}
                    false => return Ok(Halt::OddError),
                },
                Err(_) => return Ok(Halt::Formula),
                Ok(Some(_)) if nth < self.given => rows.pass_over()?,
                // A formula's record is large, so it is looked at where it lies.
                Ok(Some(ref cell)) if matches!(cell.value, DataRef::Empty) => {
                    if cell.formula.is_some() {
                        rows.cell(cell.pos.0, cell.pos.1, Cell::Error(NOT_CALCULATED))?;
                    }
                }
                Ok(Some(ref cell)) => put(rows, self.odd.checked(cell.pos, nth)?, &cell.value, is_1904)?,
            }
            self.given = self.given.max(nth + 1);
        }
        Ok(Halt::End)
    }
}

/// Errors that calamine has no name for, such as `#SPILL!`. It stops at each without saying where, and can go on.
#[derive(Default)]
struct OddErrors(Vec<OddError>);

struct OddError {
    /// The cell's place among the sheet's cells, in the order in which they are stored.
    nth: u64,
    at: (u32, u32),
    text: String,
}

impl OddErrors {
    fn find<W: Write>(book: &mut Xlsx<Input>, name: &str, rows: &mut RowsOut<'_, W>) -> Result<OddErrors, Stop> {
        let mut found = Vec::new();
        let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
        for nth in 0.. {
            match cells.next_cell() {
                Ok(None) => break,
                Ok(Some(_)) => rows.pass_over()?,
                Err(XlsxError::CellError(text)) => found.push(OddError { nth, at: (0, 0), text }),
                Err(error) => return Err(damaged(error)),
            }
        }
        drop(cells);
        // Looking at formulas alone, it stops at none.
        let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
        let (mut nth, mut wanted) = (0, found.iter_mut().peekable());
        while let Some(cell) = cells.next_formula().map_err(damaged)? {
            if let Some(odd) = wanted.next_if(|odd| odd.nth == nth) {
                odd.at = cell.get_position();
            }
            rows.pass_over()?;
            nth += 1;
        }
        Ok(OddErrors(found))
    }

    /// Gives the cell at `nth`, unless it is among the `given`. False: it is none of these.
    fn give<W: Write>(&self, nth: u64, given: u64, rows: &mut RowsOut<'_, W>) -> Result<bool, Stop> {
        let Ok(place) = self.0.binary_search_by_key(&nth, |odd| odd.nth) else { return Ok(false) };
        let odd = &self.0[place];
        if nth >= given {
            rows.cell(odd.at.0, odd.at.1, Cell::Error(&odd.text))?;
        }
        Ok(true)
    }

    /// The place of the cell at `nth`. Where cells do not say their column, calamine counts one too few after an error
    /// that it stopped at.
    fn checked(&self, at: (u32, u32), nth: u64) -> Result<(u32, u32), Stop> {
        let before = self.0.partition_point(|odd| odd.nth < nth);
        match before.checked_sub(1).map(|last| &self.0[last]) {
            Some(odd) if odd.at.0 == at.0 && odd.at.1 >= at.1 => {
                Err(damaged(format!("it has the error {} in a row whose cells do not say where they are", odd.text)))
            }
            _ => Ok(at),
        }
    }
}

/// A bit for each cell, in the order in which they are stored.
#[derive(Default)]
struct Marks {
    words: Vec<u64>,
}

impl Marks {
    /// Of the formulas that were never calculated. From one that can't be followed on, none are known.
    fn uncalculated<W: Write>(book: &mut Xlsx<Input>, name: &str, rows: &mut RowsOut<'_, W>) -> Result<Marks, Stop> {
        let mut marks = Marks::default();
        let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
        for nth in 0_usize.. {
            match cells.next_cell_with_formula_metadata() {
                Ok(Some(ref cell)) if cell.formula.is_some() && matches!(cell.value, DataRef::Empty) => {
                    marks.words.resize(nth / 64 + 1, 0);
                    if let Some(word) = marks.words.get_mut(nth / 64) {
                        *word |= 1 << (nth % 64);
                    }
                }
                Ok(Some(_)) | Err(XlsxError::CellError(_)) => rows.pass_over()?,
                Ok(None) | Err(_) => break,
            }
        }
        Ok(marks)
    }

    fn get(&self, nth: u64) -> bool {
        let word = usize::try_from(nth / 64).ok().and_then(|word| self.words.get(word));
        word.is_some_and(|word| word >> (nth % 64) & 1 == 1)
    }
}

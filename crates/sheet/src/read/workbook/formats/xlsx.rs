//! Reads XLSX sheets with calamine, in one pass if possible.

use calamine::{DataRef, Style, Xlsx, XlsxError};

use super::cells::{damaged, send};
use super::formulas::Formulas;
use super::input::{Input, Source};
use crate::Cell;
use crate::cell::NOT_CALCULATED;
use crate::read::workbook::row_sender::{RowSender, Stop};
use crate::read::workbook::styles::{NumberFormat, SYSTEM_FORMAT};

/// Sends all cells of a sheet.
///
/// Calamine returns either styles or formulas with the values. A second pass is needed from the first cell without a value
/// if the workbook has formulas, because the cell may be a formula without a result, and from the first error value that
/// calamine does not know.
pub(super) fn send_sheet(
    book: &mut Xlsx<Input>,
    formulas: &mut Formulas,
    (name, archive): (&str, &Source),
    rows: &mut RowSender<'_>,
) -> Result<(), Stop> {
    let own_texts = OwnTexts { archive, sheet: name, is_read: false };
    let mut sheet =
        SheetPasses { sent: 0, unknown_errors: UnknownErrors::default(), blanks: Blanks::Unseen, formulas, own_texts };
    loop {
        let halt = match sheet.blanks {
            Blanks::ByFormula => sheet.pass_with_formulas(book, name, rows)?,
            _ => sheet.pass_with_styles(book, name, rows)?,
        };
        match halt {
            Halt::End => return Ok(()),
            Halt::UnknownError if !sheet.unknown_errors.0.is_empty() => {
                return Err(damaged("its error values are not supported"));
            }
            Halt::UnknownError => sheet.unknown_errors = UnknownErrors::find(book, name, rows)?,
            Halt::Blank { has_formats: true } => sheet.blanks = Blanks::Marked(Marks::uncalculated(book, name, rows)?),
            Halt::Blank { has_formats: false } => sheet.blanks = Blanks::ByFormula,
            // Retry without formulas: the values may be readable.
            Halt::Formula => sheet.blanks = Blanks::Blank,
        }
    }
}

/// The lowest number of formats defined in workbooks.
const FIRST_OWN_FORMAT: u32 = 164;

fn format(style: &Style) -> Option<NumberFormat> {
    let format = style.number_format.as_ref()?;
    // Calamine treats the built-in formats of other languages and currencies as the general format. LibreOffice defines the
    // general format again, as its first.
    let is_built_in = format.format_id.is_some_and(|id| (1..FIRST_OWN_FORMAT).contains(&id));
    let is_foreign = is_built_in && format.format_code == "General";
    NumberFormat::parse(if is_foreign { SYSTEM_FORMAT } else { &format.format_code })
}

/// Progress on a sheet over several passes.
struct SheetPasses<'f> {
    /// Number of cells sent.
    sent: u64,
    unknown_errors: UnknownErrors,
    blanks: Blanks,
    formulas: &'f mut Formulas,
    own_texts: OwnTexts<'f>,
}

/// The texts within the cells of a sheet. Most programs write none, and store all texts in another part.
struct OwnTexts<'f> {
    archive: &'f Source,
    sheet: &'f str,
    is_read: bool,
}

impl OwnTexts<'_> {
    /// Finds the parts of these texts before the first of them is sent.
    fn before(&mut self, value: &DataRef<'_>, rows: &mut RowSender<'_>) {
        if matches!(value, DataRef::String(_)) && !self.is_read {
            self.is_read = true;
            rows.add_rich_texts(|rich| rich.add_sheet(self.archive, self.sheet));
        }
    }
}

/// How to read cells without a value.
enum Blanks {
    /// No such cell was seen yet.
    Unseen,
    Blank,
    /// Blank, except for the marked formulas without a result.
    Marked(Marks),
    /// Blank, unless a formula. The pass reads formulas with the values.
    ByFormula,
}

/// Why a pass ended.
enum Halt {
    End,
    /// An error value unknown to calamine and not looked up yet.
    UnknownError,
    /// A cell without a value that may be a formula.
    Blank {
        has_formats: bool,
    },
    /// An unparsable formula.
    Formula,
}

impl SheetPasses<'_> {
    /// Sends the remaining cells, formatted by their number formats.
    fn pass_with_styles(&mut self, book: &mut Xlsx<Input>, name: &str, rows: &mut RowSender<'_>) -> Result<Halt, Stop> {
        let is_1904 = book.has_1904_epoch();
        let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
        let mut formats: Vec<_> = cells.styles().iter().map(format).collect();
        if formats.iter().all(Option::is_none) {
            formats.clear();
        }
        let is_struck = |style: &Style| style.font.as_ref().is_some_and(|font| font.strikethrough);
        let struck: Vec<bool> = cells.styles().iter().map(is_struck).collect();
        let has_formats = !formats.is_empty() || struck.contains(&true);
        for nth in 0.. {
            match cells.next_cell_with_style_id() {
                Ok(None) => break,
                Err(XlsxError::CellError(_)) => match self.unknown_errors.send(nth, self.sent, rows)? {
                    true => {}
                    false => return Ok(Halt::UnknownError),
                },
                Err(error) => return Err(damaged(error)),
                Ok(Some(_)) if nth < self.sent => rows.skip()?,
                Ok(Some((cell, style))) => {
                    let at = cell.get_position();
                    match cell.get_value() {
                        DataRef::Empty => match &self.blanks {
                            Blanks::Marked(uncalculated) if uncalculated.get(nth) => {
                                let at = self.unknown_errors.check_position(at, nth)?;
                                rows.cell(at.0, at.1, Cell::Error(NOT_CALCULATED))?;
                            }
                            Blanks::Unseen if self.formulas.may_exist(rows)? => {
                                return Ok(Halt::Blank { has_formats });
                            }
                            Blanks::Unseen => self.blanks = Blanks::Blank,
                            _ => {}
                        },
                        value => {
                            self.own_texts.before(value, rows);
                            let format = formats.get(style).and_then(Option::as_ref);
                            send(rows, self.unknown_errors.check_position(at, nth)?, value, format, is_1904)?;
                            if struck.get(style) == Some(&true) {
                                rows.strike(at.1);
                            }
                        }
                    }
                }
            }
            self.sent = self.sent.max(nth + 1);
        }
        Ok(Halt::End)
    }

    /// Sends the remaining cells and reads formulas. No number format of the workbook changes a value.
    fn pass_with_formulas(
        &mut self,
        book: &mut Xlsx<Input>,
        name: &str,
        rows: &mut RowSender<'_>,
    ) -> Result<Halt, Stop> {
        let is_1904 = book.has_1904_epoch();
        let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
        for nth in 0.. {
            match cells.next_cell_with_formula_metadata() {
                Ok(None) => break,
                Err(XlsxError::CellError(_)) => match self.unknown_errors.send(nth, self.sent, rows)? {
                    true => {}
                    false => return Ok(Halt::UnknownError),
                },
                Err(_) => return Ok(Halt::Formula),
                Ok(Some(_)) if nth < self.sent => rows.skip()?,
                // A reference, because a formula's record is large.
                Ok(Some(ref cell)) if matches!(cell.value, DataRef::Empty) => {
                    if cell.formula.is_some() {
                        rows.cell(cell.pos.0, cell.pos.1, Cell::Error(NOT_CALCULATED))?;
                    }
                }
                Ok(Some(ref cell)) => {
                    self.own_texts.before(&cell.value, rows);
                    send(rows, self.unknown_errors.check_position(cell.pos, nth)?, &cell.value, None, is_1904)?
                }
            }
            self.sent = self.sent.max(nth + 1);
        }
        Ok(Halt::End)
    }
}

/// Error values unknown to calamine, such as `#SPILL!`. Calamine reports no position, but can continue.
#[derive(Default)]
struct UnknownErrors(Vec<UnknownError>);

struct UnknownError {
    /// Index among the sheet's cells, in stored order.
    nth: u64,
    at: (u32, u32),
    text: String,
}

impl UnknownErrors {
    fn find(book: &mut Xlsx<Input>, name: &str, rows: &mut RowSender<'_>) -> Result<UnknownErrors, Stop> {
        let mut found = Vec::new();
        let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
        for nth in 0.. {
            match cells.next_cell() {
                Ok(None) => break,
                Ok(Some(_)) => rows.skip()?,
                Err(XlsxError::CellError(text)) => found.push(UnknownError { nth, at: (0, 0), text }),
                Err(error) => return Err(damaged(error)),
            }
        }
        drop(cells);
        // Reading only formulas, calamine returns the positions of all cells.
        let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
        let (mut nth, mut wanted) = (0, found.iter_mut().peekable());
        while let Some(cell) = cells.next_formula().map_err(damaged)? {
            if let Some(error) = wanted.next_if(|error| error.nth == nth) {
                error.at = cell.get_position();
            }
            rows.skip()?;
            nth += 1;
        }
        Ok(UnknownErrors(found))
    }

    /// Sends the error at index `nth`, unless it is among the first `sent` cells. Returns false if it was not found.
    fn send(&self, nth: u64, sent: u64, rows: &mut RowSender<'_>) -> Result<bool, Stop> {
        let Ok(index) = self.0.binary_search_by_key(&nth, |error| error.nth) else { return Ok(false) };
        let error = &self.0[index];
        if nth >= sent {
            rows.cell(error.at.0, error.at.1, Cell::Error(&error.text))?;
        }
        Ok(true)
    }

    /// Returns the position of the cell at index `nth`. If cells do not state their column, calamine miscounts after an
    /// unknown error.
    fn check_position(&self, at: (u32, u32), nth: u64) -> Result<(u32, u32), Stop> {
        let before = self.0.partition_point(|error| error.nth < nth);
        match before.checked_sub(1).map(|last| &self.0[last]) {
            Some(error) if error.at.0 == at.0 && error.at.1 >= at.1 => {
                Err(damaged(format!("a row with the error {} has cells without a position", error.text)))
            }
            _ => Ok(at),
        }
    }
}

/// A bit per cell, in stored order.
#[derive(Default)]
struct Marks {
    words: Vec<u64>,
}

impl Marks {
    /// Marks the formulas without a result, up to the first formula beyond calamine's parser.
    fn uncalculated(book: &mut Xlsx<Input>, name: &str, rows: &mut RowSender<'_>) -> Result<Marks, Stop> {
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
                Ok(Some(_)) | Err(XlsxError::CellError(_)) => rows.skip()?,
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

//! A report's rows as a workbook: marked cells with notes, states by colour, drop-downs, and a summary sheet.

use std::ops::Range;
use std::path::PathBuf;

use rust_xlsxwriter::{ConditionalFormatCell, ConditionalFormatCellRule, Format, Worksheet, XlsxError};
use sheetport_language::Language;
use sheetport_ledger::RecordState;
use sheetport_sheet::write::WholeFile;
use sheetport_sheet::write::xlsx::cell::{CellKind, XlsxCell};
use sheetport_sheet::write::xlsx::styles::{self, CellStyles};
use sheetport_sheet::write::xlsx::table::{Layout, StyledCell, Title, XlsxTable};
use sheetport_sheet::write::xlsx::text::sheet_name;
use sheetport_sheet::{Cell, Error, ReportWords};

use super::drop_downs::{add_drop_downs, add_lists};
use super::styles::{added_header, marked, note, row_height, state_color, warned, wrapped_text};
use super::summary_sheet::{self, SummarySheet};
use crate::options::Choices;

/// Maximum number of notes. Excel becomes slow with many, and each needs 10 KB of memory until the workbook is saved.
/// Further cells are coloured only.
const MAX_NOTES: usize = 4_000;
/// Widths of the columns for problems and warnings. Together with the states, they leave half of a small screen to the sheet.
const TEXT_WIDTHS: [f64; 2] = [44.0, 32.0];
/// Width of the folded columns for programs.
const FOLDED_WIDTH: f64 = 12.0;
/// The name of the sheet, and the number of the page.
const FOOTER: &str = "&L&8&A&R&8&P / &N";
/// Margins of pages in inches.
const MARGIN: f64 = 0.4;
const FOOTER_MARGIN: f64 = 0.6;
/// Names for the hidden sheet of choices. The second is used if the sheet of rows has the first.
const LIST_SHEETS: [&str; 2] = ["Lists", "Choices"];

/// The columns of a report.
#[derive(Clone, Debug)]
pub(super) struct Columns<'a> {
    /// Name of the worksheet of rows.
    pub sheet: &'a str,
    pub header: &'a [&'a str],
    /// The columns of the sheet. Added columns are in front, and folded after.
    pub original: Range<usize>,
    /// Column of states.
    pub status: usize,
    /// Columns of problems and of warnings, with wrapped text.
    pub texts: [usize; 2],
    /// Number of frozen columns.
    pub in_sight: usize,
    pub choices: &'a [Choices],
    pub words: &'a ReportWords,
    pub language: Language,
}

/// A cell with a problem or a warning, and the message.
#[derive(Clone, Debug)]
pub(super) struct Mark<'a> {
    /// Zero-based column.
    pub column: usize,
    pub note: &'a str,
    pub is_warning: bool,
}

/// Content omitted from the workbook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Omissions {
    /// Number of texts cut to the limit of a cell.
    pub cut_texts: u64,
    /// Notes beyond the limit.
    pub notes: u64,
}

pub(super) struct ReportWorkbook {
    table: XlsxTable,
    marked: CellStyles,
    warned: CellStyles,
    wrapped: Format,
    texts: [usize; 2],
    choices: Vec<Choices>,
    columns: usize,
    lists: &'static str,
    notes: usize,
    omitted_notes: u64,
}

impl ReportWorkbook {
    pub(super) fn create(file: WholeFile, columns: &Columns<'_>) -> Result<ReportWorkbook, Error> {
        ReportWorkbook::with(file, columns, XlsxTable::create)
    }

    fn with(
        file: WholeFile,
        columns: &Columns<'_>,
        create: impl FnOnce(WholeFile, Layout) -> Result<XlsxTable, Error>,
    ) -> Result<ReportWorkbook, Error> {
        let lists = free_name(LIST_SHEETS, columns.sheet);
        let (wrapped, choices) = (wrapped_text(), columns.choices.to_vec());
        Ok(ReportWorkbook {
            table: create(file, layout(columns, lists))?,
            marked: CellStyles::on(&marked()),
            warned: CellStyles::on(&warned()),
            wrapped,
            texts: columns.texts,
            choices,
            columns: columns.header.len(),
            lists,
            notes: 0,
            omitted_notes: 0,
        })
    }

    /// Writes a row. Marked cells are coloured and get a note.
    pub(super) fn row<'a>(&mut self, cells: impl Iterator<Item = Cell<'a>>, marks: &[Mark<'_>]) -> Result<(), Error> {
        let ReportWorkbook { table, marked, warned, wrapped, texts, notes, omitted_notes, .. } = self;
        let mut height: Option<f64> = None;
        let mut styled = Vec::with_capacity(self.columns);
        for (column, cell) in cells.enumerate() {
            let cell = XlsxCell::from_cell(&cell);
            let mut of_cell = marks.iter().filter(|mark| mark.column == column).peekable();
            let format = if of_cell.peek().is_some() {
                let styles = if of_cell.all(|mark| mark.is_warning) { &*warned } else { &*marked };
                // A marked blank cell gets the format of its column, or text format.
                let kind = cell.as_ref().map(|cell| cell.kind).or_else(|| table.column_kind(column));
                Some(styles.format(kind.unwrap_or(CellKind::Text)))
            } else if let Some(width) = width_of_text(texts, column)
                && let Some(text) = cell.as_ref().and_then(XlsxCell::as_text)
            {
                height = [height, row_height(text, width)].into_iter().flatten().reduce(f64::max);
                Some(&*wrapped)
            } else {
                None
            };
            styled.push(StyledCell { cell, format });
        }
        table.row(styled.into_iter(), height, |sheet, row| {
            for (column, text) in notes_by_cell(marks) {
                if *notes < MAX_NOTES {
                    sheet.insert_note(row, column, &note(&text))?;
                    *notes += 1;
                } else {
                    *omitted_notes += 1;
                }
            }
            Ok(())
        })
    }

    pub(super) fn omissions(&self) -> Omissions {
        Omissions { cut_texts: self.table.cut_texts(), notes: self.omitted_notes }
    }

    /// Adds the summary and puts the file in place.
    pub(super) fn finish(self, summary: &SummarySheet) -> Result<PathBuf, Error> {
        let ReportWorkbook { table, choices, columns, lists, .. } = self;
        let locations = table.locations();
        table.finish(|workbook| {
            summary_sheet::draw(workbook.worksheet_from_index(0)?, summary, &locations)?;
            add_lists(workbook, &choices, columns, lists)
        })
    }
}

fn layout(columns: &Columns<'_>, lists: &'static str) -> Layout {
    let (original, added) = (styles::header(), added_header());
    let is_in_sight = |column: &usize| *column < columns.in_sight;
    let title = |(column, text): (usize, &&str)| Title {
        text: (*text).to_owned(),
        format: if columns.original.contains(&column) { original.clone() } else { added.clone() },
        width: match column >= columns.original.end {
            true => Some(FOLDED_WIDTH),
            false => width_of_text(&columns.texts, column).filter(|_| is_in_sight(&column)),
        },
    };
    let (choices, width, status) = (columns.choices.to_vec(), columns.header.len(), columns.status);
    let state = |state: RecordState| (state, columns.words.state(state.name()).to_owned());
    let states = RecordState::ALL.map(state);
    let language = columns.language;
    let (in_sight, folded) = (columns.in_sight as u16, columns.original.end as u16..width as u16);
    Layout {
        name: columns.sheet.to_owned(),
        header: columns.header.iter().enumerate().map(title).collect(),
        first_sheet: Some(free_name(columns.words.summary_sheets(), columns.sheet).to_owned()),
        finish_sheet: Box::new(move |sheet, last_row| {
            arrange(sheet, in_sight, &folded)?;
            color_states(sheet, status, last_row, &states)?;
            add_drop_downs(sheet, &choices, width, last_row, lists, language)
        }),
    }
}

/// Returns the width of a column of messages.
fn width_of_text(texts: &[usize; 2], column: usize) -> Option<f64> {
    texts.iter().position(|text| *text == column).map(|place| TEXT_WIDTHS[place])
}

/// Freezes the header and the front columns, folds the columns for programs, and sets up printing. Folded columns are not
/// printed.
fn arrange(sheet: &mut Worksheet, in_sight: u16, folded: &Range<u16>) -> Result<(), XlsxError> {
    sheet.set_freeze_panes(1, in_sight)?;
    if let Some(last) = folded.end.checked_sub(1).filter(|last| *last >= folded.start) {
        sheet.group_columns_collapsed(folded.start, last)?;
    }
    sheet.set_print_gridlines(true);
    sheet.set_footer(FOOTER);
    sheet.set_margins(MARGIN, MARGIN, MARGIN, FOOTER_MARGIN, MARGIN, FOOTER_MARGIN / 2.0);
    Ok(())
}

/// Colours states by rules for the column. Rules cost nothing per row and follow edits.
fn color_states(
    sheet: &mut Worksheet,
    status: usize,
    last_row: u32,
    states: &[(RecordState, String)],
) -> Result<(), XlsxError> {
    if last_row == 0 {
        return Ok(());
    }
    for (state, word) in states {
        let rule = ConditionalFormatCell::new()
            .set_rule(ConditionalFormatCellRule::EqualTo(word.as_str()))
            .set_format(Format::new().set_background_color(state_color(*state)));
        sheet.add_conditional_format(1, status as u16, last_row, status as u16, &rule)?;
    }
    Ok(())
}

/// Returns the first name that no sheet of rows uses.
fn free_name<'n>(names: [&'n str; 2], rows: &str) -> &'n str {
    let is_taken = sheet_name(rows).to_lowercase().starts_with(&names[0].to_lowercase());
    if is_taken { names[1] } else { names[0] }
}

/// Joins the messages of each cell, because a cell has at most one note.
fn notes_by_cell(marks: &[Mark<'_>]) -> Vec<(u16, String)> {
    let mut notes: Vec<(u16, String)> = Vec::new();
    for mark in marks.iter().filter(|mark| !mark.note.is_empty()) {
        match notes.iter_mut().find(|(column, _)| usize::from(*column) == mark.column) {
            Some((_, text)) => {
                text.push('\n');
                text.push_str(mark.note);
            }
            None => notes.push((mark.column as u16, mark.note.to_owned())),
        }
    }
    notes
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

//! A table as XLSX, in the memory of one row: each row goes to a temporary file as the next one begins.
//!
//! What a workbook can't hold is not dropped in silence: a text too long is cut with a mark and counted, rows past the
//! last that a sheet can have go on in a further sheet with the header again, a table too wide is refused.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use rust_xlsxwriter::{ConditionalFormatCell, ConditionalFormatCellRule, Format, IgnoreError, Workbook, XlsxError};

use super::choices::{self, Choices};
use super::front::{self, Front, Spot};
use super::look::{self, Kind, Look};
use super::whole::{WholeFile, Written, folder};
use super::{LeftOut, Mark, Outline, Value};
use crate::sheet::{Cell, Error, FRONT_SHEETS, column_letters};

/// What Excel allows, header included.
const MAX_ROWS: u32 = 1_048_576;
const MAX_COLUMNS: usize = 16_384;
/// Excel grows slow over many notes, and each row with one takes 10 KB of memory until the workbook is saved. Past this,
/// cells at fault are still coloured.
const MAX_NOTES: usize = 4_000;
/// A sheet's columns are as wide as the values of its first rows need.
const MEASURED_ROWS: u32 = 1000;
/// What the hidden sheet of choices is called; the second where the rows are called like the first.
const LISTS: [&str; 2] = ["Lists", "Choices"];

pub struct XlsxTable {
    file: WholeFile,
    workbook: Workbook,
    look: Look,
    name: String,
    header: Vec<String>,
    own: usize,
    status: Option<usize>,
    sentences: Option<usize>,
    choices: Vec<Choices>,
    max_rows: u32,
    /// Sheets before those of rows.
    before: usize,
    /// Sheets of rows begun; the last is the one written to.
    sheets: usize,
    /// The next row of the last sheet, from 0.
    next_row: u32,
    /// On all sheets.
    notes: usize,
    left_out: LeftOut,
    /// The widest that each column of the header has had to show, in characters.
    widths: Vec<usize>,
    /// How the columns of the last sheet look, by what each had first.
    kinds: Vec<Option<Kind>>,
    /// A writer that panicked half-way is not to be used again.
    broken: bool,
}

impl XlsxTable {
    pub fn create(file: WholeFile, sheet: &str, header: &[&str]) -> Result<XlsxTable, Error> {
        XlsxTable::outlined(file, &Outline { sheet, header, own: header.len(), ..Outline::default() })
    }

    pub fn outlined(file: WholeFile, outline: &Outline<'_>) -> Result<XlsxTable, Error> {
        XlsxTable::with_max_rows(file, outline, MAX_ROWS)
    }

    fn with_max_rows(file: WholeFile, outline: &Outline<'_>, max_rows: u32) -> Result<XlsxTable, Error> {
        let path = file.path().to_owned();
        let mut workbook = Workbook::new();
        workbook.set_zip_compression_level(1);
        // Rows wait beside the file, where the person expects room to be needed, rather than in the system's folder.
        workbook.set_tempdir(folder(&path)).map_err(|error| failed(&path, error))?;
        let header = outline.header;
        let mut table = XlsxTable {
            file,
            workbook,
            look: Look::default(),
            name: look::sheet_name(outline.sheet),
            header: header.iter().map(|name| (*name).to_owned()).collect(),
            own: outline.own,
            status: outline.status,
            sentences: outline.sentences,
            choices: outline.choices.to_vec(),
            max_rows,
            before: usize::from(outline.has_front),
            sheets: 0,
            next_row: 0,
            notes: 0,
            left_out: LeftOut::default(),
            widths: header.iter().map(|title| look::title_width(title)).collect(),
            kinds: Vec::new(),
            broken: false,
        };
        table.check_width(header.len())?;
        table.guarded(|table| {
            if outline.has_front {
                let name = other_name(FRONT_SHEETS, &table.name);
                table.workbook.add_worksheet().set_name(name)?;
            }
            table.begin_sheet()
        })?;
        Ok(table)
    }

    pub fn row(&mut self, cells: &[Cell<'_>], marks: &[Mark<'_>]) -> Result<(), Error> {
        let widest = marks.iter().map(|mark| mark.column + 1).max().unwrap_or(0);
        self.check_width(cells.len().max(widest))?;
        self.guarded(|table| {
            table.make_room()?;
            table.write_row(cells, marks)
        })
    }

    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    pub fn values(&mut self, values: &[Value<'_>]) -> Result<(), Error> {
        self.check_width(values.len())?;
        self.guarded(|table| {
            table.make_room()?;
            table.write_values(values)
        })
    }

    /// Puts the file in place. `front` goes on the sheet that was kept free for it.
    pub fn finish(mut self, front: Option<&Front>) -> Result<PathBuf, Error> {
        if let Some(front) = front.filter(|_| self.before > 0) {
            self.guarded(|table| table.write_front(front))?;
        }
        self.save()?;
        self.file.finish()
    }

    /// As [`XlsxTable::finish`], under another name in the same folder.
    pub fn finish_as(mut self, path: PathBuf) -> Result<Written, Error> {
        self.save()?;
        self.file.rename(path);
        self.file.finish_digested()
    }

    fn save(&mut self) -> Result<(), Error> {
        self.guarded(|table| {
            table.end_sheet()?;
            let lists = other_name(LISTS, &table.name);
            choices::add_lists(&mut table.workbook, &table.choices, table.header.len(), lists)?;
            table.workbook.save_to_writer(&mut table.file)
        })
    }

    fn write_front(&mut self, front: &Front) -> Result<(), XlsxError> {
        let rows = u64::from(self.max_rows - 1).max(1);
        let name = self.name.clone();
        let link = |spot: &Spot| {
            let sheet = usize::try_from(spot.row / rows).unwrap_or(usize::MAX - 1) + 1;
            let sheet = look::numbered_sheet_name(&name, sheet).replace('\'', "''");
            format!("'{sheet}'!{}{}", column_letters(spot.column), spot.row % rows + 2)
        };
        let sheet = self.workbook.worksheet_from_index(0)?;
        front::draw(sheet, front, link)
    }

    /// Begins the next sheet when the last one is full.
    fn make_room(&mut self) -> Result<(), XlsxError> {
        if self.next_row == self.max_rows {
            self.end_sheet()?;
            self.begin_sheet()?;
        }
        Ok(())
    }

    fn begin_sheet(&mut self) -> Result<(), XlsxError> {
        self.sheets += 1;
        self.next_row = 0;
        let name = look::numbered_sheet_name(&self.name, self.sheets);
        let sheet = self.workbook.add_worksheet_with_constant_memory()?;
        sheet.set_name(name)?;
        sheet.set_freeze_panes(1, 0)?;
        // On paper: all columns on one page across, the header on every page.
        sheet.set_landscape();
        sheet.set_paper_size(9);
        sheet.set_print_fit_to_pages(1, 0);
        sheet.set_repeat_rows(0, 0)?;
        for (column, title) in self.header.iter().enumerate() {
            let format = if column < self.own { &self.look.header } else { &self.look.our_header };
            sheet.write_string_with_format(0, column as u16, look::cut(title), format)?;
        }
        self.next_row = 1;
        self.kinds = vec![None; self.header.len()];
        Ok(())
    }

    fn end_sheet(&mut self) -> Result<(), XlsxError> {
        let (last_row, columns) = (self.next_row.saturating_sub(1), self.header.len());
        let lists = other_name(LISTS, &self.name);
        let sheet = self.workbook.worksheet_from_index(self.before + self.sheets.saturating_sub(1))?;
        for (column, width) in self.widths.iter().enumerate() {
            let width = if self.sentences == Some(column) { look::sentence_width() } else { look::width(*width) };
            sheet.set_column_width(column as u16, width)?;
        }
        if let Some(last_column) = columns.checked_sub(1) {
            let last_column = last_column as u16;
            sheet.autofilter(0, 0, last_row, last_column)?;
            // Identifiers are text on purpose; Excel would put a green corner on each.
            sheet.ignore_error_range(0, 0, last_row, last_column, IgnoreError::NumberStoredAsText)?;
        }
        if let Some(status) = self.status.filter(|_| last_row > 0) {
            // By rules for the column rather than by cells: it costs nothing a row, and a mended word changes its colour.
            for (state, tone) in look::TONES {
                let rule = ConditionalFormatCell::new()
                    .set_rule(ConditionalFormatCellRule::EqualTo(state))
                    .set_format(Format::new().set_background_color(tone));
                sheet.add_conditional_format(1, status as u16, last_row, status as u16, &rule)?;
            }
        }
        choices::offer(sheet, &self.choices, columns, last_row, lists)
    }

    fn write_values(&mut self, values: &[Value<'_>]) -> Result<(), XlsxError> {
        let row = self.next_row;
        self.next_row += 1;
        if row <= MEASURED_ROWS {
            for (widest, value) in self.widths.iter_mut().zip(values) {
                *widest = look::value_width(value).max(*widest);
            }
        }
        let sheet = self.workbook.worksheet_from_index(self.before + self.sheets.saturating_sub(1))?;
        if row == 1 {
            self.kinds = values.iter().map(look::kind).collect();
            for (column, kind) in (0..).zip(&self.kinds) {
                if let Some(kind) = kind {
                    sheet.set_column_format(column, self.look.format(*kind))?;
                }
            }
        }
        for (column, value) in (0_u16..).zip(values) {
            let kind = self.kinds.get(usize::from(column)).copied().flatten();
            self.left_out.cut += u64::from(self.look.write_value(sheet, row, column, value, kind)?);
        }
        Ok(())
    }

    fn write_row(&mut self, cells: &[Cell<'_>], marks: &[Mark<'_>]) -> Result<(), XlsxError> {
        let row = self.next_row;
        self.next_row += 1;
        let is_measured = row <= MEASURED_ROWS;
        let sheet = self.workbook.worksheet_from_index(self.before + self.sheets.saturating_sub(1))?;
        for (column, cell) in cells.iter().enumerate() {
            if is_measured && let Some(widest) = self.widths.get_mut(column) {
                *widest = look::cell_width(cell).max(*widest);
            }
            let place = column as u16;
            let is_marked = !marks.is_empty() && marks.iter().any(|mark| mark.column == column);
            let format = match look::cell_kind(cell) {
                None if is_marked => Some(self.look.missing(self.kinds.get(column).copied().flatten())),
                Some(_) if is_marked => self.look.of(cell, true),
                None => continue,
                Some(_) if self.sentences == Some(column) => Some(&self.look.sentence),
                Some(kind) => match self.kinds.get_mut(column) {
                    // A cell of its column's kind needs no look of its own, which would take a third of the time.
                    Some(Some(known)) if *known == kind => None,
                    Some(unknown @ None) => {
                        *unknown = Some(kind);
                        sheet.set_column_format(place, self.look.format(kind))?;
                        None
                    }
                    _ => Some(self.look.format(kind)),
                },
            };
            self.left_out.cut += u64::from(look::write(sheet, row, place, cell, format)?);
        }
        if let Some(Cell::Text(text)) = self.sentences.and_then(|column| cells.get(column))
            && let Some(height) = look::height(text, look::sentence_width())
        {
            sheet.set_row_height(row, height)?;
        }
        for mark in marks.iter().filter(|mark| mark.column >= cells.len()) {
            look::write(sheet, row, mark.column as u16, &Cell::Blank, self.look.of(&Cell::Blank, true))?;
        }
        for (column, text) in notes_by_cell(marks) {
            if self.notes < MAX_NOTES {
                sheet.insert_note(row, column, &look::note(&text))?;
                self.notes += 1;
            } else {
                self.left_out.notes += 1;
            }
        }
        Ok(())
    }

    fn check_width(&self, columns: usize) -> Result<(), Error> {
        if columns <= MAX_COLUMNS {
            return Ok(());
        }
        let reason = format!("a workbook has room for {MAX_COLUMNS} columns, not {columns}; write it as .csv");
        Err(Error::Unwritable { path: self.file.path().to_owned(), reason })
    }

    /// Runs `work`, whose library panics when its temporary file can't be written, as on a full disk.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut XlsxTable) -> Result<T, XlsxError>) -> Result<T, Error> {
        if !self.broken {
            match catch_unwind(AssertUnwindSafe(|| work(self))) {
                Ok(outcome) => return outcome.map_err(|error| failed(self.file.path(), error)),
                Err(_) => self.broken = true,
            }
        }
        let source = std::io::Error::other("its rows could not be kept; the disk may be full");
        Err(Error::Write { path: self.file.path().to_owned(), source })
    }
}

/// The first of the names that the sheets of rows, called `taken`, are not called.
fn other_name(names: [&'static str; 2], taken: &str) -> &'static str {
    let begins_so = |name: &str| taken.to_lowercase().starts_with(&name.to_lowercase());
    if begins_so(names[0]) { names[1] } else { names[0] }
}

/// A cell has one note, with all that is said of it, a line each.
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

fn failed(path: &Path, error: XlsxError) -> Error {
    match error {
        XlsxError::IoError(source) => Error::Write { path: path.to_owned(), source },
        error => Error::Unwritable { path: path.to_owned(), reason: error.to_string() },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::{Existing, MAX_CHOICES, ProblemLine};
    use super::*;
    use crate::sheet::{Options, Row, open};

    fn table(folder: &Path, max_rows: u32) -> XlsxTable {
        let file = WholeFile::create(&folder.join("out.xlsx"), Existing::Keep).unwrap();
        let outline = Outline { sheet: "Items", header: &["SKU", "Name"], own: 2, ..Outline::default() };
        XlsxTable::with_max_rows(file, &outline, max_rows).unwrap()
    }

    fn holds(path: &Path, part: &str) -> bool {
        // The archive's directory has the names of its parts as they are.
        std::fs::read(path).unwrap().windows(part.len()).any(|window| window == part.as_bytes())
    }

    #[test]
    fn rows_past_a_sheet_s_last_go_on_in_the_next_with_the_header_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = table(folder.path(), 3);
        for number in 1..=5 {
            table.row(&[Cell::Number(f64::from(number))], &[Mark { column: 0, note: "odd" }]).unwrap();
        }
        let path = table.finish(None).unwrap();
        assert!(holds(&path, "xl/comments3.xml"));

        let book = open(&path, &Options::default()).unwrap();
        assert_eq!(book.sheets(), ["Items", "Items 2", "Items 3"]);
        for (sheet, numbers) in [(0, &[1.0, 2.0][..]), (1, &[3.0, 4.0]), (2, &[5.0])] {
            let mut rows = book.rows(sheet).unwrap();
            let mut row = Row::default();
            assert!(rows.next(&mut row).unwrap());
            assert_eq!(row.get(0), Cell::Text("SKU"));
            for number in numbers {
                assert!(rows.next(&mut row).unwrap());
                assert_eq!(row.get(0), Cell::Number(*number));
            }
            assert!(!rows.next(&mut row).unwrap());
        }
    }

    #[test]
    fn links_and_choices_go_to_the_right_sheet_of_several() {
        let folder = tempfile::tempdir().unwrap();
        let file = WholeFile::create(&folder.path().join("out.xlsx"), Existing::Keep).unwrap();
        let values = vec!["a".to_owned(), "b".to_owned()];
        let choices = [
            Choices { column: 1, count: 2, values, is_closed: true },
            Choices { column: 0, count: MAX_CHOICES + 1, values: Vec::new(), is_closed: true },
        ];
        let outline = Outline {
            sheet: "It's",
            header: &["SKU", "Name"],
            own: 2,
            has_front: true,
            choices: &choices,
            ..Outline::default()
        };
        let mut table = XlsxTable::with_max_rows(file, &outline, 3).unwrap();
        (0..5).for_each(|_| table.row(&[Cell::Text("0042")], &[]).unwrap());
        let spot = |row, column| Spot { label: format!("row {row}"), row, column };
        let line = ProblemLine {
            count: 3,
            place: "SKU".to_owned(),
            words: "wrong".to_owned(),
            remedy: String::new(),
            spots: vec![spot(0, 0), spot(1, 1), spot(2, 0), spot(4, 1)],
        };
        let front = Front { problems: vec![line], ..Front::default() };
        let path = table.finish(Some(&front)).unwrap();
        let book = open(&path, &Options::default()).unwrap();
        assert_eq!(book.sheets(), ["Summary", "It's", "It's 2", "It's 3", "Lists"]);
        let mut archive = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
        let mut part = |name: &str| std::io::read_to_string(archive.by_name(name).unwrap()).unwrap();
        let first = part("xl/worksheets/sheet1.xml");
        for link in ["&apos;It&apos;&apos;s&apos;!A2", "&apos;It&apos;&apos;s&apos;!B3"] {
            assert!(first.replace('\'', "&apos;").contains(link), "{link}: {first}");
        }
        for link in ["'It''s 2'!A2", "'It''s 3'!B2"] {
            assert!(first.replace("&apos;", "'").contains(link), "{link}: {first}");
        }
        for (sheet, range) in [(2, "B2:B3"), (3, "B2:B3"), (4, "B2")] {
            let rows = part(&format!("xl/worksheets/sheet{sheet}.xml"));
            assert!(rows.contains(&format!("sqref=\"{range}\"><formula1>'Lists'!$A$1:$A$2<")), "{rows}");
            assert_eq!(rows.matches("<dataValidation ").count(), 1);
        }
    }

    #[test]
    fn our_sheets_give_way_to_the_person_s() {
        for (rows, names) in [("Summary", ["Report", "Summary", "Lists"]), ("lists", ["Summary", "lists", "Choices"])] {
            let folder = tempfile::tempdir().unwrap();
            let file = WholeFile::create(&folder.path().join("out.xlsx"), Existing::Keep).unwrap();
            let choices = [Choices { column: 0, count: 1, values: vec!["a".to_owned()], is_closed: true }];
            let outline =
                Outline { sheet: rows, header: &["SKU"], has_front: true, choices: &choices, ..Outline::default() };
            let path = XlsxTable::outlined(file, &outline).unwrap().finish(Some(&Front::default())).unwrap();
            assert_eq!(open(&path, &Options::default()).unwrap().sheets(), names);
        }
    }

    #[test]
    fn notes_on_a_cell_are_joined_and_a_mark_without_words_has_none() {
        let marks = [
            Mark { column: 2, note: "one" },
            Mark { column: 0, note: "" },
            Mark { column: 2, note: "two" },
            Mark { column: 1, note: "three" },
        ];
        assert_eq!(notes_by_cell(&marks), [(2, "one\ntwo".to_owned()), (1, "three".to_owned())]);
    }

    #[test]
    fn notes_end_where_excel_would_grow_slow_and_rows_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = table(folder.path(), MAX_ROWS);
        table.notes = MAX_NOTES;
        table.row(&[Cell::Text("0042")], &[Mark { column: 0, note: "odd" }]).unwrap();
        assert_eq!(table.left_out(), LeftOut { cut: 0, notes: 1 });
        let path = table.finish(None).unwrap();
        assert!(!holds(&path, "xl/comments1.xml"));
        let book = open(&path, &Options::default()).unwrap();
        let (mut rows, mut row) = (book.rows(0).unwrap(), Row::default());
        while rows.next(&mut row).unwrap() {}
        assert_eq!(row.number, 2);
    }

    #[test]
    fn values_keep_their_kinds_whatever_the_first_row_of_a_column_held() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = table(folder.path(), 3);
        let at = jiff::civil::DateTime::constant(2026, 1, 2, 3, 4, 5, 60_000_000);
        let rows = [
            [Value::Text("0042".into()), Value::Number("1.50")],
            [Value::Number("12345678901234567"), Value::Text("x".into())],
            [Value::DateTime { at, text: "2026-01-02T03:04:05.060Z" }, Value::Boolean(true)],
            [Value::Text("0043".into()), Value::Number("1e3")],
        ];
        rows.iter().for_each(|row| table.values(row).unwrap());
        let path = table.finish_as(folder.path().join("other.xlsx")).unwrap().path;
        let book = open(&path, &Options::default()).unwrap();
        let mut found = Vec::new();
        for sheet in 0..2 {
            let (mut rows, mut row) = (book.rows(sheet).unwrap(), Row::default());
            while rows.next(&mut row).unwrap() {
                found.push(row.cells().map(|cell| format!("{cell:?}")).collect::<Vec<_>>().join(" "));
            }
        }
        assert_eq!(
            found,
            [
                "Text(\"SKU\") Text(\"Name\")",
                "Text(\"0042\") Number(1.5)",
                "Text(\"12345678901234567\") Text(\"x\")",
                "Text(\"SKU\") Text(\"Name\")",
                "DateTime(2026-01-02T03:04:05.06) Boolean(true)",
                "Text(\"0043\") Number(1000.0)",
            ]
        );
    }

    #[test]
    fn a_table_without_columns_or_rows_is_a_workbook_too() {
        let folder = tempfile::tempdir().unwrap();
        let file = WholeFile::create(&folder.path().join("out.xlsx"), Existing::Keep).unwrap();
        let path = XlsxTable::create(file, "", &[]).unwrap().finish(None).unwrap();
        assert_eq!(open(&path, &Options::default()).unwrap().sheets(), ["Sheet"]);
    }
}

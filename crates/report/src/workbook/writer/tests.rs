//! Written workbooks, read back.

use std::path::{Path, PathBuf};

use sheetport_sheet::write::Existing;
use sheetport_sheet::{Options, Row, open};

use super::super::summary_sheet::{CellLink, ProblemLine};
use super::*;
use crate::options::MAX_CHOICES;

const HEADER: [&str; 2] = ["SKU", "Name"];

/// The columns of a sheet without those of a report.
fn columns<'a>(header: &'a [&'a str]) -> Columns<'a> {
    let (original, words, language) = (0..header.len(), ReportWords::of(None), Language::default());
    Columns { sheet: "Items", header, original, status: 9, texts: [9, 9], in_sight: 0, choices: &[], words, language }
}

fn create(folder: &Path, columns: &Columns<'_>, max_rows: u32) -> ReportWorkbook {
    let file = WholeFile::create(&folder.join("out.xlsx"), Existing::Keep).unwrap();
    ReportWorkbook::with(file, columns, |file, layout| XlsxTable::with_max_rows(file, layout, max_rows)).unwrap()
}

fn part(path: &Path, name: &str) -> Option<String> {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    archive.by_name(name).ok().map(|part| std::io::read_to_string(part).unwrap())
}

/// Rows of a sheet as `number: cell|cell`.
fn rows(path: &Path, sheet: usize) -> Vec<String> {
    let (mut rows, mut row) = (open(path, &Options::default()).unwrap().rows(sheet).unwrap(), Row::default());
    let mut lines = Vec::new();
    while rows.next(&mut row).unwrap() {
        let cells: Vec<_> = row.cells().map(|cell| cell.shown().into_owned()).collect();
        lines.push(format!("{}: {}", row.number, cells.join("|")));
    }
    lines
}

fn finish(workbook: ReportWorkbook) -> PathBuf {
    workbook.finish(&SummarySheet::default()).unwrap()
}

#[test]
fn cells_of_every_kind_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let header = ["SKU", "Name", "Price", "Day"];
    let mut workbook = create(folder.path(), &columns(&header), 100);
    let (day, time) = (jiff::civil::date(2025, 10, 13), jiff::civil::time(9, 30, 0, 0));
    let mark = Mark { column: 1, note: "unknown unit", is_warning: false };
    let cells = [Cell::Text("0042"), Cell::Text("=1+1"), Cell::Number(-1.5), Cell::Date(day)];
    workbook.row(cells.into_iter(), &[mark]).unwrap();
    let cells = [Cell::Text(" \u{1}_x0041_\r\n\"ä\";,"), Cell::Blank, Cell::Boolean(true)];
    workbook.row(cells.into_iter(), &[]).unwrap();
    let marks =
        [Mark { column: 3, note: "one", is_warning: false }, Mark { column: 3, note: "two", is_warning: false }];
    let cells = [Cell::Error("#N/A"), Cell::Time(time), Cell::DateTime(day.to_datetime(time)), Cell::Blank];
    workbook.row(cells.into_iter(), &marks).unwrap();
    let path = finish(workbook);
    assert_eq!(open(&path, &Options::default()).unwrap().sheets(), ["Summary", "Items"]);
    assert_eq!(
        rows(&path, 1),
        [
            "1: SKU|Name|Price|Day",
            "2: 0042|=1+1|-1.5|2025-10-13",
            "3:  \u{1}_x0041_\r\n\"ä\";,||TRUE",
            "4: #N/A|09:30:00|2025-10-13T09:30:00",
        ]
    );
}

#[test]
fn percentages_are_read_back_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let cells = [0.19, -0.005, 0.1 + 0.2, 1e-20].map(Cell::Percent);
    let mut workbook = create(folder.path(), &columns(&["a", "b", "c", "d"]), 100);
    workbook.row(cells.into_iter(), &[Mark { column: 1, note: "odd", is_warning: false }]).unwrap();
    let path = finish(workbook);
    let (mut rows, mut row) = (open(&path, &Options::default()).unwrap().rows(1).unwrap(), Row::default());
    assert!(rows.next(&mut row).unwrap() && rows.next(&mut row).unwrap());
    assert!(row.cells().eq(cells), "{row:?}");
}

#[test]
fn text_longer_than_a_cell_is_cut_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut workbook = create(folder.path(), &columns(&["Text"]), 100);
    workbook.row([Cell::Text(&"ä".repeat(40_000))].into_iter(), &[]).unwrap();
    assert_eq!(workbook.omissions(), Omissions { cut_texts: 1, notes: 0 });
    let lines = rows(&finish(workbook), 1);
    assert!(lines[1].ends_with("ä… [cut]"));
    assert_eq!(lines[1].strip_prefix("2: ").unwrap().chars().count(), 32_767);
}

#[test]
fn a_row_wider_than_a_workbook_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut workbook = create(folder.path(), &columns(&HEADER), 100);
    let wide = vec![Cell::Blank; 16_385];
    assert!(matches!(workbook.row(wide.into_iter(), &[]), Err(Error::Unwritable { .. })));
}

#[test]
fn rows_continue_on_further_sheets_with_their_notes() {
    let folder = tempfile::tempdir().unwrap();
    let mut workbook = create(folder.path(), &columns(&HEADER), 3);
    for number in 1..=5 {
        workbook
            .row([Cell::Number(f64::from(number))].into_iter(), &[Mark { column: 0, note: "odd", is_warning: false }])
            .unwrap();
    }
    let path = finish(workbook);
    assert!(part(&path, "xl/comments3.xml").is_some());
    assert_eq!(open(&path, &Options::default()).unwrap().sheets(), ["Summary", "Items", "Items 2", "Items 3"]);
    assert_eq!(rows(&path, 3), ["1: SKU|Name", "2: 5"]);
}

#[test]
fn links_and_choices_refer_to_the_right_sheet() {
    let folder = tempfile::tempdir().unwrap();
    let values = vec!["a".to_owned(), "b".to_owned()];
    let choices = [
        Choices { column: 1, count: 2, values, is_closed: true },
        Choices { column: 0, count: MAX_CHOICES + 1, values: Vec::new(), is_closed: true },
    ];
    let mut workbook = create(folder.path(), &Columns { sheet: "It's", choices: &choices, ..columns(&HEADER) }, 3);
    (0..5).for_each(|_| workbook.row([Cell::Text("0042")].into_iter(), &[]).unwrap());
    let link = |row, column| CellLink { label: format!("row {row}"), row, column };
    let line = ProblemLine {
        count: 3,
        place: "SKU".to_owned(),
        words: "wrong".to_owned(),
        remedy: String::new(),
        links: vec![link(0, 0), link(1, 1), link(2, 0), link(4, 1)],
    };
    let path = workbook.finish(&SummarySheet { problems: vec![line], ..SummarySheet::default() }).unwrap();
    let book = open(&path, &Options::default()).unwrap();
    assert_eq!(book.sheets(), ["Summary", "It's", "It's 2", "It's 3", "Lists"]);
    let first = part(&path, "xl/worksheets/sheet1.xml").unwrap().replace("&apos;", "'");
    for link in ["'It''s'!A2", "'It''s'!B3", "'It''s 2'!A2", "'It''s 3'!B2"] {
        assert!(first.contains(link), "{link}: {first}");
    }
    for (sheet, range) in [(2, "B2:B3"), (3, "B2:B3"), (4, "B2")] {
        let rows = part(&path, &format!("xl/worksheets/sheet{sheet}.xml")).unwrap();
        assert!(rows.contains(&format!("sqref=\"{range}\"><formula1>'Lists'!$A$1:$A$2<")), "{rows}");
        assert_eq!(rows.matches("<dataValidation ").count(), 1);
    }
}

#[test]
fn added_sheets_avoid_the_name_of_the_rows() {
    for (rows, names) in [("Summary", ["Report", "Summary", "Lists"]), ("lists", ["Summary", "lists", "Choices"])] {
        let folder = tempfile::tempdir().unwrap();
        let choices = [Choices { column: 0, count: 1, values: vec!["a".to_owned()], is_closed: true }];
        let path = finish(create(folder.path(), &Columns { sheet: rows, choices: &choices, ..columns(&HEADER) }, 100));
        assert_eq!(open(&path, &Options::default()).unwrap().sheets(), names);
    }
}

#[test]
fn notes_are_joined_per_cell_and_empty_ones_left_out() {
    let marks = [
        Mark { column: 2, note: "one", is_warning: false },
        Mark { column: 0, note: "", is_warning: false },
        Mark { column: 2, note: "two", is_warning: false },
        Mark { column: 1, note: "three", is_warning: false },
    ];
    assert_eq!(notes_by_cell(&marks), [(2, "one\ntwo".to_owned()), (1, "three".to_owned())]);
}

#[test]
fn notes_beyond_the_limit_are_counted_and_rows_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut workbook = create(folder.path(), &columns(&HEADER), 100);
    workbook.notes = MAX_NOTES;
    workbook.row([Cell::Text("0042")].into_iter(), &[Mark { column: 0, note: "odd", is_warning: false }]).unwrap();
    assert_eq!(workbook.omissions(), Omissions { cut_texts: 0, notes: 1 });
    let path = finish(workbook);
    assert!(part(&path, "xl/comments1.xml").is_none());
    assert_eq!(rows(&path, 1).len(), 2);
}

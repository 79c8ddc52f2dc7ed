//! Tables of our own, written and read back.

use std::fs;
use std::path::{Path, PathBuf};

use sheetport::sheet::write::{Existing, Format, Mark, Outline, Table, WholeFile, restore};
use sheetport::sheet::{Cell, Error, Row};
use tempfile::TempDir;

use super::{file, folder, read, rows};

const HEADER: [&str; 4] = ["SKU", "Name", "Price", "Day"];
const OUTLINE: Outline<'_> = Outline {
    sheet: "Items",
    header: &HEADER,
    own: HEADER.len(),
    status: None,
    sentences: None,
    choices: &[],
    has_front: false,
    has_bom: false,
};

fn day() -> jiff::civil::Date {
    jiff::civil::date(2025, 10, 13)
}

fn write(path: &Path, existing: Existing) -> Result<PathBuf, Error> {
    let mut table = Table::create(path, Format::of(path).unwrap(), existing, &OUTLINE)?;
    let time = jiff::civil::time(9, 30, 0, 0);
    let mark = Mark { column: 1, note: "unknown unit" };
    table.row([Cell::Text("0042"), Cell::Text("=1+1"), Cell::Number(-1.5), Cell::Date(day())], &[mark])?;
    table.row([Cell::Text(" \u{1}_x0041_\r\n\"ä\";,"), Cell::Blank, Cell::Boolean(true)], &[])?;
    let marks = [Mark { column: 3, note: "one" }, Mark { column: 3, note: "two" }, Mark { column: 6, note: "" }];
    table.row([Cell::Error("#N/A"), Cell::Time(time), Cell::DateTime(day().to_datetime(time))], &marks)?;
    table.finish(None)
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_workbook_is_read_back_as_it_was_written() {
    let folder = folder();
    let path = write(&folder.path().join("out.xlsx"), Existing::Keep).unwrap();
    assert_eq!(names(&folder), ["out.xlsx"]);
    let book = read(&path).unwrap();
    assert_eq!(book.sheets(), ["Items"]);
    let (lines, error) = rows(&book, 0);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(
        lines,
        [
            "1: SKU|Name|Price|Day",
            "2: 0042|=1+1|-1.5|2025-10-13",
            "3:  \u{1}_x0041_\r\n\"ä\";,||TRUE",
            "4: #N/A|09:30:00|2025-10-13T09:30:00",
        ]
    );
}

#[test]
fn percentages_are_read_back_as_such_from_a_workbook_and_as_shown_from_a_csv() {
    let folder = folder();
    let cells = [0.19, -0.005, 0.1 + 0.2, 1e-20].map(Cell::Percent);
    let write = |name: &str| {
        let path = folder.path().join(name);
        let mut table = Table::create(&path, Format::of(&path).unwrap(), Existing::Keep, &OUTLINE).unwrap();
        table.row(cells, &[Mark { column: 1, note: "odd" }]).unwrap();
        table.finish(None).unwrap()
    };
    let book = read(&write("out.xlsx")).unwrap();
    let (mut rows, mut row) = (book.rows(0).unwrap(), Row::default());
    assert!(rows.next(&mut row).unwrap() && rows.next(&mut row).unwrap());
    assert!(row.cells().eq(cells), "{row:?}");
    let text = fs::read_to_string(write("out.csv")).unwrap();
    assert_eq!(text, "SKU,Name,Price,Day\r\n19%,-0.5%,30%,0.000000000000000001%\r\n");
}

#[test]
fn a_csv_is_read_back_with_its_formulas_defused() {
    let folder = folder();
    let path = write(&folder.path().join("out.csv"), Existing::Keep).unwrap();
    assert_eq!(names(&folder), ["out.csv"]);
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "SKU,Name,Price,Day\r\n0042,'=1+1,-1.5,2025-10-13\r\n\" \u{1}_x0041_\r\n\"\"ä\"\";,\",,TRUE,\r\n\
         #N/A,09:30:00,2025-10-13T09:30:00,\r\n"
    );
    let (lines, _) = rows(&read(&path).unwrap(), 0);
    assert_eq!(lines[1], "2: 0042|'=1+1|-1.5|2025-10-13");
    assert_eq!(restore("'=1+1"), "=1+1");
}

#[test]
fn a_file_that_is_there_is_kept_or_replaced_as_told() {
    for name in ["out.csv", "out.xlsx"] {
        let folder = folder();
        let path = file(&folder, name, "mine");
        assert!(matches!(write(&path, Existing::Keep), Err(Error::Exists { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        write(&path, Existing::Replace).unwrap();
        assert_ne!(fs::read(&path).unwrap(), b"mine");
        assert_eq!(names(&folder), [name]);
    }
}

#[test]
fn a_file_that_appears_meanwhile_is_kept() {
    let folder = folder();
    let path = folder.path().join("out.csv");
    let mut table = Table::create(&path, Format::Csv, Existing::Keep, &OUTLINE).unwrap();
    table.row([Cell::Text("a")], &[]).unwrap();
    fs::write(&path, "mine").unwrap();
    assert!(matches!(table.finish(None), Err(Error::Exists { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    assert_eq!(names(&folder), ["out.csv"]);
}

#[test]
fn a_table_that_is_dropped_leaves_nothing() {
    for name in ["out.csv", "out.xlsx"] {
        let folder = folder();
        let path = folder.path().join(name);
        let mut table = Table::create(&path, Format::of(&path).unwrap(), Existing::Replace, &OUTLINE).unwrap();
        table.row([Cell::Text("a")], &[]).unwrap();
        assert!(!path.exists());
        drop(table);
        assert_eq!(names(&folder), [""; 0]);
    }
}

#[test]
fn a_place_that_can_t_be_written_is_told_at_once() {
    let folder = folder();
    let create = |path: &Path| Table::create(path, Format::Csv, Existing::Replace, &OUTLINE).err();
    assert!(matches!(create(&folder.path().join("none/out.csv")), Some(Error::Write { .. })));
    assert!(matches!(create(folder.path()), Some(Error::Unwritable { .. })));
}

#[test]
fn a_table_wider_than_a_workbook_is_refused() {
    let folder = folder();
    let path = folder.path().join("out.xlsx");
    let mut table = Table::create(&path, Format::Xlsx, Existing::Replace, &OUTLINE).unwrap();
    let wide = vec![Cell::Blank; 16_385];
    assert!(matches!(table.row(wide, &[]), Err(Error::Unwritable { .. })));
}

#[test]
fn text_longer_than_a_cell_is_cut_with_a_mark() {
    let folder = folder();
    let path = folder.path().join("out.xlsx");
    let mut table =
        Table::create(&path, Format::Xlsx, Existing::Replace, &Outline { header: &["Text"], ..OUTLINE }).unwrap();
    table.row([Cell::Text(&"ä".repeat(40_000))], &[]).unwrap();
    table.finish(None).unwrap();
    let (lines, _) = rows(&read(&path).unwrap(), 0);
    assert!(lines[1].ends_with("ä… [cut]"));
    assert_eq!(lines[1].strip_prefix("2: ").unwrap().chars().count(), 32_767);
}

#[test]
#[cfg(unix)]
fn others_may_read_a_finished_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let path = WholeFile::create(&folder.path().join("a"), Existing::Keep).unwrap().finish().unwrap();
    // Under any usual umask the owner may read and write, and nobody may run it.
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o711, 0o600);
}

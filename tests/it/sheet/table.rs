//! Written tables: files appear complete or not at all, and are read back as they were.

use std::fs;
use std::path::{Path, PathBuf};

use sheetport_sheet::Error;
use sheetport_sheet::write::{Existing, FileFormat, Style, Value, ValueTable, WholeFile, restore};
use tempfile::TempDir;

use super::{file, folder, read, rows};

const NAMES: [&str; 2] = ["out.csv", "out.xlsx"];

fn create(path: &Path) -> Result<ValueTable, Error> {
    let header = ["SKU", "Name", "Price"].map(str::to_owned);
    ValueTable::create(path, FileFormat::of(path).unwrap(), Style::default(), "Items", &header)
}

fn write(path: &Path) -> Result<PathBuf, Error> {
    let mut table = create(path)?;
    table.row(&[Value::Text("0042".into()), Value::Text("=1+1".into()), Value::Number("-1.5")])?;
    table.row(&[Value::Text(" \u{1}_x0041_\r\n\"ä\";,".into()), Value::Blank, Value::Boolean(true)])?;
    Ok(table.finish_as(path.to_owned())?.expect("a file").path)
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_workbook_is_read_back_as_it_was_written() {
    let folder = folder();
    let path = write(&folder.path().join("out.xlsx")).unwrap();
    assert_eq!(names(&folder), ["out.xlsx"]);
    let book = read(&path).unwrap();
    assert_eq!(book.sheets(), ["Items"]);
    let (lines, error) = rows(&book, 0);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(lines, ["1: SKU|Name|Price", "2: 0042|=1+1|-1.5", "3:  \u{1}_x0041_\r\n\"ä\";,||TRUE"]);
}

#[test]
fn a_csv_is_read_back_with_its_formulas_defused() {
    let folder = folder();
    let path = write(&folder.path().join("out.csv")).unwrap();
    assert_eq!(names(&folder), ["out.csv"]);
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "SKU,Name,Price\r\n0042,'=1+1,-1.5\r\n\" \u{1}_x0041_\r\n\"\"ä\"\";,\",,true\r\n"
    );
    let (lines, _) = rows(&read(&path).unwrap(), 0);
    assert_eq!(lines[1], "2: 0042|'=1+1|-1.5");
    assert_eq!(restore("'=1+1"), "=1+1");
}

#[test]
fn a_table_replaces_an_existing_file() {
    for name in NAMES {
        let folder = folder();
        let path = file(&folder, name, "mine");
        write(&path).unwrap();
        assert_ne!(fs::read(&path).unwrap(), b"mine");
        assert_eq!(names(&folder), [name]);
    }
}

#[test]
fn an_existing_file_can_be_protected() {
    let folder = folder();
    let path = file(&folder, "out.csv", "mine");
    assert!(matches!(WholeFile::create(&path, Existing::Keep), Err(Error::Exists { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"mine");
}

#[test]
fn a_file_that_appears_meanwhile_can_be_protected() {
    let folder = folder();
    let path = folder.path().join("out.csv");
    let ours = WholeFile::create(&path, Existing::Keep).unwrap();
    fs::write(&path, "mine").unwrap();
    assert!(matches!(ours.finish(), Err(Error::Exists { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    assert_eq!(names(&folder), ["out.csv"]);
}

#[test]
fn a_dropped_table_leaves_no_file() {
    for name in NAMES {
        let folder = folder();
        let path = folder.path().join(name);
        let mut table = create(&path).unwrap();
        table.row(&[Value::Text("a".into())]).unwrap();
        assert!(!path.exists());
        drop(table);
        assert_eq!(names(&folder), [""; 0]);
    }
}

#[test]
fn an_unwritable_destination_is_reported_at_once() {
    let folder = folder();
    assert!(matches!(create(&folder.path().join("none/out.csv")).err(), Some(Error::Write { .. })));
    fs::create_dir(folder.path().join("out.csv")).unwrap();
    assert!(matches!(create(&folder.path().join("out.csv")).err(), Some(Error::Unwritable { .. })));
}

#[test]
fn a_table_wider_than_a_workbook_is_refused() {
    let folder = folder();
    let mut table = create(&folder.path().join("out.xlsx")).unwrap();
    let wide = vec![Value::Blank; 16_385];
    assert!(matches!(table.row(&wide), Err(Error::Unwritable { .. })));
}

#[test]
fn text_longer_than_a_workbook_cell_is_cut_and_marked() {
    let folder = folder();
    let path = folder.path().join("out.xlsx");
    let mut table = create(&path).unwrap();
    table.row(&[Value::Text("ä".repeat(40_000).into())]).unwrap();
    assert_eq!(table.cut(), 1);
    table.finish_as(path.clone()).unwrap();
    let (lines, _) = rows(&read(&path).unwrap(), 0);
    assert!(lines[1].ends_with("ä… [cut]"));
    assert_eq!(lines[1].strip_prefix("2: ").unwrap().chars().count(), 32_767);
}

#[test]
#[cfg(unix)]
fn finished_files_have_the_usual_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let path = WholeFile::create(&folder.path().join("a"), Existing::Keep).unwrap().finish().unwrap();
    // Under any usual umask the owner may read and write, and nobody may execute it.
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o711, 0o600);
}

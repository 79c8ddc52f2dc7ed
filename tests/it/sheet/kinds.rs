//! Detection of files that are not readable spreadsheets.

use sheetport_sheet::Error;

use super::parts::xls;
use super::{file, folder, read, utf16};

#[track_caller]
fn check_refused(bytes: impl AsRef<[u8]>, what: &str) {
    let folder = folder();
    match read(&file(&folder, "prices.csv", bytes)) {
        Err(Error::NotASpreadsheet { found, .. }) => assert_eq!(found, what),
        other => panic!("{other:?}"),
    }
}

pub fn ole(stream: &str) -> Vec<u8> {
    let mut bytes = vec![0; 2048];
    bytes[..8].copy_from_slice(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1");
    bytes[30] = 9;
    bytes[48] = 1;
    let name = utf16(stream, u16::to_le_bytes);
    bytes[1024..1024 + name.len()].copy_from_slice(&name);
    bytes
}

/// The first entry of an archive, without compression.
fn zip(name: &str, content: &str) -> Vec<u8> {
    let mut bytes = b"PK\x03\x04".to_vec();
    bytes.extend([0; 22]);
    bytes.extend((name.len() as u16).to_le_bytes());
    bytes.extend([0, 0]);
    bytes.extend(name.as_bytes());
    bytes.extend(content.as_bytes());
    bytes
}

#[test]
fn other_file_types_are_named() {
    check_refused("%PDF-1.7\n%âãÏÓ\n1 0 obj", "a PDF document");
    check_refused(b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR", "an image");
    check_refused(b"\x7FELF\x02\x01\x01\0", "a program");
    check_refused((0..=255).collect::<Vec<u8>>().repeat(20), "binary data");
    check_refused([0; 512], "binary data");
    check_refused(" <!DOCTYPE html>\n<table></table>", "a web page (HTML) without a table");
    check_refused("<?xml version=\"1.0\"?><a/>", "an XML document");
    check_refused(ole("WordDocument"), "an old Word document (.doc)");
    check_refused(zip("mimetype", "application/vnd.oasis.opendocument.text"), "an OpenDocument file");
    check_refused(zip("word/document.xml", ""), "a Word document");
}

#[test]
fn an_invalid_workbook_is_unreadable() {
    let ods = zip("mimetype", "application/vnd.oasis.opendocument.spreadsheet");
    for bytes in [ole("Workbook"), ods, zip("xl/workbook.bin", ""), zip("xl/workbook.xml", "")] {
        let folder = folder();
        let error = read(&file(&folder, "prices.csv", bytes)).unwrap_err();
        assert!(matches!(error, Error::Unreadable { .. }), "{error:?}");
    }
}

#[test]
fn old_workbooks_and_unsupported_code_pages_are_reported() {
    let folder = folder();
    let ancient = [b"\x09\x04\x06\x00\x00\x04\x10\x00".as_slice(), &[0; 200]].concat();
    let error = read(&file(&folder, "prices.xls", ancient)).unwrap_err();
    assert!(
        error.to_string().ends_with("a workbook of Excel 4; versions before Excel 95 are not supported"),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("save it again as .xlsx"), "{error:?}");
    // The code page of old Macs in Central Europe.
    let error = read(&file(&folder, "prices.xls", xls(&[(0x0042, vec![0x2D, 0x27])], &[]))).unwrap_err();
    assert!(error.to_string().ends_with("its texts are in code page 10029, which is not supported"), "{error}");
}

#[test]
fn encrypted_workbooks_are_reported() {
    let folder = folder();
    let error = read(&file(&folder, "prices.xlsx", ole("EncryptedPackage"))).unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
    // XOR obfuscation from before Excel 97: a key and its verifier.
    for globals in [&[(0x002F, vec![0, 0, 0x12, 0x34, 0x56, 0x78])][..], &[(0x0086, vec![]), (0x002F, vec![0; 6])]] {
        let error = read(&file(&folder, "prices.xls", xls(globals, &[]))).unwrap_err();
        assert!(matches!(error, Error::Encrypted { .. }), "{error}");
        assert!(error.hint().unwrap().contains("password"));
    }
    // RC4 without its salt.
    let error = read(&file(&folder, "prices.xls", xls(&[(0x002F, vec![1, 0, 1, 0, 1, 0])], &[]))).unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
    assert!(read(&file(&folder, "prices.xls", xls(&[(0x0086, vec![])], &[]))).is_ok());
}

#[test]
fn white_space_counts_as_empty() {
    for bytes in [&b""[..], b" \r\n\t\n", b"\xEF\xBB\xBF", b"\xFF\xFE", b"\xFF\xFE\n\0"] {
        let folder = folder();
        assert!(matches!(read(&file(&folder, "a.csv", bytes)), Err(Error::Empty { .. })), "{bytes:?}");
    }
}

#[test]
fn folders_and_missing_files_are_reported() {
    let folder = folder();
    let error = read(folder.path()).unwrap_err();
    assert!(error.to_string().ends_with("it is a folder"), "{error}");
    assert!(matches!(read(&folder.path().join("none.csv")), Err(Error::Open { .. })));
}

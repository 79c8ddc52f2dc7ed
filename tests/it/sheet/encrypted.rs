//! Encrypted workbooks, made by LibreOffice (`rc4.xls`, `default-password.xls`, `cbc.ods`), msoffcrypto-tool, and a script after
//! LibreOffice's source (`gcm.ods`). Each has a sheet with the same two rows.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use sheetport_sheet::{Book, Error, Options, open};

use super::hostile_workbooks::end;
use super::{file, folder, read, rows};

const PASSWORD: &str = "geheim ä€";
const ENCRYPTED: [&str; 5] = ["agile.xlsx", "standard.xlsx", "rc4.xls", "cbc.ods", "gcm.ods"];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sheet/encrypted").join(name)
}

fn open_with(name: &str, password: &str) -> Result<Book, Error> {
    let folder = folder();
    let password_file = Some(file(&folder, "password", password));
    read(&fixture("default-password.xls")).map(drop)?;
    open(&fixture(name), &Options { password_file, ..Options::default() })
}

#[test]
fn workbooks_are_read_with_their_password() {
    for name in ENCRYPTED {
        for written in [PASSWORD.to_owned(), format!("{PASSWORD}\r\n"), format!("\u{FEFF}{PASSWORD}\nmore\n")] {
            let book = open_with(name, &written).unwrap();
            assert_eq!(rows(&book, 0).0, ["1: SKU|Name|Price", "2: 00042|Bolt|1234.5"], "{name}");
        }
    }
}

#[test]
fn a_missing_or_wrong_password_is_reported() {
    for name in ENCRYPTED {
        let error = read(&fixture(name)).unwrap_err();
        assert!(matches!(error, Error::PasswordNeeded { .. }), "{error:?}");
        assert!(error.hint().unwrap().contains("--password-file FILE"));
        for wrong in ["geheim", "Geheim ä€", " geheim ä€"] {
            let error = open_with(name, wrong).unwrap_err();
            assert!(matches!(error, Error::WrongPassword { .. }), "{error:?}");
            assert!(!error.to_string().contains(wrong), "{error}");
        }
    }
}

#[test]
fn an_unreadable_password_file_is_reported_only_if_it_is_needed() {
    let folder = folder();
    let with = |password_file: PathBuf| Options { password_file: Some(password_file), ..Options::default() };
    let (missing, empty) = (folder.path().join("none"), file(&folder, "empty", "\n"));
    for (options, words) in [(with(missing.clone()), "can't be read"), (with(empty), "is empty")] {
        match open(&fixture("agile.xlsx"), &options) {
            Err(Error::BadOptions { reason, .. }) => assert!(reason.contains(words), "{reason}"),
            other => panic!("{other:?}"),
        }
    }
    assert!(open(&file(&folder, "a.csv", "SKU,Name\n1,2\n"), &with(missing)).is_ok());
}

#[test]
fn excels_default_password_is_tried_without_asking() {
    for name in ["default-password.xlsx", "default-password.xls"] {
        let book = read(&fixture(name)).unwrap();
        assert_eq!(rows(&book, 0).0, ["1: SKU|Name|Price", "2: 00042|Bolt|1234.5"], "{name}");
    }
}

#[test]
fn a_damaged_package_is_refused_or_unchanged() {
    for name in ["default-password.xlsx", "default-password.xls"] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        let intact = end(&bytes).unwrap();
        let mut refused = 0;
        for bit in (0..bytes.len() * 8).step_by(1009) {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            match end(&flipped) {
                // XLS has no checksums.
                Ok(lines) => assert!(lines == intact || name.ends_with(".xls"), "{name} bit {bit}"),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 0, "{name}");
        for len in (0..bytes.len()).step_by(997) {
            assert!(end(&bytes[..len]).is_err() || name.ends_with(".xls"), "{name} {len}");
        }
    }
}

/// Returns the sheet with a changed manifest.
fn with_manifest(name: &str, change: impl Fn(&str) -> String) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(fixture(name)).unwrap()).unwrap();
    let mut changed = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).unwrap();
        let name = part.name().unwrap().to_string();
        let mut bytes = Vec::new();
        part.read_to_end(&mut bytes).unwrap();
        if name == "META-INF/manifest.xml" {
            bytes = change(std::str::from_utf8(&bytes).unwrap()).into_bytes();
        }
        let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        changed.start_file(name, stored).unwrap();
        changed.write_all(&bytes).unwrap();
    }
    changed.finish().unwrap().into_inner()
}

#[test]
fn an_opendocument_sheet_cannot_ask_for_endless_work_or_unknown_ciphers() {
    let folder = folder();
    let password_file = Some(file(&folder, "password", PASSWORD));
    let options = Options { password_file, ..Options::default() };
    for (name, from, to, words) in [
        ("cbc.ods", "\"100000\"", "\"4000000000\"", "the description of its encryption is invalid"),
        ("cbc.ods", "\"100000\"", "\"0\"", "the description of its encryption is invalid"),
        ("cbc.ods", "aes256-cbc", "tripledes-cbc", "is an encrypted workbook"),
        ("cbc.ods", "\"PBKDF2\"", "\"PGP\"", "is an encrypted workbook"),
        ("gcm.ods", "memory=\"65536\"", "memory=\"4194304\"", "the description of its encryption is invalid"),
        ("gcm.ods", "iterations=\"3\"", "iterations=\"4000000000\"", "the description of its encryption is invalid"),
        ("gcm.ods", "lanes=\"4\"", "lanes=\"0\"", "the description of its encryption is invalid"),
        ("gcm.ods", "salt=\"", "salt=\"!", "the description of its encryption is invalid"),
    ] {
        let hostile = file(&folder, name, with_manifest(name, |manifest| manifest.replace(from, to)));
        let error = open(&hostile, &options).unwrap_err();
        assert!(error.to_string().contains(words), "{name} {to}: {error}");
    }
}

#[test]
fn a_damaged_opendocument_package_is_refused() {
    let folder = folder();
    let password_file = Some(file(&folder, "password", PASSWORD));
    let options = Options { password_file, ..Options::default() };
    let bytes = std::fs::read(fixture("gcm.ods")).unwrap();
    for bit in (0..bytes.len() * 8).step_by(4001) {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let path = file(&folder, "flipped.ods", flipped);
        if let Ok(book) = open(&path, &options) {
            assert_eq!(rows(&book, 0).0, ["1: SKU|Name|Price", "2: 00042|Bolt|1234.5"], "bit {bit}");
        }
    }
}

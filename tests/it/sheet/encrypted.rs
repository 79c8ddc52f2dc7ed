//! Encrypted workbooks, made by LibreOffice (`rc4.xls`, `default-password.xls`) and msoffcrypto-tool. Each has a sheet with
//! the same two rows.

use std::path::{Path, PathBuf};

use sheetport::sheet::{Book, Error, Options, open};

use super::hostile_workbooks::end;
use super::{file, folder, read, rows};

const PASSWORD: &str = "geheim ä€";
const ENCRYPTED: [&str; 3] = ["agile.xlsx", "standard.xlsx", "rc4.xls"];

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

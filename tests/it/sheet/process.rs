//! The reading process: its containment, and what is said about its end.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

use sheetport_sheet::{Error, try_protections};

use super::parts::Xlsx;
use super::{file, folder, read, rows};
use crate::environment;

/// Returns the identifiers of this process's reading processes for files in a folder.
fn readers(folder: &Path) -> Vec<String> {
    let processes =
        fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let reads = |process: &String| {
        let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains("--read-workbook-child") && line.contains(&*folder.to_string_lossy())
    };
    processes.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).filter(reads).collect()
}

#[test]
fn the_reading_process_is_contained_once_its_file_is_open() {
    let folder = folder();
    let book = read(&Xlsx::default().save(&folder)).unwrap();
    let readers = readers(folder.path());
    assert_eq!(readers.len(), 1);
    let threads = fs::read_dir(format!("/proc/{}/task", readers[0])).unwrap().flatten();
    let mut count = 0;
    for thread in threads {
        let status = fs::read_to_string(thread.path().join("status")).unwrap();
        let value = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim_start_matches(':').trim().to_owned()
        };
        assert_eq!((value("NoNewPrivs"), value("Seccomp")), ("1".to_owned(), "2".to_owned()), "{status}");
        count += 1;
    }
    assert!(count > 1);
    assert!(rows(&book, 0).1.is_none());
}

#[test]
fn the_reading_process_can_do_nothing_else() {
    // Registers the executable.
    drop(read(&Xlsx::default().save(&folder())).unwrap());
    let found = try_protections().unwrap();
    assert!(found.seccomp && found.no_new_privileges, "{found:#?}");
    // 16 descriptors, of which the standard streams take three.
    assert!((1..=13).contains(&found.further_files), "{found:#?}");
    let gaps: Vec<_> = found.gaps().collect();
    assert!(gaps.is_empty(), "{gaps:#?}");
    let refused = |what: &str| found.attempts.iter().any(|attempt| attempt.what == what && attempt.is_refused);
    for what in [
        "open a 17th file",
        "open another file by a system call",
        "write a new file by a system call",
        "delete a file",
        "connect to a service",
        "open a local socket",
        "start a process",
        "run another program",
        "duplicate a descriptor",
    ] {
        assert!(refused(what), "{what}: {found:#?}");
    }
    // A kernel before Linux 5.13, or one without the security module.
    match found.landlock {
        Some(_) => assert!(["open another file", "list a folder", "write a new file"].into_iter().all(refused)),
        None => environment::report_missing("Landlock"),
    }
}

#[test]
fn the_end_of_a_reading_process_by_a_signal_is_reported() {
    for (signal, words) in [("KILL", "ended the process that reads it (SIGKILL)"), ("ABRT", "crashed (SIGABRT)")] {
        let folder = folder();
        let book = read(&file(&folder, "prices.xlsx", Xlsx::default().bytes())).unwrap();
        for reader in readers(folder.path()) {
            assert!(Command::new("kill").args(["-s", signal, &reader]).status().unwrap().success());
        }
        let error = match book.rows(0) {
            Ok(mut rows) => rows.next(&mut Default::default()).unwrap_err(),
            Err(error) => error,
        };
        assert!(error.to_string().contains(words), "{error}");
        assert!(matches!(error, Error::ReaderKilled { .. }) == (signal == "KILL"));
        assert!(error.hint().unwrap().contains(".csv"));
    }
}

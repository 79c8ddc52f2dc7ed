//! SECURITY.md names the tests that hold its lines: each of them exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The last column of the tables of the threat model.
const HEADER: &str = "| must not | prevented by | held by |";

/// Returns the tests that a table row names, and whether it is a row of the threat model.
fn named(line: &str) -> Vec<&str> {
    let held_by = line.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
    held_by.split('`').skip(1).step_by(2).collect()
}

/// Returns the names of all tests in a source file.
fn tests(text: &str) -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    // `proptest!` makes tests of its functions, which have the attribute, too.
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        let name =
            line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ").and_then(|rest| rest.split('(').next());
        match name {
            Some(name) if is_test => drop(tests.insert(name.to_owned())),
            _ => {}
        }
        // Other attributes and comments may stand between.
        is_test = line.starts_with("#[test]")
            || line.starts_with("#[tokio::test")
            || is_test && (line.starts_with("#[") || line.starts_with("//") || line.is_empty());
    }
    tests
}

fn all_tests(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all_tests(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.extend(tests(&fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn every_line_of_the_threat_model_names_tests_that_exist() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut known = BTreeSet::new();
    for folder in ["src", "crates", "tests"] {
        all_tests(&root.join(folder), &mut known);
    }
    let security = fs::read_to_string(root.join("SECURITY.md")).unwrap();
    let tables: Vec<&str> = security.split(HEADER).skip(1).collect();
    assert_eq!(tables.len(), 5, "one table for each adversary");
    for table in tables {
        let rows: Vec<&str> = table.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
        assert!(rows.len() > 2, "{table}");
        for row in rows {
            let named = named(row);
            assert!(!named.is_empty(), "no test holds: {row}");
            let missing: Vec<&&str> = named.iter().filter(|name| !known.contains(**name)).collect();
            assert!(missing.is_empty(), "{missing:?} of: {row}");
        }
    }
}

#[test]
fn tests_are_found_by_their_attribute() {
    let text = "#[test]\nfn one() {}\nfn other() {}\n#[cfg(unix)]\n#[tokio::test(flavor = \"x\")]\n#[ignore]\nasync fn two() {}\n\
                proptest! {\n    #[test]\n    fn three(\n";
    assert_eq!(tests(text).into_iter().collect::<Vec<_>>(), ["one", "three", "two"]);
    assert_eq!(named("| a | b | `x_y`, `z` |"), ["x_y", "z"]);
}

//! Structural rules that the compiler does not enforce: no cycles between the files of a crate, where SQL may stand, the length of
//! files, and no interface of a crate without a user.

mod cycles;
mod pages;
mod public;
mod security;
mod sentences;
mod source;
mod translations;

use std::fs;
use std::path::{Path, PathBuf};

use cycles::cycles;
use source::Crate;

const MAX_LINES: usize = 600;
/// The folders that contain the SQL of the client and of the service, what both share, and the databases that exports write.
const SQL: [&str; 4] = ["crates/datasets/", "crates/ledger/", "crates/service/src/store/", "crates/sql/"];
/// Error types of the database that other modules may wrap.
const SQL_ERRORS: [&str; 2] = ["sqlx::Error", "sqlx::migrate::MigrateError"];

#[test]
fn no_cycles_between_the_files_of_a_crate() {
    for folder in crates() {
        let found = cycles(&Crate::read(&root().join(&folder)).edges());
        let shown: Vec<String> = found.iter().map(|group| format!("{group:?}")).collect();
        assert!(found.is_empty(), "{folder}: {} cycles:\n{}", found.len(), shown.join("\n"));
    }
}

#[test]
fn sql_is_confined_to_the_ledger_the_store_and_datasets() {
    let found: Vec<String> = sources().iter().flat_map(|name| sql(name, &read(name))).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_file_is_longer_than_the_limit() {
    let lengths = sources().into_iter().map(|name| (read(&name).lines().count(), name));
    let long: Vec<_> = lengths.filter(|(lines, _)| *lines > MAX_LINES).collect();
    assert!(long.is_empty(), "{long:?}");
}

#[test]
fn cycles_are_found_through_facades_and_between_siblings() {
    let found = |files: &[(&str, &str)]| cycles(&Crate::of(files).edges()).len();
    let facade = ("a/mod.rs", "mod x; mod y; pub use x::X; pub use y::Y;");
    assert_eq!(found(&[facade, ("a/x.rs", "pub struct X(super::Y);"), ("a/y.rs", "pub struct Y;")]), 0);
    assert_eq!(
        found(&[facade, ("a/x.rs", "pub struct X(super::Y);"), ("a/y.rs", "use super::X; pub struct Y(X);")]),
        1
    );
    let parent = ("a/mod.rs", "mod x; pub struct Error; pub fn f() { x::g() }");
    assert_eq!(found(&[parent, ("a/x.rs", "use super::Error; pub fn g() {}")]), 1);
}

#[test]
fn sql_is_found_outside_its_folders() {
    assert_eq!(sql("crates/client/src/x.rs", "use sqlx::Row;").len(), 1);
    assert_eq!(sql("crates/service/src/items.rs", "let rows = sqlx::query(\"\");").len(), 1);
    assert_eq!(sql("crates/service/src/error.rs", "    Database(sqlx::Error),").len(), 0);
    assert_eq!(sql("crates/ledger/src/x.rs", "use sqlx::Row;").len(), 0);
    assert_eq!(sql("crates/export/src/x.rs", "use rusqlite::Row;").len(), 1);
}

/// The lines that mention the database where none may.
fn sql(name: &str, source: &str) -> Vec<String> {
    let is_permitted = SQL.iter().any(|folder| name.starts_with(folder));
    let without_errors = |line: &str| SQL_ERRORS.iter().fold(line.to_owned(), |line, error| line.replace(error, ""));
    let is_foreign =
        |line: &&str| !is_permitted && ["sqlx", "rusqlite"].iter().any(|name| without_errors(line).contains(name));
    source.lines().filter(is_foreign).map(|line| format!("{name}: {line}")).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// Returns the folders of the sources of all crates, such as `crates/mapping/src`; the executable's is `src`.
fn crates() -> Vec<String> {
    let names = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut folders: Vec<String> = names.map(|name| format!("crates/{}/src", name.to_str().unwrap())).collect();
    folders.push("src".to_owned());
    folders.sort();
    folders
}

/// Returns the names of all source files, such as `crates/mapping/src/bind.rs`.
fn sources() -> Vec<String> {
    crates().iter().flat_map(|folder| names_below(folder)).collect()
}

/// Returns the names of the Rust files below a folder.
fn names_below(folder: &str) -> Vec<String> {
    let below = |path: &PathBuf| path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
    let mut names: Vec<String> = source::files(&root().join(folder)).iter().map(below).collect();
    names.sort();
    names
}

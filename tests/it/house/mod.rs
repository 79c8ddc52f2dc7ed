//! Structural rules that the compiler does not enforce: the permitted imports between modules (the table in
//! `src/lib.rs`), no cycles between files, where SQL may stand, and the length of files.

mod cycles;
mod pages;
mod security;
mod sentences;
mod source;
mod translations;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cycles::cycles;
use source::Crate;

const MAX_LINES: usize = 600;
/// Modules that only `commands` and `main` may import, besides each other.
const TERMINAL: [&str; 4] = ["cli", "commands", "settings", "ui"];
/// The folders that contain the SQL of the client and of the service, and what both share.
const SQL: [&str; 3] = ["ledger/", "service/store/", "sql/"];
/// Error types of the database that other modules may wrap.
const SQL_ERRORS: [&str; 2] = ["sqlx::Error", "sqlx::migrate::MigrateError"];

/// For each module at the root, the modules that it may import.
type Rules = BTreeMap<String, Vec<String>>;

#[test]
fn modules_import_only_what_the_table_in_lib_rs_permits() {
    let rules = rules(&read(Path::new("lib.rs")));
    assert_eq!(rules["decimal"], [""; 0], "the table is parsed");
    let found = violations(&rules, &Crate::read(&src()));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_table_in_lib_rs_lists_every_module() {
    let rules = rules(&read(Path::new("lib.rs")));
    let modules: BTreeSet<String> = sources().iter().map(|path| root_module(path)).collect();
    let listed: Vec<_> = modules.into_iter().filter(|name| name != "lib" && name != "main").collect();
    assert_eq!(rules.into_keys().collect::<Vec<_>>(), listed);
}

#[test]
fn no_cycles_between_files() {
    let found = cycles(&Crate::read(&src()).edges());
    let shown: Vec<String> = found.iter().map(|group| format!("{group:?}")).collect();
    assert!(found.is_empty(), "{} cycles:\n{}", found.len(), shown.join("\n"));
}

#[test]
fn no_cycles_between_modules() {
    let mut between: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, used) in Crate::read(&src()).edges() {
        let own = root_module(&file);
        let others = used.iter().map(|file| root_module(file)).filter(|other| *other != own);
        between.entry(own.clone()).or_default().extend(others);
    }
    assert_eq!(cycles(&between), [[""; 0]; 0]);
}

#[test]
fn sql_is_confined_to_the_ledger_and_the_store() {
    let found: Vec<String> = sources().iter().flat_map(|path| sql(path, &read(path))).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_file_is_longer_than_the_limit() {
    let lengths = sources().into_iter().map(|path| (read(&path).lines().count(), path));
    let long: Vec<_> = lengths.filter(|(lines, _)| *lines > MAX_LINES).collect();
    assert!(long.is_empty(), "{long:?}");
}

#[test]
fn forbidden_imports_are_found_in_every_notation() {
    let table = "//! | [`a`] | x | nothing |\n//! | [`b`] | y | `a` |\n//! | [`c`], [`ui`] | z | what they name |\n\
                 //! | [`commands`] | w | everything |\n";
    let rules = rules(table);
    let found = |path: &str, text: &str| {
        let mut files = vec![
            ("lib.rs", ""),
            ("b/mod.rs", "pub struct Thing; pub mod inner;"),
            ("b/inner.rs", "pub fn f() {}"),
            (path, text),
        ];
        files.extend([
            ("ui/mod.rs", "pub fn show() {}"),
            ("commands/mod.rs", ""),
            ("commands/run.rs", "pub fn run() {}"),
        ]);
        files.dedup_by_key(|(path, _)| *path);
        violations(&rules, &Crate::of(&files))
    };
    for (path, text) in [
        ("a/mod.rs", "use crate::b::Thing;"),
        ("a/x.rs", "use crate::{c::{One, Two}, b::{self, Thing}};"),
        ("a/x.rs", "pub(crate) use crate::b::Thing;"),
        ("a/x.rs", "fn f() -> crate::b::Thing { g() }"),
        ("a/x.rs", "use crate::b; fn f() { b::inner::f() }"),
        ("a/x.rs", "fn f() { println!(\"{}\", crate::b::inner::f()) }"),
        ("a/mod.rs", "use super::b::Thing;"),
        ("a/x.rs", "use super::super::b::inner::f;"),
        ("a/x.rs", "mod block { use super::super::super::b::Thing; }"),
        ("b/x.rs", "use crate::ui::show;"),
        ("c.rs", "use crate::commands::run::run;"),
        ("c.rs", "use super::ui::show;"),
    ] {
        assert_eq!(found(path, text).len(), 1, "{path}: {text}");
    }
    for (path, text) in [
        ("a/x.rs", "// use crate::b;\n/// [`crate::b`]\nuse std::b; use other_crate::b::Thing;"),
        ("a/x.rs", "#[cfg(test)] mod tests { use crate::b::Thing; }"),
        ("c.rs", "use crate::b::Thing;"),
        ("commands/x.rs", "use crate::{b::Thing, ui::show};"),
    ] {
        assert_eq!(found(path, text), [""; 0], "{path}: {text}");
    }
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
    assert_eq!(sql(Path::new("client/x.rs"), "use sqlx::Row;").len(), 1);
    assert_eq!(sql(Path::new("service/items.rs"), "let rows = sqlx::query(\"\");").len(), 1);
    assert_eq!(sql(Path::new("service/error.rs"), "    Database(sqlx::Error),").len(), 0);
    assert_eq!(sql(Path::new("ledger/x.rs"), "use sqlx::Row;").len(), 0);
}

/// Parses the table: modules in the first column, the modules that they may import in the last.
fn rules(lib: &str) -> Rules {
    let rows = lib.lines().filter_map(|line| line.strip_prefix("//! |")?.strip_suffix('|'));
    let mut rules = Rules::new();
    let mut open = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.split('|').collect();
        let (modules, permitted) = (quoted(cells[0]), cells[cells.len() - 1].trim());
        match permitted {
            "everything" | "what it shows" | "what they name" => {
                open.extend(modules.iter().map(|module| (module.clone(), permitted)))
            }
            _ => assert!(
                permitted == "nothing" || !quoted(permitted).is_empty() || modules.is_empty(),
                "cannot parse '{permitted}'"
            ),
        }
        rules.extend(modules.into_iter().map(|module| (module, quoted(permitted))));
    }
    let all: Vec<String> = rules.keys().cloned().collect();
    for (module, permitted) in open {
        let is_terminal = TERMINAL.contains(&module.as_str());
        let may = |other: &&String| match permitted {
            "everything" => true,
            _ => !TERMINAL.contains(&other.as_str()) || is_terminal && other.as_str() != "commands",
        };
        rules.insert(module, all.iter().filter(may).cloned().collect());
    }
    rules
}

/// The texts between backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The imports that `rules` forbid.
fn violations(rules: &Rules, source: &Crate) -> Vec<String> {
    let mut found = Vec::new();
    for (file, used) in source.edges() {
        let own = root_module(&file);
        if own == "lib" || own == "main" {
            continue;
        }
        let Some(permitted) = rules.get(&own) else {
            found.push(format!("{}: the table has no module '{own}'", file.display()));
            continue;
        };
        let others: BTreeSet<String> =
            used.iter().map(|file| root_module(file)).filter(|other| *other != own).collect();
        let forbidden = others.iter().filter(|other| rules.contains_key(*other) && !permitted.contains(other));
        found.extend(forbidden.map(|other| format!("{}: '{own}' may not import '{other}'", file.display())));
    }
    found
}

/// The lines that mention the database where none may.
fn sql(path: &Path, source: &str) -> Vec<String> {
    let is_permitted = SQL.iter().any(|folder| path.starts_with(folder));
    let without_errors = |line: &str| SQL_ERRORS.iter().fold(line.to_owned(), |line, error| line.replace(error, ""));
    let is_foreign = |line: &&str| !is_permitted && without_errors(line).contains("sqlx");
    source.lines().filter(is_foreign).map(|line| format!("{}: {line}", path.display())).collect()
}

/// The name of the module at the crate's root that contains the file.
fn root_module(path: &Path) -> String {
    path.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(src().join(path)).unwrap()
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The paths of all source files below `src`.
fn sources() -> Vec<PathBuf> {
    source::files(&src()).iter().map(|path| path.strip_prefix(src()).unwrap().to_owned()).collect()
}

//! The house rules that a compiler does not hold: who may import whom (the table in `src/lib.rs`), where SQL stands, and
//! how long a file may be.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const LONGEST: usize = 600;
/// Only commands touch these.
const FOR_COMMANDS: [&str; 3] = ["commands", "settings", "ui"];
/// The folders that hold the SQL of the client side and of the server side.
const SQL: [&str; 2] = ["ledger/", "service/store/"];
/// What an error type may be made of elsewhere.
const SQL_ERRORS: [&str; 2] = ["sqlx::Error", "sqlx::migrate::MigrateError"];

/// For each room, what it may import besides itself.
type Rules = BTreeMap<String, Vec<String>>;

#[test]
fn every_room_imports_only_what_the_map_of_the_house_lets_it() {
    let rules = rules(&read(Path::new("lib.rs")));
    assert_eq!(rules["template"], ["sheet", "records", "diagnostics"], "the map is read as it is meant");
    let found: Vec<String> = sources().iter().flat_map(|path| imports(&rules, path, &read(path))).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_map_of_the_house_has_every_room() {
    let rules = rules(&read(Path::new("lib.rs")));
    let mut rooms: Vec<String> = sources().iter().map(|path| room(path)).collect();
    rooms.retain(|room| room != "lib" && room != "main");
    rooms.sort();
    rooms.dedup();
    assert_eq!(rules.into_keys().collect::<Vec<_>>(), rooms);
}

#[test]
fn sql_stands_in_the_ledger_and_the_store_alone() {
    let found: Vec<String> = sources().iter().flat_map(|path| sql(path, &read(path))).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_file_is_too_long_to_be_read_at_once() {
    let lengths = sources().into_iter().map(|path| (read(&path).lines().count(), path));
    let long: Vec<_> = lengths.filter(|(lines, _)| *lines > LONGEST).collect();
    assert!(long.is_empty(), "{long:?}");
}

#[test]
fn a_breach_of_the_rules_is_found_however_it_is_written() {
    let map = "//! | [`a`] | x | nothing |\n//! | [`b`] | y | `a` |\n//! | [`c`], [`ui`] | z | what they name |\n\
               //! | [`commands`] | w | everything |\n";
    let rules = rules(map);
    let found = |path: &str, source: &str| imports(&rules, Path::new(path), source);
    let breach = |path: &str, source: &str| {
        let found = found(path, source);
        assert_eq!(found.len(), 1, "{source}: {found:?}");
    };
    breach("a/mod.rs", "use crate::b;");
    breach("a/x.rs", "use crate::b::Thing;\nuse crate::a::Own;");
    breach("a/x.rs", "use crate::{a::{One, Two}, b::{self, Three}};");
    breach("a/x.rs", "use crate::{\n    a,\n    b,\n};");
    breach("a/x.rs", "pub(crate) use crate::b;");
    breach("a/x.rs", "fn f() -> crate::b::Thing { g() }");
    breach("a/mod.rs", "use super::b::Thing;");
    breach("a/x.rs", "use super::super::b;");
    breach("a/x.rs", "mod tests {\n    use super::super::super::b;\n}");
    breach("b/x.rs", "use crate::ui;");
    breach("c.rs", "use crate::commands;");
    breach("c.rs", "use super::ui;");
    breach("d.rs", "use crate::a;");
    for (path, source) in [
        ("a/x.rs", "// use crate::b;\n/// [`crate::b`]\nuse super::b;\nuse std::b;\nuse other_crate::b;"),
        ("a/x.rs", "mod tests {\n    use super::super::y;\n}"),
        ("b/x.rs", "use crate::{a, b};"),
        ("c.rs", "use crate::{a, b, c};"),
        ("ui/mod.rs", "use crate::{a, c};"),
        ("commands/x.rs", "use crate::{a, b, c, ui};"),
    ] {
        assert_eq!(found(path, source), [""; 0], "{source}");
    }
    assert_eq!(sql(Path::new("client/x.rs"), "use sqlx::Row;").len(), 1);
    assert_eq!(sql(Path::new("service/items.rs"), "let rows = sqlx::query(\"\");").len(), 1);
    assert_eq!(sql(Path::new("service/error.rs"), "    Database(sqlx::Error),").len(), 0);
    assert_eq!(sql(Path::new("ledger/x.rs"), "use sqlx::Row;").len(), 0);
}

/// Reads the map: rows of a table in documentation, with the rooms first and what they may import last.
fn rules(lib: &str) -> Rules {
    let rows = lib.lines().filter_map(|line| line.strip_prefix("//! |")?.strip_suffix('|'));
    let mut rules = Rules::new();
    let mut open = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.split('|').collect();
        let (rooms, may) = (quoted(cells[0]), cells[cells.len() - 1].trim());
        match may {
            "everything" | "what it shows" | "what they name" => {
                open.extend(rooms.iter().map(|room| (room.clone(), may)))
            }
            _ => assert!(may == "nothing" || !quoted(may).is_empty() || rooms.is_empty(), "what is '{may}'?"),
        }
        rules.extend(rooms.into_iter().map(|room| (room, quoted(may))));
    }
    let all: Vec<String> = rules.keys().cloned().collect();
    for (room, may) in open {
        let allowed = all.iter().filter(|other| may == "everything" || !FOR_COMMANDS.contains(&other.as_str()));
        let allowed = allowed.cloned().collect();
        rules.insert(room, allowed);
    }
    rules
}

/// What stands between backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The mentions in the file at `path` below src of rooms that its own room may not import.
fn imports(rules: &Rules, path: &Path, source: &str) -> Vec<String> {
    let own = room(path);
    if own == "lib" || own == "main" {
        return Vec::new();
    }
    let Some(allowed) = rules.get(&own) else {
        return vec![format!("{}: the map has no room '{own}'", path.display())];
    };
    let mentioned = mentions(path, source).into_iter();
    let foreign = mentioned.filter(|room| rules.contains_key(room) && *room != own && !allowed.contains(room));
    foreign.map(|room| format!("{}: '{own}' may not import '{room}'", path.display())).collect()
}

/// The names that the file mentions at the crate's root.
fn mentions(path: &Path, source: &str) -> Vec<String> {
    let lines = source.lines().map(|line| line.split("//").next().unwrap_or(""));
    let mut found = Vec::new();
    let mut in_module = false;
    let mut rest = String::new();
    for line in lines {
        if line.starts_with("mod ") && line.ends_with('{') {
            in_module = true;
        } else if line.starts_with('}') {
            in_module = false;
        }
        // As many steps up as lead to the crate's root are the same as its name.
        let up = "super::".repeat(depth(path) + usize::from(in_module));
        rest.push_str(&line.replace(&up, "crate::"));
        rest.push('\n');
    }
    for (at, word) in rest.match_indices("crate::") {
        let before = rest[..at].chars().next_back();
        if before.is_none_or(|before| !before.is_alphanumeric() && before != '_' && before != '$') {
            found.extend(heads(&rest[at + word.len()..]));
        }
    }
    found
}

/// The first names of a path: of `a::b` that is `a`, of `{a::{b, c}, d}` they are `a` and `d`.
fn heads(path: &str) -> Vec<String> {
    let name = |text: &str| text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(group) = path.strip_prefix('{') else { return vec![name(path)] };
    let mut heads = vec![String::new()];
    let mut depth = 0;
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => heads.push(String::new()),
            c => heads.last_mut().unwrap().push(c),
        }
    }
    heads.iter().map(|head| name(head)).collect()
}

/// How many steps the module of a file is below the crate's root.
fn depth(path: &Path) -> usize {
    path.components().count() - usize::from(path.ends_with("mod.rs"))
}

/// The lines that have to do with a database where none should.
fn sql(path: &Path, source: &str) -> Vec<String> {
    let at_home = SQL.iter().any(|folder| path.starts_with(folder));
    let without_errors = |line: &str| SQL_ERRORS.iter().fold(line.to_owned(), |line, error| line.replace(error, ""));
    let is_foreign = |line: &&str| !at_home && without_errors(line).contains("sqlx");
    source.lines().filter(is_foreign).map(|line| format!("{}: {line}", path.display())).collect()
}

fn room(path: &Path) -> String {
    path.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(src().join(path)).unwrap()
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// All source files, by their paths below src.
fn sources() -> Vec<PathBuf> {
    let mut folders = vec![src()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path.strip_prefix(src()).unwrap().to_owned());
            }
        }
    }
    files
}

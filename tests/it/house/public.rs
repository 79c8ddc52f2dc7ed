//! Each public function and constant of a crate is named in another: the compiler finds no dead code behind an interface.
//!
//! Types are left out: many are only part of the interface of a function, and nobody needs their names.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use super::{crates, names_below, read};

/// Where tests and benches use what crates offer.
const USERS: [&str; 2] = ["tests/it", "benches"];

/// Returns the words of the code of a folder, without comments.
fn words(texts: &[String]) -> BTreeSet<&str> {
    let lines = texts.iter().flat_map(|text| text.lines()).filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_')).collect()
}

/// Returns the names of public functions and constants of a file, outside its tests.
fn public(text: &str) -> Vec<String> {
    let item = Regex::new(r"(?m)^\s*pub (?:async |const |unsafe )*(?:fn|const|static) (\w+)").unwrap();
    let own = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    item.captures_iter(own).map(|found| found[1].to_owned()).collect()
}

/// Returns the names in re-exports such as `pub use identity::{Scope, canonical_name};`.
fn reexported(texts: &[String]) -> BTreeSet<String> {
    let import = Regex::new(r"pub use ([^;]+);").unwrap();
    let name = Regex::new(r"\w+").unwrap();
    let found = texts.iter().flat_map(|text| import.captures_iter(text).map(|found| found[1].to_owned()));
    found.flat_map(|tree| name.find_iter(&tree).map(|found| found.as_str().to_owned()).collect::<Vec<_>>()).collect()
}

#[test]
fn public_functions_and_constants_are_named_in_another_crate() {
    let folders = crates().into_iter().chain(USERS.map(str::to_owned));
    let texts: BTreeMap<String, Vec<String>> =
        folders.map(|folder| (folder.clone(), names_below(&folder).iter().map(|name| read(name)).collect())).collect();
    let words: BTreeMap<&str, BTreeSet<&str>> =
        texts.iter().map(|(folder, texts)| (folder.as_str(), words(texts))).collect();
    let mut unused = Vec::new();
    for (folder, own) in texts.iter().filter(|(folder, _)| folder.starts_with("crates/")) {
        let reexported = reexported(own);
        let is_used = |name: &str| {
            reexported.contains(name) || words.iter().any(|(other, words)| other != folder && words.contains(name))
        };
        let names = own.iter().flat_map(|text| public(text)).filter(|name| !is_used(name));
        unused.extend(names.map(|name| format!("{folder}: {name}")));
    }
    assert!(unused.is_empty(), "make them pub(crate), or remove them: {unused:#?}");
}

#[test]
fn public_items_are_found() {
    let text = "pub fn a() {}\nimpl B {\n    pub async fn c(&self) {}\n    fn d() {}\n}\npub const E: u8 = 1;\npub(crate) fn f() {}\n\
                #[cfg(test)]\nmod tests {\n    pub fn g() {}\n}\n";
    assert_eq!(public(text), ["a", "c", "E"]);
    assert!(reexported(&["pub use a::{b, c::D};".to_owned()]).contains("D"));
}

//! Writes the tables of words as Rust, so that no program parses and normalizes them again: `vocabulary.rs` has the types.

#[path = "../src/alternatives.rs"]
#[allow(dead_code, unreachable_pub)]
mod alternatives;
#[path = "../src/compounds.rs"]
mod compounds;
mod files;
#[path = "../src/split.rs"]
#[allow(dead_code, unreachable_pub)]
mod split;
mod tables;

use std::env;
use std::fs;
use std::path::PathBuf;

use files::Files;

fn main() {
    let folder = |name: &str| PathBuf::from(env::var_os(name).unwrap_or_else(|| panic!("cargo sets {name}")));
    let source = folder("CARGO_MANIFEST_DIR");
    for path in Files::paths(&source).into_iter().chain([source.join("src"), source.join("build")]) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let table = folder("OUT_DIR").join("tables.rs");
    fs::write(&table, tables::of(&Files::read(&source))).unwrap_or_else(|error| panic!("{}: {error}", table.display()));
}

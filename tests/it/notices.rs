//! packaging/third-party.txt: the licences and notices of what the executables contain.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use regex::Regex;

use crate::cli::process::Place;

const RENEW: &str = "run packaging/notices, which writes packaging/third-party.txt again";

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

fn found(pattern: &str, text: &str) -> BTreeSet<String> {
    Regex::new(pattern).unwrap().captures_iter(text).map(|found| found[1].to_owned()).collect()
}

/// Returns the packages by others in the executables for a target, such as `serde 1.0.228`. Those that only write code at build time are left out.
fn packages(target: &str) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut tree = Command::new(cargo);
    tree.args(["tree", "--locked", "--package", "sheetport", "--all-features", "--edges", "normal,no-proc-macro"]);
    tree.args(["--prefix", "none", "--format", "{p}", "--target", target]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let ended = tree.output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    // Our own have their folder behind them.
    found(r"(?m)^(\S+ v\S+)(?: \(\*\))?$", &String::from_utf8(ended.stdout).unwrap())
        .iter()
        .map(|package| package.replacen(" v", " ", 1))
        .collect()
}

#[test]
fn third_party_notices_name_every_package() {
    let named = found(r"(?m)^  (\S+ \d+\.\d+\.\d+\S*)$", &read("packaging/third-party.txt"));
    let targets = found(r"target: ([a-z0-9_-]+),", &read(".github/workflows/release.yml"));
    let described = found(
        r#"(?m)^    "([a-z0-9_]+-[a-z0-9_-]+)",$"#,
        read("packaging/about.toml").split("targets = ").nth(1).unwrap(),
    );
    assert_eq!(described, targets, "packaging/about.toml has the targets of the release");

    let missing: BTreeSet<String> =
        targets.iter().flat_map(|target| packages(target)).filter(|package| !named.contains(package)).collect();
    assert!(missing.is_empty(), "{RENEW}: it lacks {missing:?}");
    let locked = found(r#"(?m)^name = "([^"]+"\nversion = "[^"]+)"$"#, &read("Cargo.lock"));
    let locked: BTreeSet<String> = locked.iter().map(|package| package.replace("\"\nversion = \"", " ")).collect();
    let stale: Vec<&String> = named.difference(&locked).collect();
    assert!(named.len() > 300 && stale.is_empty(), "{RENEW}: it has {stale:?}");
}

/// What may be published is what deny.toml allows.
#[test]
fn licences_of_notices_are_allowed() {
    let accepted = |text: &str| found(r#"(?m)^    "([A-Za-z0-9.-]+)",$"#, text);
    let (about, deny) = (read("packaging/about.toml"), read("deny.toml"));
    assert_eq!(accepted(about.split("targets = ").next().unwrap()), accepted(&deny));
}

#[test]
fn the_executable_prints_its_licences() {
    let place = Place::new();
    let words = ["MIT License", "THIRD-PARTY NOTICES", "musl", "AWS-LC", "Apache License"];
    let printed = place.sheetport(["licenses"]).exits(0).shows(&words);
    assert!(printed.stdout.contains(read("packaging/third-party.txt").trim_end()));
}

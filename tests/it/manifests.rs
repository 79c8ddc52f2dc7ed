//! The files of `packaging/`, by the schemas of Kubernetes and of the Compose Specification, and those of `.github/`, by linters.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

use crate::environment;

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/programs/python/bin");
const GITHUB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/.github");
const PACKAGING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging");

/// Returns whether a program accepts a file, and what it says. `None` with a message if it is not installed.
fn judged(program: &str, args: &[&str], file: &Path) -> Option<(bool, String)> {
    let path = Path::new(PROGRAMS).join(program);
    if !path.exists() {
        environment::report_missing(program);
        return None;
    }
    let output = Command::new(path).args(args).arg(file).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8(said).unwrap()))
}

/// Asserts that a program accepts the files, and no longer accepts one in which `known` is `unknown`.
fn assert_valid(program: &str, args: &[&str], files: &[PathBuf], known: &str, unknown: &str) {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let Some((is_valid, said)) = judged(program, args, file) else { return };
        assert!(is_valid, "{}: {said}", file.display());
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains(known), "{} has no {known}", file.display());
        let wrong = folder.path().join("wrong.yaml");
        fs::write(&wrong, text.replace(known, unknown)).unwrap();
        let (is_valid, said) = judged(program, args, &wrong).unwrap();
        assert!(!is_valid, "{} with {unknown}: {said}", file.display());
    }
}

/// Returns the files of a folder, of which there are several.
fn files(top: &str, folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(Path::new(top).join(folder)).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 3, "{files:?}");
    files
}

#[test]
fn manifests_fit_the_schemas_of_kubernetes() {
    let files = files(PACKAGING, "kubernetes");
    let strict = ["--kubernetes-version", "1.37", "--strict"];
    assert_valid("kubernetes-validate", &strict, &files, "containers:", "container:");
}

#[test]
fn the_compose_file_fits_its_specification() {
    let file = Path::new(PACKAGING).join("compose.yaml");
    let schema = ["--builtin-schema", "vendor.compose-spec"];
    assert_valid("check-jsonschema", &schema, &[file], "restart:", "restarts:");
}

/// GitHub itself runs nothing here, so what a linter does not see is untried.
#[test]
fn workflows_are_accepted_by_the_linters() {
    let workflows = files(GITHUB, "workflows");
    assert_valid("actionlint", &["-no-color"], &workflows, "runs-on:", "run-on:");
    // Among others, an action whose tag somebody may move, and a token that stays on disk.
    let zizmor = ["--offline", "--no-progress", "--quiet", "--color", "never"];
    assert_valid("zizmor", &zizmor, &workflows, "persist-credentials: false", "fetch-depth: 1");
}

#[test]
fn actions_are_pinned_by_commit_and_updated_by_a_bot() {
    let workflows: Vec<String> =
        files(GITHUB, "workflows").iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let uses = Regex::new(r"(?m)uses: (.*)$").unwrap();
    let pinned = Regex::new(r"^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$").unwrap();
    let actions: Vec<&str> = workflows
        .iter()
        .flat_map(|text| uses.captures_iter(text).map(|found| found.get(1).unwrap().as_str()))
        .collect();
    assert!(actions.len() > 5 && actions.iter().all(|action| pinned.is_match(action)), "{actions:#?}");

    let dependabot = [Path::new(GITHUB).join("dependabot.yml")];
    assert_valid(
        "check-jsonschema",
        &["--builtin-schema", "vendor.dependabot"],
        &dependabot,
        "package-ecosystem: cargo",
        "package-ecosystem: crates",
    );
}

#[test]
fn issue_templates_fit_their_schema() {
    let forms: Vec<PathBuf> =
        files(GITHUB, "ISSUE_TEMPLATE").into_iter().filter(|file| !file.ends_with("config.yml")).collect();
    let schema = ["--builtin-schema", "vendor.github-issue-forms"];
    assert_valid("check-jsonschema", &schema, &forms, "type: textarea", "type: textbox");
}

/// Workflows, the image and the oldest version that is promised name the same compiler.
#[test]
fn one_version_of_the_compiler_is_named_everywhere() {
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = |pattern: &str, path: &Path| -> Vec<String> {
        let pattern = Regex::new(pattern).unwrap();
        pattern.captures_iter(&read(path)).map(|found| found[1].to_owned()).collect()
    };
    let oldest = found(r#"(?m)^rust-version = "([0-9.]+)"$"#, &root.join("Cargo.toml"));
    assert_eq!(oldest.len(), 1);
    let oldest = oldest[0].as_str();
    assert!(read(&root.join("README.md")).contains(&format!("You need Rust {oldest} or later")));
    let mut versions = found(r"rust:([0-9.]+)-", &root.join("Containerfile"));
    for workflow in files(GITHUB, "workflows") {
        versions.extend(found(r"rust:([0-9.]+)-", &workflow));
        let pins = found(r"(?m)^  TOOLCHAIN: ([0-9.]+)$", &workflow);
        assert_eq!(pins.len(), 1, "{}", workflow.display());
        versions.extend(pins.iter().map(|pin| pin.trim_end_matches(".0").to_owned()));
    }
    assert!(versions.len() > 4 && versions.iter().all(|version| version == &versions[0]), "{versions:?}");
    // It may be later than the oldest, which a job of its own tries.
    let number = |version: &str| -> Vec<u32> { version.split('.').map(|part| part.parse().unwrap()).collect() };
    assert!(number(&versions[0]) >= number(oldest), "{versions:?} before {oldest}");
}

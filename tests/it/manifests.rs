//! The files of `packaging/`, by the schemas of Kubernetes and of the Compose Specification.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::environment;

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/programs/python/bin");
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

#[test]
fn manifests_fit_the_schemas_of_kubernetes() {
    let files = fs::read_dir(Path::new(PACKAGING).join("kubernetes")).unwrap();
    let files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 3, "{files:?}");
    let strict = ["--kubernetes-version", "1.37", "--strict"];
    assert_valid("kubernetes-validate", &strict, &files, "containers:", "container:");
}

#[test]
fn the_compose_file_fits_its_specification() {
    let file = Path::new(PACKAGING).join("compose.yaml");
    let schema = ["--builtin-schema", "vendor.compose-spec"];
    assert_valid("check-jsonschema", &schema, &[file], "restart:", "restarts:");
}

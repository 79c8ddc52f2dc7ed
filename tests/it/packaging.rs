//! What is published: the archives, and what packaging/release says about them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use regex::Regex;
use sha2::{Digest as _, Sha256};

use crate::environment::has_program;

const VERSION: &str = env!("CARGO_PKG_VERSION");
const DOWNLOADS: &str = "https://files.invalid/sheetport/v1";
const HOME: &str = "https://home.invalid/sheetport";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[track_caller]
fn succeeds(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// Makes small files by the names of the archives.
fn archives(folder: &Path) -> BTreeMap<String, String> {
    let endings = [
        "aarch64-apple-darwin.tar.gz",
        "aarch64-unknown-linux-musl.tar.gz",
        "x86_64-apple-darwin.tar.gz",
        "x86_64-pc-windows-msvc.zip",
        "x86_64-unknown-linux-musl.tar.gz",
    ];
    let named = endings.map(|ending| {
        let name = format!("sheetport-{VERSION}-{ending}");
        fs::write(folder.join(&name), ending).unwrap();
        let sum: String = Sha256::digest(ending).iter().map(|byte| format!("{byte:02x}")).collect();
        (name, sum)
    });
    named.into()
}

fn release(folder: &Path, downloads: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg(root().join("packaging/release")).arg(folder).args([downloads, HOME]);
    command
}

#[test]
fn a_release_has_checksums_a_formula_and_manifests() {
    if !has_program("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let sums = archives(folder.path());
    // Twice: its own files of the first time are no part of the release.
    for _ in 0..2 {
        succeeds(&mut release(folder.path(), DOWNLOADS));
    }
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let lines: String = sums.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    assert_eq!(read("SHA256SUMS"), lines);

    let formula = read("sheetport.rb");
    for (name, sum) in sums.iter().filter(|(name, _)| !name.ends_with(".zip")) {
        let source = format!("url \"{DOWNLOADS}/{name}\"\n      sha256 \"{sum}\"\n");
        assert!(formula.contains(&source), "{source} is not in {formula}");
    }
    assert!(formula.contains(&format!("homepage \"{HOME}\"")) && formula.contains(&format!("version \"{VERSION}\"")));

    let (windows, sum) = sums.iter().find(|(name, _)| name.ends_with(".zip")).unwrap();
    let installer = manifest(&read("winget/Sheetport.Sheetport.installer.yaml"), "installer");
    assert_eq!(installer["InstallerUrl"], format!("{DOWNLOADS}/{windows}"));
    assert_eq!(installer["InstallerSha256"], sum.to_uppercase());
    assert_eq!(installer["RelativeFilePath"], format!("{}\\sheetport.exe", windows.trim_end_matches(".zip")));
    let locale = manifest(&read("winget/Sheetport.Sheetport.locale.en-US.yaml"), "defaultLocale");
    assert_eq!(locale["PackageUrl"], HOME);
    manifest(&read("winget/Sheetport.Sheetport.yaml"), "version");
}

/// Returns the values of a manifest of winget by key, after holding it to the rules of its schema.
#[track_caller]
fn manifest(text: &str, kind: &str) -> BTreeMap<String, String> {
    let (required, patterns): (&[&str], &[(&str, &str)]) = match kind {
        "version" => (&["DefaultLocale"], &[("DefaultLocale", r"^[a-zA-Z]{2,3}(-[a-zA-Z]{2})?$")]),
        "installer" => (
            &[
                "Installers",
                "InstallerType",
                "NestedInstallerType",
                "NestedInstallerFiles",
                "RelativeFilePath",
                "Architecture",
            ],
            &[
                ("InstallerType", "^zip$"),
                ("NestedInstallerType", "^portable$"),
                ("Architecture", "^(x86|x64|arm|arm64|neutral)$"),
                ("InstallerUrl", r"^([Hh][Tt][Tt][Pp][Ss]?)://.{1,2000}$"),
                ("InstallerSha256", "^[A-Fa-f0-9]{64}$"),
                ("RelativeFilePath", r"^[^/]{1,512}$"),
                ("PortableCommandAlias", r"^\S{1,40}$"),
            ],
        ),
        _ => (
            &["PackageLocale", "Publisher", "PackageName", "License", "ShortDescription", "Tags"],
            &[
                ("Publisher", "^.{2,256}$"),
                ("PackageName", "^.{2,256}$"),
                ("License", "^.{3,512}$"),
                ("ShortDescription", "^.{3,256}$"),
                ("Moniker", r"^\S{1,40}$"),
                ("PackageUrl", r"^([Hh][Tt][Tt][Pp][Ss]?)://.{1,2000}$"),
            ],
        ),
    };
    let mut values = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let line = line.trim_start_matches(['-', ' ']);
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        // What YAML would read as something else, unless it is quoted.
        assert!(
            !value.contains(": ") && !value.contains(" #") && !value.starts_with(['\'', '"', '[', '{', '&', '*']),
            "{line}"
        );
        assert!(values.insert(key.to_owned(), value.to_owned()).is_none(), "{key} is there twice: {text}");
    }
    let common = [
        ("PackageIdentifier", r#"^[^.\s\\/:*?"<>|]{1,32}(\.[^.\s\\/:*?"<>|]{1,32}){1,7}$"#),
        ("PackageVersion", r#"^[^\\/:*?"<>|]{1,128}$"#),
        ("ManifestVersion", r"^(0|[1-9][0-9]{0,4})(\.(0|[1-9][0-9]{0,4})){2}$"),
        ("ManifestType", &format!("^{kind}$")),
    ];
    for (key, pattern) in common.iter().chain(patterns) {
        let value = values.get(*key).unwrap_or_else(|| panic!("no {key} in {text}"));
        assert!(Regex::new(pattern).unwrap().is_match(value), "{key}: {value}");
    }
    assert!(required.iter().all(|key| values.contains_key(*key)), "{text}");
    values
}

#[test]
fn a_release_without_an_archive_or_a_secure_address_is_refused() {
    if !has_program("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let says = |mut command: Command, words: &str| {
        let ended = command.output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(!ended.status.success() && said.contains(words), "{said}");
    };
    says(release(folder.path(), DOWNLOADS), "lacks sheetport-");
    archives(folder.path());
    says(release(folder.path(), "http://files.invalid"), "begins with https://");
    assert!(!folder.path().join("SHA256SUMS").exists());
}

/// The executable is a script that starts the real one, so that nothing large is packed.
#[cfg(unix)]
#[test]
fn an_archive_has_the_executable_with_its_pages_and_is_the_same_each_time() {
    use std::os::unix::fs::PermissionsExt;
    if !has_program("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    fs::write(&script, format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_sheetport"))).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let pack = |target: &str, to: &str| -> PathBuf {
        let to = folder.path().join(to);
        let mut command = Command::new("python3");
        succeeds(command.arg(root().join("packaging/archive")).arg(&script).arg(target).arg(&to));
        let ending = if target.contains("windows") { "zip" } else { "tar.gz" };
        to.join(format!("sheetport-{VERSION}-{target}.{ending}"))
    };
    let archive = pack("x86_64-unknown-linux-musl", "first");
    assert!(fs::read(&archive).unwrap() == fs::read(pack("x86_64-unknown-linux-musl", "second")).unwrap());

    succeeds(Command::new("tar").arg("-xzf").arg(&archive).current_dir(folder.path()));
    let unpacked = folder.path().join(format!("sheetport-{VERSION}-x86_64-unknown-linux-musl"));
    let version = succeeds(Command::new(unpacked.join("sheetport")).arg("--version"));
    assert_eq!(version.trim(), format!("sheetport {VERSION}"));
    for file in [
        "man/sheetport.1",
        "man/sheetport-upload.1",
        "completions/sheetport.bash",
        "completions/_sheetport",
        "LICENSE-MIT",
        "README.md",
        "third-party.txt",
    ] {
        assert!(unpacked.join(file).metadata().unwrap().len() > 500, "{file}");
    }

    let archive = fs::File::open(pack("x86_64-pc-windows-msvc", "windows")).unwrap();
    let mut windows = zip::ZipArchive::new(archive).unwrap();
    let executable = windows.by_name(&format!("sheetport-{VERSION}-x86_64-pc-windows-msvc/sheetport.exe")).unwrap();
    assert_eq!(executable.unix_mode().map(|mode| mode & 0o777), Some(0o755));
    assert!(executable.size() > 0);
}

/// The image is built from the executable that needs no libraries.
#[test]
fn the_image_is_static() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let image = read("Containerfile");
    let (build, last) = image.split_once("\nFROM scratch\n").unwrap();
    assert!(
        ["-unknown-linux-musl", "musl-tools", "rustup target add"].iter().all(|part| build.contains(part)),
        "{build}"
    );
    assert!(build.contains("/image/etc/ssl/certs/ca-certificates.crt") && last.contains("USER 1000:1000"), "{image}");
    let version = Regex::new(r"rust:([0-9.]+)-slim").unwrap().captures(&image).unwrap()[1].to_owned();
    let manifest = read("Cargo.toml");
    assert!(manifest.contains(&format!("rust-version = \"{version}")), "{version}");
    let label = |name: &str| {
        let pattern = format!("org\\.opencontainers\\.image\\.{name}=\"(.*)\"");
        Regex::new(&pattern).unwrap().captures(last).unwrap()[1].to_owned()
    };
    assert_eq!(label("version"), VERSION);
    for (name, key) in [("licenses", "license"), ("description", "description")] {
        let value = label(name);
        assert!(manifest.contains(&format!("{key} = \"{value}\"")), "{name}: {value}");
    }
}

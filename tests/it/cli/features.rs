//! What is said about features that this executable is built without, and how to get them.

use std::fs;

use super::process::Place;
#[cfg(not(all(feature = "keyring", feature = "storage")))]
use super::service::Served;

const INSTALL: &str = "cargo install --locked --path . --features keyring --features parquet --features storage";

#[cfg(not(feature = "storage"))]
#[test]
fn addresses_in_object_storage_say_how_to_get_it() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", super::items(2));
    place.write("job.toml", "[[step]]\nupload = \"s3://shop/in/*.csv\"\ntemplate = \"items\"\n");
    let missing = "is in object storage, which this executable is built without";
    for args in [
        &["check", "s3://shop/items.csv", "-t", "items"][..],
        &["view", "GS://shop/items.csv"],
        &["upload", "az://shop/items.csv", "-t", "items"],
        &["upload", "items.csv", "-t", "items", "--report", "s3://shop/report.csv"],
        &["export", "items", "-o", "s3://shop/items.csv"],
        &["work", "--inbox", "s3://shop/in/", "-t", "items", "--until-idle"],
    ] {
        served.sheetport(&place, args.iter().copied()).exits(2).says(&[missing, INSTALL]);
    }
    served.sheetport(&place, ["job", "check", "job.toml"]).exits(0).says(&["s3://shop/in", missing, INSTALL]);
    assert_ne!(served.sheetport(&place, ["job", "run", "job.toml"]).run().code, Some(0));
    let german = served.sheetport(&place, ["--lang", "de", "check", "s3://shop/items.csv", "-t", "items"]);
    german.exits(2).says(&["s3://shop/items.csv liegt in einem Objektspeicher", INSTALL]);
    assert_eq!(served.total(), 0);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_says_how_to_get_it() {
    let place = Place::new();
    let export = ["export", "items", "-o", "items.parquet", "--base-url", "http://localhost:1"];
    place.sheetport(export).exits(2).says(&["items.parquet can't be written: this executable has no Parquet", INSTALL]);
}

#[cfg(not(feature = "keyring"))]
#[test]
fn tokens_in_the_keyring_say_how_to_get_it() {
    let place = Place::new();
    let served = Served::start(&place);
    let missing = "this executable is built without";
    let (access, refresh) = served.tokens();
    let login = |flags: &[&str]| {
        let login = place.sheetport(["login", "--base-url", &served.url()].iter().chain(flags));
        login.fed(format!("{access}\n{refresh}\n"))
    };
    login(&["--keyring"]).exits(2).says(&[missing, INSTALL, "--keyring=false"]);
    login(&["--keyring", "--lang", "de"]).exits(2).says(&["Schlüsselbund", INSTALL]);
    let file = place.path("home/credentials/default.json");
    assert!(!file.exists());
    // As an executable with this feature leaves it.
    login(&[]).exits(0);
    let content =
        format!("{{\"base_url\": \"{}\", \"access\": null, \"refresh\": null, \"keyring\": true}}", served.url());
    fs::write(&file, content).unwrap();
    for command in ["whoami", "logout"] {
        place.sheetport([command]).exits(2).says(&[missing, INSTALL, "--keyring=false"]);
    }
    assert!(file.exists());
    login(&[]).exits(0).says(&["the previous tokens stay in the keyring of the system"]);
    place.sheetport(["whoami"]).exits(0).shows(&["stored by login"]);
    place.sheetport(["logout"]).exits(0).shows(&["Removed the tokens"]);
}

#[test]
fn doctor_and_the_readme_name_the_features() {
    let place = Place::new();
    let said = place.sheetport(["doctor", "--offline", "--json"]).exits(1).json();
    let features: Vec<&str> = said["features"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let all = [
        ("keyring", cfg!(feature = "keyring")),
        ("otel", cfg!(feature = "otel")),
        ("parquet", cfg!(feature = "parquet")),
        ("storage", cfg!(feature = "storage")),
    ];
    let expected: Vec<&str> = all.iter().filter(|(_, is_included)| *is_included).map(|(name, _)| *name).collect();
    assert_eq!(features, expected);
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    assert!(readme.contains(INSTALL));
}

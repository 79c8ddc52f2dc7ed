//! `doctor`: what it finds on a sound machine, and what is wrong with its remedy.

use std::fs;

use serde_json::Value;

use super::items;
use super::process::{Place, Sheetport};
use super::service::Served;
use crate::faults::server::{Server, answer};

/// Returns the state, the text and the remedy of a check.
#[track_caller]
fn check<'j>(doctor: &'j Value, name: &str) -> (&'j str, &'j str, Option<&'j str>) {
    let checks = doctor["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no {name}: {doctor}"));
    (found["state"].as_str().unwrap(), found["text"].as_str().unwrap(), found["remedy"].as_str())
}

fn doctor(place: &Place) -> Sheetport {
    place.sheetport(["doctor", "--json"])
}

#[test]
fn a_sound_machine_has_no_problem() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(2));
    served.sheetport(&place, ["upload", "items.csv", "-t", "items"]).exits(0);
    let found = served.sheetport(&place, ["doctor", "--json"]).exits(0).json();
    let names: Vec<&str> =
        found["checks"].as_array().unwrap().iter().filter_map(|check| check["name"].as_str()).collect();
    let all = [
        "system",
        "reader",
        "folder",
        "space",
        "ledger",
        "address",
        "tokens",
        "expiry",
        "connection",
        "service",
        "clock",
    ];
    assert_eq!(names, all);
    assert_eq!(found["problems"], 0, "{found}");
    assert_eq!(check(&found, "ledger"), ("ok", "1 run checked, no damage", None));
    assert_eq!(check(&found, "service").0, "ok");
    assert_eq!(check(&found, "clock").0, "ok");
    assert!(check(&found, "address").1.contains(&served.url()), "{found}");
    assert!(check(&found, "tokens").1.contains("from the environment"), "{found}");
    let requests = served.total();
    let shown = served.sheetport(&place, ["doctor", "--offline"]).exits(0);
    shown.shows(&["reader", "1 run checked, no damage", "0 problems"]);
    assert_eq!(served.total(), requests, "nothing was created");
}

#[test]
fn a_machine_without_settings_needs_an_address() {
    let place = Place::new();
    let found = doctor(&place).exits(1).json();
    let (state, text, remedy) = check(&found, "address");
    assert_eq!((state, text.contains("no service address is set")), ("problem", true), "{found}");
    assert!(remedy.unwrap().contains("sheetport login"), "{found}");
    assert_eq!(check(&found, "folder").0, "ok", "{found}");
    assert_eq!(check(&found, "ledger"), ("ok", "there are no runs yet", None));
    assert!(!place.path("home").exists(), "nothing is created");
}

#[cfg(unix)]
#[test]
fn exposed_folders_and_damaged_ledgers_have_a_remedy() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let home = place.path("home");
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(home.join("ledger.db"), "not a database").unwrap();
    let found = doctor(&place).arg("--offline").exits(1).json();
    let (state, text, remedy) = check(&found, "folder");
    assert_eq!((state, text.contains("its mode is 755")), ("warning", true), "{found}");
    assert_eq!(remedy, Some(&*format!("run: chmod 700 {}", home.display())));
    let (state, _, remedy) = check(&found, "ledger");
    assert!(state == "problem" && remedy.is_some(), "{found}");
}

#[tokio::test]
async fn refusals_and_clock_differences_are_reported() {
    let place = Place::new();
    let late = "date: Tue, 01 Jan 2030 00:00:00 GMT\r\n";
    let server = Server::with_probes(move |_| answer(403, late, r#"{"message": "not for you"}"#)).await;
    let address = server.address.clone();
    let found = tokio::task::spawn_blocking(move || {
        let doctor =
            doctor(&place).env("SHEETPORT_BASE_URL", &address).secret("SHEETPORT_ACCESS_TOKEN", "secret-token");
        doctor.exits(1).json()
    });
    let found = found.await.unwrap();
    let (state, text, _) = check(&found, "service");
    assert_eq!((state, text.contains("not for you")), ("problem", true), "{found}");
    let (state, text, remedy) = check(&found, "clock");
    assert_eq!((state, text.ends_with("s behind the service's")), ("problem", true), "{found}");
    assert!(remedy.unwrap().contains("NTP"), "{found}");
    assert_eq!(check(&found, "expiry"), ("ok", "the token does not say when it ends", None));
}

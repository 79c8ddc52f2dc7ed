//! "Do this every night" on the page: the inbox, the job and the entry of the scheduler.

#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::super::process::{Place, name};
use super::super::service::Served;
use super::page::ReviewPage;

#[test]
fn the_same_upload_is_set_up_for_every_night() {
    let place = Place::new();
    let served = Served::start(&place);
    let script = "case $1 in -l) echo 'no crontab for anna' >&2; exit 1 ;; -) cat > \"$HOME/crontab\" ;; esac";
    fs::create_dir(place.path("bin")).unwrap();
    let program = place.write("bin/crontab", format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(program, Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", name(&place.path("bin")), std::env::var("PATH").unwrap());
    place.write("Price list.csv", "Item code;Label\nA-1;Bolt\nA-2;Nut\n");
    let home = place.path("");
    let command = served.sheetport(&place, ["review", "--no-open", "--json", "Price list.csv"]);
    let page = ReviewPage::start(command.env("PATH", &path).env("HOME", name(&home)));
    page.post("/template/change", &json!({"kind": "confirm-all"}));
    let check = page.post("/check", &json!({"full": true}))["check"].clone();
    assert_eq!(check["to_send"], 2, "{check}");

    let proposed = page.get("/nightly");
    assert_eq!(proposed["folder"], name(&place.path("Price list")), "{proposed}");
    assert!(proposed["text"].as_str().unwrap().contains("upload = \"inbox/*.csv\""), "{proposed}");
    let done = page.post("/nightly", &json!({"folder": proposed["folder"], "at": "05:15"}));
    if done["scheduler"] == "cron" {
        let crontab = fs::read_to_string(place.path("crontab")).unwrap();
        assert!(crontab.contains("\n15 5 * * * ") && crontab.contains("Price list-nightly.toml"), "{crontab}");
        assert!(done["obstacles"][0].as_str().unwrap().contains("sheetport login"), "{done}");
    }
    // Set up twice is set up once, and the time can be changed. A job that somebody has changed is not replaced.
    page.post("/nightly", &json!({"folder": proposed["folder"], "at": "05:15"}));
    page.post("/nightly", &json!({"folder": proposed["folder"], "at": "05:45"}));
    let mistake = json!({"folder": place.path("other"), "at": "99:99"}).to_string();
    assert!(page.ask("POST", "/api/reviews/1/nightly", &mistake).starts_with("HTTP/1.1 422"));
    assert!(!place.path("other").exists(), "a mistake leaves nothing behind");
    let job = place.path("Price list/Price list-nightly.toml");
    fs::write(&job, fs::read_to_string(&job).unwrap().replace("[[step]]", "[[step]]\nsettle = \"0s\"")).unwrap();
    let other =
        page.ask("POST", "/api/reviews/1/nightly", &json!({"folder": proposed["folder"], "at": "06:00"}).to_string());
    assert!(other.starts_with("HTTP/1.1 422") && other.contains("already exists"), "{other}");
    let relative = page.ask("POST", "/api/reviews/1/nightly", &json!({"folder": "here", "at": "06:00"}).to_string());
    assert!(relative.starts_with("HTTP/1.1 422") && relative.contains("no full path"), "{relative}");

    // The job works as it was written.
    fs::write(place.path("Price list/inbox/new.csv"), "Item code;Label\nA-2;Washer\nA-3;Pin\n").unwrap();
    served.sheetport(&place, ["job", "run", name(&job)]).exits(0);
    let items = served.get("/v1/public/items?page=1&limit=10")["data"].clone();
    let mut names: Vec<&str> = items.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["Pin", "Washer"], "{items}");
    assert!(place.path("Price list/done/new.csv").exists());
}

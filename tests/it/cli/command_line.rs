//! The command line itself: help in two lengths, completions, pages of the manual, and the settings in force.

use std::fs;
use std::process::Command;

use super::process::{Place, name};

#[test]
fn help_comes_in_two_lengths() {
    let place = Place::new();
    let short = place.sheetport(["upload", "-h"]).exits(0).shows(&["--dry-run", "--help` has all flags"]);
    let long = place.sheetport(["upload", "--help"]).exits(0).shows(&[
        "--dry-run",
        "Examples:",
        "Global options:",
        "--base-url",
    ]);
    for words in ["Examples:", "--base-url", "SHEETPORT_", "--for-supplier"] {
        assert!(!short.stdout.contains(words), "{words} is in {}", short.stdout);
    }
    assert!(short.stdout.len() < long.stdout.len());
    // Nothing was asked for, and nothing is wrong.
    let bare = place.sheetport::<&str>([]).exits(0).shows(&["Usage: sheetport", "upload", "doctor"]);
    assert!(!bare.stdout.contains("Exit codes") && bare.stderr.is_empty(), "{bare:?}");
    place.sheetport(["job"]).exits(2).says(&["Usage: sheetport job"]);
    place.sheetport(["--help"]).exits(0).shows(&["Exit codes:", "Global options:"]);
}

#[test]
fn wrong_flags_are_json_on_request() {
    let place = Place::new();
    let wrong = place.sheetport(["upload", "--dry-rum", "a.csv", "--json"]).exits(2).says(&["--dry-rum"]).json();
    assert_eq!(wrong["error"]["message"], "unexpected argument '--dry-rum' found");
    assert!(wrong["error"]["hint"].as_str().unwrap().contains("'--dry-run'"), "{wrong}");
    let missing = place.sheetport(["upload", "--json"]).exits(2).json();
    assert_eq!(missing["error"]["message"], "the following required arguments were not provided: <FILE>");
    let wrong = place.sheetport(["upload", "--dry-rum", "a.csv"]).exits(2);
    assert_eq!(wrong.stdout, "");
}

#[test]
fn shells_take_the_completions() {
    let place = Place::new();
    for (shell, words) in [("bash", "complete -F"), ("zsh", "#compdef sheetport"), ("fish", "complete -c sheetport")] {
        let script = place.sheetport(["completions", shell]).exits(0).shows(&[words, "dry-run"]).stdout;
        let path = place.write(&format!("completions.{shell}"), &script);
        let Ok(read) = Command::new(shell).arg("-n").arg(&path).output() else { continue };
        assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    }
    place.sheetport(["completions", "powershell"]).exits(0).shows(&["Register-ArgumentCompleter"]);
    place.sheetport(["completions", "tcsh"]).exits(2).says(&["possible values: bash"]);
    // As the shell asks: the words so far, and the one to complete.
    let script = "source completions.bash; COMP_WORDS=(sheetport job ru); COMP_CWORD=2; _sheetport sheetport ru job; echo ${COMPREPLY[@]}";
    place.command("bash", ["-c", script]).exits(0).shows(&["run"]);
}

#[test]
fn each_command_has_a_page_of_the_manual() {
    let place = Place::new();
    place.sheetport(["man", "pages"]).exits(0);
    let page = |name: &str| fs::read_to_string(place.path(&format!("pages/{name}.1"))).unwrap();
    assert!(page("sheetport").contains("sheetport\\-upload(1)") && page("sheetport-job-run").contains("Examples"));
    // Old names that go on working have none.
    assert!(!place.path("pages/sheetport-whoami.1").exists());
    let upload = place.path("pages/sheetport-upload.1");
    if let Ok(checked) = Command::new("groff").args(["-man", "-Tutf8", "-ww", "-z", name(&upload)]).output() {
        assert!(checked.status.success(), "{checked:?}");
    }
}

#[test]
fn settings_are_shown_with_their_origins() {
    let place = Place::new();
    fs::create_dir(place.path("home")).unwrap();
    place.write("home/sheetport.toml", "[profiles.shop]\nbase_url = \"https://shop.example\"\nrate = \"10/s\"\n");
    let config = place
        .sheetport(["config", "--profile", "shop", "--json"])
        .secret("SHEETPORT_PROXY", "http://anna:geheim@p.example:8080");
    let config = config.exits(0).json();
    let of = |name: &str| {
        let rows = config["settings"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        (row["value"].as_str().map(str::to_owned), row["from"].as_str().unwrap().to_owned())
    };
    let set = |value: &str, from: &str| (Some(value.to_owned()), from.to_owned());
    assert_eq!(of("profile"), set("shop", "flag"));
    assert_eq!(of("base_url"), set("https://shop.example", "settings"));
    assert_eq!(of("rate"), set("10/s", "sheetport.toml"));
    assert_eq!(of("proxy"), set("http://p.example:8080", "environment"));
    assert_eq!(of("ca_file"), (None, "default".to_owned()));
    let text = place.sheetport(["config"]).secret("SHEETPORT_ACCESS_TOKEN", "geheim-1").exits(0);
    text.shows(&["profile default", "sheetport.toml", "home"]);
}

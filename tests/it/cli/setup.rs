//! Unusable folders, ports and ledgers.

use std::fs;

use super::process::{Place, name};
use super::service::Served;
use super::{items, sample};

#[test]
fn foreign_ledger_file_is_not_changed() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(3));
    fs::create_dir(place.path("home")).unwrap();
    place.write("home/ledger.db", "somebody's notes, and nothing of ours");
    for args in [&["upload", "items.csv", "-t", "items"][..], &["runs"], &["resume"]] {
        let ended = served.sheetport(&place, args.iter().copied()).exits(1);
        ended.says(&["ledger.db can't be opened", "SHEETPORT_HOME", "an existing ledger is never replaced"]);
    }
    assert_eq!(served.total(), 0);
    assert_eq!(fs::read_to_string(place.path("home/ledger.db")).unwrap(), "somebody's notes, and nothing of ours");
}

#[test]
fn home_that_is_a_file_is_named_in_the_error() {
    let place = Place::new();
    let file = place.write("notes.txt", "notes");
    place.sheetport(["runs", "--home", name(&file)]).exits(1).says(&["notes.txt", "can't be opened", "SHEETPORT_HOME"]);
}

#[cfg(unix)]
#[test]
fn ledger_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.sheetport(["runs"]).exits(0);
    for (path, mode) in [("home", 0o700), ("home/ledger.db", 0o600)] {
        assert_eq!(fs::metadata(place.path(path)).unwrap().permissions().mode() & 0o777, mode, "{path}");
    }
}

#[test]
fn services_cannot_share_data_or_a_port() {
    let place = Place::new();
    let served = Served::start(&place);
    let again = place.sheetport(["serve", "--listen", "127.0.0.1:0", "--data", "service"]);
    again.exits(6).says(&["service is in use by another running service", "another data folder"]);
    let address = served.url().replace("http://", "");
    let beside = place.sheetport(["serve", "--listen", &address, "--data", "other"]);
    beside.exits(2).says(&["can't listen on", &address, "choose another address or port with --listen"]);
    assert_eq!(served.total(), 0, "the first is still there");
}

#[cfg(unix)]
#[test]
fn service_stops_on_sigterm_and_keeps_its_items() {
    let place = Place::new();
    let process = place.sheetport(["serve", "--listen", "127.0.0.1:0", "--data", "service", "--json"]).start();
    process.line();
    let asked = std::process::Command::new("kill").args(["-s", "TERM", &process.id().to_string()]).status();
    assert!(asked.unwrap().success());
    process.wait().exits(0);
    let served = Served::start(&place);
    let file = sample("items.csv");
    served.sheetport(&place, ["upload", name(&file), "-t", "items", "-q"]).exits(0);
    drop(served);
    assert_eq!(Served::start(&place).total(), 25, "what was accepted outlives even a service that is killed");
}

#[test]
fn invalid_command_line_exits_with_2_and_shows_help() {
    let place = Place::new();
    place.sheetport(["upload"]).exits(2).says(&["<FILE>", "Usage: sheetport upload"]);
    place.sheetport(["uplod"]).exits(2).says(&["'uplod'", "upload"]);
    place.sheetport(["upload", "items.csv", "-t", "items", "--delimiter", "ab"]).exits(2).says(&["such as ;", "tab"]);
    place.sheetport(["--version"]).exits(0).shows(&[concat!("sheetport ", env!("CARGO_PKG_VERSION"))]);
    place.sheetport(["--help"]).exits(0).shows(&["Exit codes:", "130, 143"]);
    assert_eq!(place.names(), [""; 0], "nothing of it makes a file");
}

#[test]
fn invalid_workspace_name_gets_no_tokens() {
    let token = Place::new().sheetport(["serve", "token", "--workspace", "my shop"]).exits(2);
    let token = token.says(&["\"my shop\" is not a valid workspace name", "letters, digits"]);
    assert_eq!(token.stdout, "");
}

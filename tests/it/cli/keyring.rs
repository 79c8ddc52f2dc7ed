//! Tokens in the keyring of the system, with a real one: GNOME Keyring in a session of its own.

#![cfg(target_os = "linux")]

use super::process::{Place, Sheetport};
use super::service::Served;
use crate::environment::has_program;

/// Returns a script in a session with an unlocked, empty keyring.
fn in_session(place: &Place, served: &Served, script: &str) -> Option<Sheetport> {
    if !has_program("dbus-run-session") || !has_program("gnome-keyring-daemon") {
        return None;
    }
    let exe = env!("CARGO_BIN_EXE_sheetport");
    let unlock = "printf pw | gnome-keyring-daemon --unlock --components=secrets >unlocked 2>&1";
    let script = format!("set -e; sheetport() {{ '{exe}' \"$@\"; }}; {unlock}; {script}");
    let session = place.command("dbus-run-session", ["--", "sh", "-c", &script]);
    let tokens = served.tokens();
    let session =
        session.secret("ACCESS", &tokens.0).secret("REFRESH", &tokens.1).env("SHEETPORT_BASE_URL", &served.url());
    let folder = place.path("").display().to_string();
    Some(session.env("HOME", &folder).env("XDG_DATA_HOME", &folder).env("XDG_RUNTIME_DIR", &folder))
}

const LOGIN: &str = "printf '%s\\n%s\\n' \"$ACCESS\" \"$REFRESH\" | sheetport login --json";

#[test]
fn tokens_in_the_keyring_are_nowhere_else_and_used_until_logout() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", super::items(2));
    let script = format!(
        "{LOGIN} --keyring; cat home/credentials/default.json >&2; sheetport whoami --json; \
         sheetport upload items.csv -t items --json; sheetport logout --json; sheetport whoami --json"
    );
    let Some(session) = in_session(&place, &served, &script) else { return };
    let ended = session.exits(2);
    let lines: Vec<serde_json::Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["tokens"], &lines[1]["tokens"]), (&"keyring".into(), &"keyring".into()), "{ended:?}");
    assert_eq!(lines[2]["sent"], 2);
    assert_eq!(lines[3]["removed"], true);
    assert!(lines[4]["error"]["message"].is_string(), "{ended:?}");
    assert!(ended.stderr.contains("\"keyring\":true"), "{ended:?}");
    let (access, refresh) = served.tokens();
    for token in [access, refresh] {
        assert!(!ended.stderr.contains(&token) && !ended.stdout.contains(&token));
    }
}

#[test]
fn tokens_have_one_home_after_another_login() {
    let place = Place::new();
    let served = Served::start(&place);
    std::fs::create_dir(place.path("home")).unwrap();
    place.write("home/sheetport.toml", "[profiles.default]\nkeyring = true\n");
    let script = format!(
        "{LOGIN}; {LOGIN} --keyring=false; sheetport whoami --json; sed -i 's/\"base_url\"/\"keyring\":true,\"base_url\"/' \
         home/credentials/default.json; sheetport whoami --json"
    );
    let Some(session) = in_session(&place, &served, &script) else { return };
    let ended = session.exits(2);
    let tokens = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["tokens"].clone();
    let tokens: Vec<_> = ended.stdout.lines().map(tokens).collect();
    assert_eq!(tokens[..3], ["keyring", "stored", "stored"], "{ended:?}");
    assert!(ended.stderr.contains("its tokens are not in the keyring any more"), "{ended:?}");
}

#[test]
fn without_a_keyring_login_says_what_to_do() {
    let place = Place::new();
    let served = Served::start(&place);
    let (access, refresh) = served.tokens();
    let login = |flags: &[&str]| {
        let login = place.sheetport(["login", "--base-url", &served.url()].iter().chain(flags));
        let login =
            login.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent").fed(format!("{access}\n{refresh}\n"));
        login.without("XDG_RUNTIME_DIR").run()
    };
    let refused = login(&["--keyring"]);
    assert_ne!(refused.code, Some(0));
    refused.says(&["the keyring of the system can't be used", "--keyring=false"]);
    assert!(!place.path("home/credentials/default.json").exists());
    assert_eq!(login(&[]).code, Some(0));
}

#[test]
fn tokens_in_the_keyring_stay_with_their_address() {
    let place = Place::new();
    let served = Served::start(&place);
    // Somebody else's listener: nothing may be sent to it.
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap();
    let file = "home/credentials/default.json";
    let script = format!(
        "{LOGIN} --keyring; sed -i 's#\"base_url\":\"[^\"]*\"#\"base_url\":\"http://{address}\"#' {file}; cat {file} >&2; \
         unset SHEETPORT_BASE_URL; sheetport export items -o items.csv --base-url http://{address}"
    );
    let Some(session) = in_session(&place, &served, &script) else { return };
    let ended = session.exits(2);
    assert!(ended.stderr.contains(&address.to_string()), "{ended:?}");
    assert!(ended.stderr.contains("its tokens in the keyring are for another address"), "{ended:?}");
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_err(), "a connection to the other address");
}

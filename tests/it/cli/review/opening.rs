//! How the browser is started: without the token in its arguments, and without the secrets of the environment.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::super::browser::Browser;
use super::super::process::{Place, Running, name, until};
use super::super::service::Served;
use super::{click, wait};

/// Programs of a desktop: one that says which browser there is, and one that notes how it was started.
fn desktop(place: &Place) -> String {
    let folder = place.path("bin");
    fs::create_dir(&folder).unwrap();
    let noted = name(&place.path("")).to_owned();
    let script = |program: &str, text: String| {
        let path = folder.join(program);
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    script("xdg-mime", "#!/bin/sh\necho browser.desktop\n".to_owned());
    script(
        "xdg-open",
        format!(
            "#!/bin/sh\nenv > '{noted}/env'\ntr '\\0' ' ' < /proc/$$/cmdline > '{noted}/arguments.new'\nmv '{noted}/arguments.new' '{noted}/arguments'\n"
        ),
    );
    format!("{}:{}", name(&folder), std::env::var("PATH").unwrap())
}

/// Starts the page with a browser. Returns its process, its address with the token, and the arguments of the browser.
fn open(place: &Place, served: &Served, at: &str) -> (Running, String, String) {
    let path = desktop(place);
    let mut command = served.sheetport(place, ["review", "--json"]).env("PATH", &path).env("DISPLAY", ":7");
    for name in [
        "WSL_DISTRO_NAME",
        "VSCODE_IPC_HOOK_CLI",
        "REMOTE_CONTAINERS",
        "CODESPACES",
        "SNAP",
        "BROWSER",
        "SSH_CONNECTION",
    ] {
        command = command.without(name);
    }
    for name in ["PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY", "GITHUB_TOKEN", "SHEETPORT_ANYTHING"] {
        command = command.env(name, "http://only-for-sheetport:1");
    }
    let process = command.env("NO_PROXY", "127.0.0.1").env("SSH_CONNECTION", at).start();
    let line: Value = serde_json::from_str(&process.line()).unwrap();
    let address = line["listening"].as_str().unwrap().to_owned();
    let arguments = until("the browser is started", || fs::read_to_string(place.path("arguments")).ok());
    (process, address, arguments)
}

fn opener(arguments: &str) -> PathBuf {
    PathBuf::from(arguments.split_whitespace().last().unwrap())
}

/// Asks to be let in. Returns the status and the body.
fn ask(address: &str, ticket: &Value) -> (u16, String) {
    let (origin, _) = address.rsplit_once("/").unwrap();
    let body = ticket.to_string();
    let host = origin.strip_prefix("http://").unwrap();
    let mut connection = TcpStream::connect(host).unwrap();
    let len = body.len();
    write!(
        connection,
        "POST /api/session HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nContent-Type: application/json\r\n\
         Content-Length: {len}\r\nConnection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    (answer[9..12].parse().unwrap(), answer)
}

#[test]
fn the_browser_is_started_with_a_private_file_and_without_secrets() {
    let place = Place::new();
    let served = Served::start(&place);
    let (process, address, arguments) = open(&place, &served, "");
    let (_, token) = address.split_once('#').unwrap();
    assert!(token.len() == 64 && !arguments.contains(token), "{arguments}");
    let file = opener(&arguments);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700), "{}", file.display());
    assert!(fs::read_to_string(&file).unwrap().contains(&address));

    let environment = fs::read_to_string(place.path("env")).unwrap();
    assert!(environment.contains("DISPLAY=:7\n") && environment.contains("PATH="), "{environment}");
    for secret in ["SHEETPORT_", "PGPASSWORD", "AWS_", "PROXY", "GITHUB_TOKEN", "only-for-sheetport"] {
        assert!(!environment.contains(secret), "{secret} in {environment}");
    }

    assert_eq!(ask(&address, &json!({"token": token})).0, 200);
    assert!(!file.parent().unwrap().exists(), "the file is removed once a browser is in");
    process.signal("INT");
    process.wait().exits(0);
}

#[test]
fn the_file_for_the_browser_goes_with_the_page() {
    let place = Place::new();
    let served = Served::start(&place);
    let (process, _, arguments) = open(&place, &served, "");
    let file = opener(&arguments);
    assert!(file.exists());
    process.signal("INT");
    process.wait();
    assert!(!file.parent().unwrap().exists());
}

#[test]
fn a_browser_elsewhere_is_asked_for_the_code_of_the_terminal() {
    let place = Place::new();
    let served = Served::start(&place);
    let (process, address, arguments) = open(&place, &served, "10.0.0.1 22 10.0.0.2 22");
    let (public, token) = address.split_once('#').unwrap();
    assert!(arguments.trim_end().ends_with(public) && !arguments.contains(token), "{arguments}");
    let (status, answer) = ask(&address, &json!({"code": "AAAA-AAAA"}));
    assert!(status == 403 && answer.contains("attempts left: 4"), "{answer}");
    process.signal("INT");
    let ended = process.wait();
    assert!(ended.stderr.contains("The page asks for this code: "), "{}", ended.stderr);
}

#[test]
fn a_browser_follows_the_file_and_another_types_the_code() {
    let place = Place::new();
    let served = Served::start(&place);
    let Some(mut browser) = Browser::start() else { return };
    let (mut process, address, arguments) = open(&place, &served, "");
    browser.open(&opener(&arguments), "");
    wait(&mut browser, "location.hash === '#/' && document.querySelector('.drop input[type=file]')");
    assert_eq!(ask(&address, &json!({"token": address.split_once('#').unwrap().1})).0, 401, "it works once");
    process.signal("INT");
    until("the page is closed", || process.has_ended().then_some(()));

    let process = served.sheetport(&place, ["review", "--no-open"]).start();
    let address = process.line();
    let said = process.said("type the code");
    let code = said.split_whitespace().last().unwrap();
    let (public, _) = address.split_once('#').unwrap();
    browser.visit(public);
    wait(&mut browser, "document.querySelector('#code')");
    browser.eval("document.querySelector('#code').value = 'AAAA-AAAA'");
    click(&mut browser, "button.primary", "Open the page");
    wait(&mut browser, "document.body.innerText.includes('attempts left: 4')");
    browser.eval(&format!("document.querySelector('#code').value = '{}'", code.to_lowercase()));
    click(&mut browser, "button.primary", "Open the page");
    wait(&mut browser, "document.querySelector('.drop input[type=file]')");
}

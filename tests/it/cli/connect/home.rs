//! Tokens and the one service that they are for.

use std::fs;

use super::*;

/// Starts a service that notes which tokens it gets.
async fn service() -> Server {
    Server::with_probes(|seen| match seen.body.is_empty() {
        true => answer(200, "", r#"{"data": []}"#),
        false => Reply::Accept,
    })
    .await
}

/// Returns the tokens that a service got.
fn got(server: &Server) -> Vec<String> {
    let mut tokens: Vec<String> = server.log().into_iter().filter_map(|seen| seen.bearer).collect();
    tokens.dedup();
    tokens
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_of_the_environment_go_to_their_own_service_only() {
    let (own, other) = (service().await, service().await);
    let place = with_items();
    let elsewhere = |args: &[&str]| at(&place, &own.address, args).args(["--base-url", &other.address]);
    let words = ["the tokens of the environment are for", &own.address, &other.address, "sheetport login --base-url"];
    for args in [&UPLOAD[..], &["export", "items", "-o", "out.csv"], &["whoami"]] {
        elsewhere(args).exits(2).says(&words);
    }
    // A flag without the variable: nothing says what the token is for.
    let token = |args: &[&str]| place.sheetport(args).secret("SHEETPORT_ACCESS_TOKEN", TOKEN);
    let flag = token(&["whoami"]).args(["--base-url", &other.address]).exits(2);
    flag.says(&[&format!("SHEETPORT_BASE_URL={}", other.address), "SHEETPORT_TOKEN_HOST="]);
    fs::create_dir_all(place.path("home")).unwrap();
    place.write("home/sheetport.toml", format!("[profiles.default]\nbase_url = \"{}\"\n", other.address));
    token(&["whoami"]).exits(2).says(&["SHEETPORT_TOKEN_HOST="]);
    assert_eq!(got(&other), [""; 0]);
    // With the variable that the message names.
    token(&["whoami"]).env("SHEETPORT_TOKEN_HOST", &other.address).exits(0);
    assert_eq!(got(&other), [TOKEN]);
    assert_eq!(got(&own), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_gets_no_tokens_of_another_service() {
    let (own, other) = (service().await, service().await);
    let place = with_items();
    at(&place, &own.address, &UPLOAD).exits(0);
    let resume = at(&place, &other.address, &["resume", "1"]).without("SHEETPORT_BASE_URL");
    let resume = resume.env("SHEETPORT_TOKEN_HOST", &other.address).exits(2);
    resume.says(&["the tokens of the environment are for", &own.address]);
    assert_eq!(got(&other), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_profile_uses_its_own_address_and_tokens() {
    let (production, test) = (service().await, service().await);
    let place = with_items();
    let login = place.sheetport(["login", "--profile", "test", "--base-url", &test.address]);
    login.fed("access-of-test\nrefresh-of-test\n").exits(0);
    let whoami = at(&place, &production.address, &["whoami", "--profile", "test", "--json"]).exits(0).json();
    assert_eq!((&whoami["base_url"], &whoami["tokens"]), (&test.address.clone().into(), &"stored".into()));
    at(&place, &production.address, &["whoami"]).exits(0).shows(&[&production.address, "from the environment"]);
    assert_eq!((got(&test), got(&production)), (vec!["access-of-test".to_owned()], vec![TOKEN.to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoami_says_where_a_token_goes_before_it_goes() {
    let silent = Server::with_probes(|_| answer(500, "", "")).await;
    let place = Place::new();
    let whoami = at(&place, &silent.address, &["whoami"]).exits(9);
    whoami.says(&[&format!("the token of the environment goes to {} (from SHEETPORT_BASE_URL)", silent.address)]);
    // Without a request.
    let before = silent.log().len();
    let whoami = at(&place, &silent.address, &["whoami", "--offline", "--json"]).exits(0).json();
    assert_eq!(whoami["address_from"], "environment");
    assert_eq!((&whoami["tokens"], &whoami["checked"]), (&"environment".into(), &false.into()));
    let proxy = ["whoami", "--offline", "--json", "--proxy", "proxy.example:8080"];
    at(&place, &silent.address, &proxy).exits(2).says(&["would travel unencrypted to http://proxy.example:8080"]);
    let allowed = [&proxy[..], &["--insecure-http"]].concat();
    let proxied = at(&place, &silent.address, &allowed);
    assert_eq!(proxied.exits(0).json()["proxy"], "http://proxy.example:8080");
    assert_eq!(silent.log().len(), before);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn credentials_that_others_can_read_are_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = service().await;
    let place = with_items();
    let login = || place.sheetport(["login", "--base-url", &server.address]).fed("access-2\nrefresh-2\n");
    login().exits(0);
    let file = place.path("home/credentials/default.json");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let before = server.log().len();
    let chmod = format!("chmod 600 '{}'", file.display());
    for args in [&["whoami"][..], &UPLOAD, &["whoami", "--base-url", &server.address]] {
        place.sheetport(args).exits(2).says(&["other users", &chmod]);
    }
    assert_eq!(server.log().len(), before);
    // Commands that need no tokens, other tokens, and a new login go through.
    place.sheetport(["check", "items.csv", "-t", "items"]).exits(0);
    at(&place, &server.address, &["whoami"]).exits(0);
    login().exits(0);
    place.sheetport(["whoami"]).exits(0);
    // So are the passwords of proxies.
    let settings = place.write("home/sheetport.toml", "[profiles.default]\nproxy = \"http://me:hidden@127.0.0.1:9\"\n");
    fs::set_permissions(&settings, fs::Permissions::from_mode(0o640)).unwrap();
    let refused = place.sheetport(["whoami"]).exits(2).says(&["password of a proxy", "chmod 600"]);
    assert!(!refused.stderr.contains("hidden"));
}

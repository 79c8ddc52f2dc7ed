//! `login`, `whoami` and `logout`: stored credentials and profiles.

use std::fs;

use super::items;
use super::process::Place;
use super::service::{Served, tokens};
use crate::faults::server::{Reply, Server, answer};

#[test]
fn stored_tokens_are_private_and_used_until_logout() {
    let place = Place::new();
    let served = Served::start(&place);
    let pair = tokens(&place, "full");
    place.write("items.csv", items(5));
    let login = place.sheetport(["login", "--base-url", &served.url(), "--json"]);
    let login = login.fed(format!("{}\n{}\n", pair.access, pair.refresh)).exits(0);
    let said = login.json();
    assert_eq!((&said["workspace"], &said["access"]), (&"shop".into(), &"full".into()));
    for token in [&pair.access, &pair.refresh] {
        assert!(!format!("{login:?}").contains(token.as_str()));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for (path, mode) in [("home/credentials", 0o700), ("home/credentials/default.json", 0o600)] {
            assert_eq!(fs::metadata(place.path(path)).unwrap().permissions().mode() & 0o777, mode, "{path}");
        }
    }
    let names: Vec<_> =
        fs::read_dir(place.path("home/credentials")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!format!("{names:?}").contains("new.json"), "{names:?}");
    // The stored address and tokens are used.
    place.sheetport(["upload", "items.csv", "-t", "items", "-q"]).exits(0);
    assert_eq!(served.total(), 5);
    place.sheetport(["whoami"]).exits(0).shows(&["shop", "full", &served.url(), "stored by login"]);
    // They are not sent to another address.
    let other = place.sheetport(["upload", "items.csv", "-t", "items", "--base-url", "http://127.0.0.1:9"]);
    other.exits(2).says(&["no credentials for http://127.0.0.1:9", "sheetport login"]);
    // Environment variables take precedence, for their own service only.
    let other = || place.sheetport(["whoami"]).secret("SHEETPORT_ACCESS_TOKEN", "a-wrong-token");
    other().env("SHEETPORT_BASE_URL", &served.url()).exits(5).says(&["refused the credentials"]);
    other().env("SHEETPORT_TOKEN_HOST", "https://other.example").exits(0).shows(&["stored by login"]);
    other().exits(0).shows(&["stored by login"]);
    place.sheetport(["logout"]).exits(0).shows(&["Removed the tokens"]);
    place.sheetport(["logout"]).exits(0).shows(&["no stored tokens"]);
    place.sheetport(["whoami"]).exits(2).says(&["no service address is set", "sheetport login"]);
}

#[test]
fn refused_tokens_do_not_replace_stored_ones() {
    let place = Place::new();
    let served = Served::start(&place);
    let pair = tokens(&place, "full");
    let login = |input: &str| place.sheetport(["login", "--base-url", &served.url()]).fed(input);
    login(&format!("{}\n{}\n", pair.access, pair.refresh)).exits(0);
    login("wrong\nwrong too\n").exits(5).says(&["refused the credentials"]);
    login("\n\n").exits(2).says(&["no credentials"]);
    place.sheetport(["whoami"]).exits(0);
    // A refresh token alone is enough; the renewed pair is stored.
    login(&format!("\n{}\n", pair.refresh)).exits(0);
    let stored = fs::read_to_string(place.path("home/credentials/default.json")).unwrap();
    assert!(stored.contains("\"access\":\"ey"), "an access token was fetched and stored");
}

#[test]
fn profiles_have_their_own_tokens_and_settings() {
    let place = Place::new();
    let served = Served::start(&place);
    let regular = tokens(&place, "regular");
    place.write("items.csv", items(3));
    fs::create_dir_all(place.path("home")).unwrap();
    let file = format!("profile = \"test\"\n[profiles.test]\nbase_url = \"{}/\"\nrate = \"50/s\"\n", served.url());
    place.write("home/sheetport.toml", file);
    place.sheetport(["login"]).fed(format!("{}\n{}\n", regular.access, regular.refresh)).exits(0);
    assert!(place.path("home/credentials/test.json").exists());
    place.sheetport(["whoami"]).exits(0).shows(&["test", "regular"]);
    place.sheetport(["whoami", "--profile", "default"]).exits(2).says(&["no service address is set"]);
    place.sheetport(["upload", "items.csv", "-t", "items"]).exits(5).says(&["Regular", "Full Access"]);
    place.sheetport(["whoami", "--profile", "../x"]).exits(2).says(&["'../x' is not a valid profile name"]);
    place.write("home/sheetport.toml", "[profiles.test]\nbase_uri = 1\n");
    let place_and_remedy = ["sheetport.toml:2:1", "unknown key 'base_uri'", "did you mean base_url?"];
    place.sheetport(["whoami"]).exits(2).says(&place_and_remedy);
    place.write("home/sheetport.toml", "[profiles.default]\nrate = \"fast\"\n");
    place.sheetport(["whoami"]).exits(2).says(&["'fast' is not a rate"]);
}

/// A service that accepts each refresh token once: the environment still has the old pair at the next command.
#[tokio::test(flavor = "multi_thread")]
async fn renewed_tokens_of_the_environment_are_kept_for_the_next_command() {
    let server = Server::with_probes(|seen| match (seen.path.as_str(), seen.bearer.as_deref()) {
        ("/api/token/refresh/", None) if seen.body.contains("refresh-1") && seen.repeat == 0 => {
            answer(200, "", r#"{"access": "access-2", "refresh": "refresh-2"}"#)
        }
        (_, Some("access-2")) if seen.body.is_empty() => answer(200, "", r#"{"data": []}"#),
        (_, Some("access-2")) => Reply::Accept,
        _ => answer(401, "", r#"{"message": "not valid"}"#),
    })
    .await;
    let place = Place::new();
    place.write("items.csv", "SKU,Price\na-1,1\na-2,2\n");
    let run = |args: &[&str]| {
        let command = place.sheetport(args).env("SHEETPORT_BASE_URL", &server.address);
        command.secret("SHEETPORT_ACCESS_TOKEN", "access-1").secret("SHEETPORT_REFRESH_TOKEN", "refresh-1")
    };
    let upload = ["upload", "items.csv", "-t", "items"];
    run(&upload).arg("--no-store").exits(2).says(&["SHEETPORT_REFRESH_TOKEN is set", "--no-store"]);
    for _ in 0..2 {
        run(&upload).exits(0);
    }
    run(&["whoami"]).exits(0).shows(&["from the environment"]);
    let refreshes = server.log().into_iter().filter(|seen| seen.path == "/api/token/refresh/").count();
    assert_eq!(refreshes, 1);
    let folder = place.path("home/credentials/environment");
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    let stored = files.iter().find(|file| file.extension().is_some_and(|extension| extension == "json")).unwrap();
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(stored).unwrap().permissions()) & 0o777, 0o600);
    // Other tokens of the environment are used as they are, and stored tokens only for their address.
    let other = place.sheetport(["whoami"]).env("SHEETPORT_BASE_URL", &server.address);
    other.secret("SHEETPORT_ACCESS_TOKEN", "access-3").secret("SHEETPORT_REFRESH_TOKEN", "refresh-3").exits(5);
    let elsewhere = Server::with_probes(|_| answer(401, "", "{}")).await;
    run(&["whoami"]).env("SHEETPORT_BASE_URL", &elsewhere.address).exits(5);
    assert!(elsewhere.log().iter().all(|seen| seen.bearer.as_deref() != Some("access-2")));
}

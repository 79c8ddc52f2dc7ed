//! `login`, `whoami` and `logout`: stored credentials and profiles.

use std::fs;

use super::items;
use super::process::Place;
use super::service::{Served, tokens};

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
    // Environment variables take precedence.
    let other = place.sheetport(["whoami"]).env("SHEETPORT_ACCESS_TOKEN", "wrong");
    other.exits(5).says(&["refused the credentials"]);
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

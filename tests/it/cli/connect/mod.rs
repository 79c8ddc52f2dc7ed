//! Certificates, proxies and unencrypted connections, with real TLS.

pub(super) mod certificates;
mod home;
mod relays;
mod tls;
mod unencrypted;
mod workspaces;

use super::process::{Ended, Place, Sheetport, name};
use super::{accounting, items, summary};
use crate::faults::server::{Reply, Server, answer};

const TOKEN: &str = "access-1";
const UPLOAD: [&str; 5] = ["upload", "items.csv", "-t", "items", "--json"];

/// Returns a place with five items.
fn with_items() -> Place {
    let place = Place::new();
    place.write("items.csv", items(5));
    place
}

/// Returns a command with the token for a service.
fn at(place: &Place, base_url: &str, args: &[&str]) -> Sheetport {
    place.sheetport(args).env("SHEETPORT_BASE_URL", base_url).secret("SHEETPORT_ACCESS_TOKEN", TOKEN)
}

/// Asserts that an upload stopped at once, with all records pending.
#[track_caller]
fn is_stopped(ended: Ended, words: &[&str]) {
    let ended = ended.exits(9).says(words);
    assert_eq!(accounting(&summary(&ended)), "5: pending 5");
    assert!(ended.took.as_secs() < 15, "{:?}", ended.took);
}

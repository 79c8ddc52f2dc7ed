//! `job`: files from an inbox, exports, notices and schedules.

mod inbox;
mod kills;
#[cfg(unix)]
mod machines;
mod notices;
mod schedule;
mod smtp;
mod status;

use std::fs;

use super::process::Place;
use super::service::Served;

pub(super) const INBOX: &str = "[[step]]\nupload = \"inbox/*.csv\"\ntemplate = \"items\"\nsettle = \"0s\"\n";

/// Makes a place with a job and its inbox.
fn with_job(job: &str) -> Place {
    let place = Place::new();
    fs::create_dir(place.path("inbox")).unwrap();
    place.write("nightly.toml", job);
    place
}

/// Returns the paths of all files in these folders, as seen from the place.
fn files(place: &Place, folders: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut left: Vec<String> = folders.iter().map(|folder| (*folder).to_owned()).collect();
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(place.path(&folder)).into_iter().flatten() {
            let entry = entry.unwrap();
            let name = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() { left.push(name) } else { found.push(name) }
        }
    }
    found.sort();
    found
}

/// Returns the external ids of the items that the service has.
pub(super) fn arrived(served: &Served) -> Vec<String> {
    let list = served.get("/v1/public/items?page=1&limit=1000");
    let ids = list["data"].as_array().unwrap().iter().map(|item| item["external_id"].as_str().unwrap().to_owned());
    let mut ids: Vec<String> = ids.collect();
    ids.sort();
    ids
}

//! The pictures of the documentation.

use std::collections::BTreeSet;
use std::fs;

use super::pages::{files_below, pages, read, root, target};

const FOLDER: &str = "docs/pictures";
/// The script that makes them.
const SCRIPT: &str = "docs/pictures/make.py";
/// Largest picture, in bytes.
const LARGEST: u64 = 120_000;
/// Size of all pictures, in bytes.
const ALL: u64 = 1_000_000;

#[test]
fn every_picture_is_made_by_the_script_and_shown_on_a_page() {
    let stored: BTreeSet<String> = files_below(FOLDER).into_iter().filter(|name| is_picture(name)).collect();
    let script = read(SCRIPT);
    // The script names each picture by its file name in quotes.
    let made = script.split('"').filter(|text| is_picture(text) && !text.contains(['/', '{']));
    let made: BTreeSet<String> = made.map(|name| format!("{FOLDER}/{name}")).collect();
    assert_eq!(stored, made);
    let shown = pages().into_iter().flat_map(|page| {
        let links = page.links().into_iter().filter(|link| is_picture(link));
        links.map(|link| target(&page.name, &link).0).collect::<Vec<_>>()
    });
    assert_eq!(shown.collect::<BTreeSet<_>>(), made);
}

#[test]
fn pictures_are_small_and_described() {
    let sizes = files_below(FOLDER).into_iter().filter(|name| is_picture(name));
    let sizes: Vec<(u64, String)> = sizes.map(|name| (fs::metadata(root().join(&name)).unwrap().len(), name)).collect();
    let large: Vec<_> = sizes.iter().filter(|(size, _)| *size > LARGEST).collect();
    assert!(large.is_empty(), "{large:?}");
    assert!(sizes.iter().map(|(size, _)| size).sum::<u64>() <= ALL);
    for page in pages() {
        assert!(!page.text.contains("![]("), "{} has a picture without a description", page.name);
    }
}

fn is_picture(name: &str) -> bool {
    name.ends_with(".svg") || name.ends_with(".png")
}

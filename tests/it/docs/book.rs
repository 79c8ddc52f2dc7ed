//! The book: mdBook reads docs/book.toml, and docs/SUMMARY.md lists its pages.

use std::collections::BTreeSet;

use super::pages::{Page, pages, read, target};

const SUMMARY: &str = "docs/SUMMARY.md";

#[test]
fn the_summary_lists_every_page_once() {
    let summary = Page { name: SUMMARY.to_owned(), text: read(SUMMARY) };
    let listed: Vec<String> = summary.links().iter().map(|link| target(SUMMARY, link).0).collect();
    let all: BTreeSet<String> = pages().into_iter().map(|page| page.name).collect();
    let all: BTreeSet<String> = all.into_iter().filter(|name| name.starts_with("docs/") && name != SUMMARY).collect();
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), all);
    assert_eq!(listed.len(), all.len(), "a page is listed twice");
}

#[test]
fn the_titles_in_the_summary_are_those_of_the_pages() {
    for line in read(SUMMARY).lines().filter(|line| line.contains("](")) {
        let (title, link) = line.split_once("](").unwrap();
        let title = title.trim_start_matches(['-', ' ', '[']);
        let page = read(&target(SUMMARY, link.trim_end_matches(')')).0);
        assert_eq!(page.lines().next(), Some(&*format!("# {title}")), "{link}");
    }
}

#[test]
fn the_settings_of_the_book_are_those_of_its_folder() {
    let book: toml::Table = read("docs/book.toml").parse().unwrap();
    assert_eq!(book["book"]["title"].as_str(), Some("Sheetport"));
    assert_eq!(book["book"]["src"].as_str(), Some("."), "the pages are where they are read on GitHub");
    assert_eq!(book["build"]["build-dir"].as_str(), Some("../target/book"), "the book is not written among its pages");
}

//! Links between pages, and to files and pictures, and paths in texts for developers.

use super::pages::{Page, files_below, pages, read, root, target};

/// Pages for developers, whose links are checked as well.
const OTHERS: [&str; 4] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
/// The folders that a path in a text or a comment begins with.
const FOLDERS: [&str; 8] = ["benches/", "crates/", "docs/", "packaging/", "samples/", "src/", "templates/", "tests/"];

#[test]
fn links_lead_to_files_and_headings() {
    let mut pages = pages();
    pages.extend(OTHERS.map(|name| Page { name: name.to_owned(), text: read(name) }));
    let mut broken = Vec::new();
    for page in &pages {
        for link in page.links() {
            let (file, anchor) = target(&page.name, &link);
            let found = pages.iter().find(|page| page.name == file);
            let is_there = match (&anchor, found) {
                (Some(anchor), Some(found)) => found.anchors().contains(anchor),
                (Some(_), None) => false,
                (None, _) => root().join(&file).exists(),
            };
            if !is_there {
                broken.push(format!("{}: {link}", page.name));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

/// Returns the words of a text that are paths in the repository.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "_-./".contains(c)));
    let words = words.map(|word| word.trim_end_matches('.'));
    words.filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder)))
}

#[test]
fn paths_in_texts_for_developers_exist() {
    let sources = ["src", "crates"].into_iter().flat_map(files_below).filter(|name| name.ends_with(".rs"));
    let comments = sources.map(|name| {
        let text = read(&name);
        let lines = text.lines().filter(|line| line.trim_start().starts_with("//"));
        (name, lines.collect::<Vec<_>>().join("\n"))
    });
    let texts = OTHERS.map(|name| (name.to_owned(), read(name)));
    let missing: Vec<String> = texts
        .into_iter()
        .chain(comments)
        .flat_map(|(name, text)| {
            let missing = paths(&text).filter(|path| !root().join(path).exists());
            missing.map(|path| format!("{name}: {path}")).collect::<Vec<_>>()
        })
        .collect();
    assert!(missing.is_empty(), "paths that lead nowhere:\n{}", missing.join("\n"));
}

#[test]
fn paths_are_found_in_texts() {
    let text =
        "See `crates/a/src/b.rs` (docs/x.md#y), src/c/. Not https://x.example/docs/z, /docs/page.js or `a/src/b.rs`.";
    assert_eq!(paths(text).collect::<Vec<_>>(), ["crates/a/src/b.rs", "docs/x.md", "src/c/"]);
}

#[test]
fn pages_of_the_book_link_to_pages_of_the_book() {
    let outside = pages().into_iter().filter(|page| page.name.starts_with("docs/")).flat_map(|page| {
        let links = page.links().into_iter();
        let outside = links.filter(|link| !target(&page.name, link).0.starts_with("docs/"));
        outside.map(|link| format!("{}: {link}", page.name)).collect::<Vec<_>>()
    });
    let outside: Vec<String> = outside.collect();
    assert!(outside.is_empty(), "mdBook has only the files in docs:\n{}", outside.join("\n"));
}

#[test]
fn anchors_are_those_of_github() {
    let text = "# A `b`: c's\n```sh\n# no heading\n```\n## Fix rows & retry\n## A b: c's\nSee [x](a.md#b), `[y](z)`.\n";
    let page = Page { name: "docs/tasks/x.md".to_owned(), text: text.to_owned() };
    assert_eq!(page.anchors(), ["a-b-cs", "fix-rows--retry", "a-b-cs-1"]);
    assert_eq!(page.links(), ["a.md#b"]);
    assert_eq!(target(&page.name, "../a.md#b"), ("docs/a.md".to_owned(), Some("b".to_owned())));
}

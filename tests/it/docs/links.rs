//! Links between pages, and to files and pictures.

use super::pages::{Page, pages, read, root, target};

/// Pages for developers, whose links are checked as well.
const OTHERS: [&str; 4] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];

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

//! The pages of the documentation, their headings, links and blocks.

use std::fs;
use std::path::{Path, PathBuf};

/// A page, named by its path in the repository.
pub struct Page {
    pub name: String,
    pub text: String,
}

/// A fenced block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub line: usize,
    pub language: String,
    pub lines: Vec<String>,
}

/// A part of a page: a block, or a line outside of blocks.
pub enum Part {
    Block(Block),
    Line(String),
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns all pages for users: README.md, samples/README.md and those in docs, sorted by name.
pub fn pages() -> Vec<Page> {
    let mut names = vec!["README.md".to_owned(), "samples/README.md".to_owned()];
    names.extend(files_below("docs").into_iter().filter(|name| name.ends_with(".md")));
    names.sort();
    names.into_iter().map(|name| Page { text: read(&name), name }).collect()
}

/// Returns the paths of all files below a folder of the repository.
pub fn files_below(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{folder}/{}", entry.file_name().to_str().unwrap());
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(files_below(&name)),
            false => found.push(name),
        }
    }
    found.sort();
    found
}

pub fn read(name: &str) -> String {
    let path = root().join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.replace("\r\n", "\n")
}

impl Page {
    pub fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut open: Option<(usize, Block)> = None;
        for (index, line) in self.text.lines().enumerate() {
            let indent = line.len() - line.trim_start().len();
            match (line.trim_start().strip_prefix("```"), open.take()) {
                (Some(language), None) => {
                    let language = language.trim().to_owned();
                    open = Some((indent, Block { line: index + 1, language, lines: Vec::new() }));
                }
                (Some(_), Some((_, block))) => parts.push(Part::Block(block)),
                (None, Some((outer, mut block))) => {
                    block.lines.push(line[indent.min(outer)..].to_owned());
                    open = Some((outer, block));
                }
                (None, None) => parts.push(Part::Line(line.to_owned())),
            }
        }
        assert!(open.is_none(), "{} has a block without an end", self.name);
        parts
    }

    pub fn blocks(&self) -> impl Iterator<Item = Block> {
        self.parts().into_iter().filter_map(|part| match part {
            Part::Block(block) => Some(block),
            Part::Line(_) => None,
        })
    }

    /// Returns the anchors of the headings, as GitHub and mdBook make them.
    pub fn anchors(&self) -> Vec<String> {
        let mut anchors: Vec<String> = Vec::new();
        for line in self.sentences() {
            let Some((_, heading)) = line.split_once("# ").filter(|(marks, _)| marks.bytes().all(|byte| byte == b'#'))
            else {
                continue;
            };
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            let anchor: String = kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
            let repeated = anchors.iter().filter(|other| **other == anchor).count();
            anchors.push(if repeated == 0 { anchor } else { format!("{anchor}-{repeated}") });
        }
        anchors
    }

    /// Returns the targets of links and pictures within the repository.
    pub fn links(&self) -> Vec<String> {
        let mut links = Vec::new();
        for line in self.sentences() {
            // Code can look like a link.
            let text: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
            let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            let targets = targets.map(|(target, _)| target.to_owned());
            links.extend(targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:")));
        }
        links
    }

    /// Returns the lines outside of blocks.
    pub fn sentences(&self) -> Vec<String> {
        let lines = self.parts().into_iter().filter_map(|part| match part {
            Part::Line(line) => Some(line),
            Part::Block(_) => None,
        });
        lines.collect()
    }
}

/// Returns the page of the repository to which a link on the page `from` leads, and the anchor.
pub fn target(from: &str, link: &str) -> (String, Option<String>) {
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor.to_owned())));
    if path.is_empty() {
        return (from.to_owned(), anchor);
    }
    let mut parts: Vec<&str> = Path::new(from).parent().unwrap().iter().map(|part| part.to_str().unwrap()).collect();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    (parts.join("/"), anchor)
}

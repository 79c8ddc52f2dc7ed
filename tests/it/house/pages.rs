//! The page of reports says all of its texts by `say("…")`, so that they can be translated.

use std::fs;
use std::path::Path;

use super::sentences::is_prose;

/// The files below `FOLDER`.
pub const FILES: [&str; 3] = ["head.html", "body.html", "page.js"];
const FOLDER: &str = "crates/report/src/html/page";
const SAY: &str = "say(\"";
/// Texts that are the same in all languages.
const NAMES: [&str; 1] = ["Sheetport"];

pub fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER).join(name)).unwrap()
}

/// Returns the texts that a file says.
pub fn texts(file: &str) -> Vec<&str> {
    file.split(SAY).skip(1).map(|rest| rest.split_once('"').unwrap().0).collect()
}

/// Returns what a reader sees of a template besides its values: texts, and attributes with words.
fn own_texts(template: &str) -> Vec<String> {
    let without_values = without(&without(template, "{{", "}}"), "{%", "%}");
    let attributes = ["aria-label=\"", "placeholder=\"", "title=\""].into_iter();
    let attributes = attributes.flat_map(|name| without_values.split(name).skip(1));
    let attributes = attributes.map(|rest| rest.split_once('"').unwrap().0.to_owned());
    let texts = without(&without_values, "<", ">").split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let is_word = |text: &String| text.contains(char::is_alphabetic) && !NAMES.contains(&text.as_str());
    texts.into_iter().chain(attributes).filter(is_word).collect()
}

/// Returns a text without the parts between two marks.
fn without(text: &str, start: &str, end: &str) -> String {
    let mut parts = text.split(start);
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |kept, part| kept + " " + part.split_once(end).unwrap().1)
}

/// Returns the sentences in quotes of a script that it does not say. Comments are left out.
fn unsaid(script: &str) -> Vec<&str> {
    let code = script.lines().map(|line| line.split_once("// ").map_or(line, |(code, _)| code));
    let said = |before: &str| before.ends_with("say(");
    let mut found = Vec::new();
    for line in code {
        let pieces: Vec<&str> = line.split(['"', '`']).collect();
        let quoted = pieces.iter().enumerate().filter(|(place, _)| place % 2 == 1);
        found.extend(quoted.filter(|(place, text)| is_prose(text) && !said(pieces[place - 1])).map(|(_, text)| *text));
    }
    found
}

#[test]
fn the_page_says_every_text() {
    for name in ["head.html", "body.html"] {
        assert_eq!(own_texts(&read(name)), [""; 0], "{name}");
    }
    assert_eq!(unsaid(&read("page.js")), ["use strict", "input, textarea, select"], "write say(\"…\")");
}

#[test]
fn texts_that_are_not_said_are_found() {
    let template = "<p class=\"a b\" aria-label=\"{{ say(\"Kept\") }}\">{% if x %}{{ say(\"Said\") }} Unsaid{% endif %}</p><a title=\"Shown\">";
    assert_eq!(texts(template), ["Kept", "Said"]);
    assert_eq!(own_texts(template), ["Unsaid", "Shown"]);
    let script = "// A comment of words\nf(say(\"a said text\"), \"name\", \"some unsaid text\"); // \"more of it\"\n`and {0} of this`";
    assert_eq!(unsaid(script), ["some unsaid text", "and {0} of this"]);
}

//! Messages that the pages of tasks quote: each must be one that the executable can print.

use std::fs;

use regex::Regex;

use super::pages::{Page, files_below, pages, root};

/// The heading of the tables with messages.
const TABLE: &str = "| what you see |";
/// Share of a quoted message, in percent, that must be fixed text of a message in the sources, not values.
const FIXED: usize = 50;

/// Returns the fixed parts of all messages in the sources, such as `is no ` and ` that the service knows`.
fn messages() -> Vec<Vec<String>> {
    let literal = Regex::new(r#""((?:[^"\\]|\\(?s:.))+)""#).unwrap();
    let continued = Regex::new(r"\\\n\s*").unwrap();
    let value = Regex::new(r"\{[^{}]*\}").unwrap();
    let sources = ["src", "crates"].into_iter().flat_map(files_below).filter(|name| name.ends_with(".rs"));
    let texts = sources.map(|name| fs::read_to_string(root().join(name)).unwrap());
    let found = texts.flat_map(|text| {
        let literals = literal.captures_iter(&text).map(|found| continued.replace_all(&found[1], "").into_owned());
        literals.collect::<Vec<_>>()
    });
    found.map(|message| value.split(&message).map(str::to_owned).collect()).collect()
}

/// Whether the text is in the message, or has all of its fixed parts in their order.
fn is_of(text: &str, message: &[String]) -> bool {
    if message.iter().any(|part| part.contains(text)) {
        return true;
    }
    let mut rest = text;
    for part in message {
        let Some((_, after)) = rest.split_once(part.as_str()) else { return false };
        rest = after;
    }
    message.iter().map(String::len).sum::<usize>() * 100 >= text.len() * FIXED
}

fn quoted(page: &Page) -> Vec<String> {
    let mut quoted = Vec::new();
    let mut is_table = false;
    for line in page.sentences() {
        is_table = line.starts_with(TABLE) || is_table && line.starts_with('|');
        if is_table {
            let cell = line.split('|').nth(1).unwrap_or_default();
            quoted.extend(cell.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    quoted
}

#[test]
fn quoted_messages_are_those_of_the_executable() {
    let messages = messages();
    let tasks: Vec<Page> = pages().into_iter().filter(|page| page.name.starts_with("docs/tasks/")).collect();
    let all: Vec<(&str, String)> =
        tasks.iter().flat_map(|page| quoted(page).into_iter().map(|text| (page.name.as_str(), text))).collect();
    assert!(all.len() > 10, "the tables are found: {all:?}");
    let unknown: Vec<_> = all.iter().filter(|(_, text)| !messages.iter().any(|message| is_of(text, message))).collect();
    assert!(unknown.is_empty(), "no message says this: {unknown:#?}");
}

#[test]
fn messages_are_recognized_with_their_values() {
    let message = ["is no ", " that the service knows"].map(str::to_owned);
    for good in ["is no item that the service knows", "'X' is no item that the service knows", "that the service knows"]
    {
        assert!(is_of(good, &message), "{good}");
    }
    for bad in ["is no item that the service has", "that the service knows is no", "knows nothing"] {
        assert!(!is_of(bad, &message), "{bad}");
    }
    assert!(!is_of("a very long sentence of which little is fixed", &["is".to_owned(), String::new()]));
}

//! Commands and flags that are named within sentences.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use super::pages::{Page, pages};
use crate::cli::process::Place;

/// The help of each command, by its name, such as `serve load`.
fn helps() -> BTreeMap<String, String> {
    let place = Place::new();
    let help = |name: &str| place.sheetport(["help"].into_iter().chain(name.split_whitespace())).exits(0).stdout;
    let mut helps = BTreeMap::from([(String::new(), help(""))]);
    let mut open = vec![String::new()];
    while let Some(outer) = open.pop() {
        let names: Vec<String> = subcommands(&helps[&outer]).into_iter().map(str::to_owned).collect();
        for name in names {
            let name = format!("{outer} {name}").trim().to_owned();
            if !helps.contains_key(&name) {
                helps.insert(name.clone(), help(&name));
                open.push(name);
            }
        }
    }
    helps
}

fn subcommands(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

/// Returns the flags in a text, such as `--report`.
fn flags(text: &str) -> BTreeSet<String> {
    let flag = Regex::new(r"(?:^|[\s\[(=])(--[a-z][a-z-]*)").unwrap();
    flag.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

fn spans(page: &Page) -> Vec<String> {
    let lines = page.sentences();
    let spans = lines.iter().flat_map(|line| line.split('`').skip(1).step_by(2));
    spans.map(str::to_owned).collect()
}

/// Returns what is wrong with a text that begins with a command or a flag.
fn mistake(text: &str, helps: &BTreeMap<String, String>) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let known = match words.as_slice() {
        // The last is a key of a template.
        ["sheetport", "help" | "=", ..] => return None,
        ["sheetport", rest @ ..] => {
            let two = rest.get(..2).map(|two| two.join(" ")).filter(|two| helps.contains_key(two));
            let one = rest.first().filter(|one| !one.starts_with('-')).map(|one| (*one).to_owned());
            let Some(help) = helps.get(&two.or(one).unwrap_or_default()) else {
                return Some(format!("{text}: no such command"));
            };
            flags(help)
        }
        [first, ..] if first.starts_with("--") => helps.values().flat_map(|help| flags(help)).collect(),
        _ => return None,
    };
    let unknown = flags(text).into_iter().find(|flag| !known.contains(flag))?;
    Some(format!("{text}: no flag {unknown}"))
}

#[test]
fn commands_within_sentences_exist_with_their_flags() {
    let helps = helps();
    assert!(helps.contains_key("serve load") && helps.len() > 30, "{:?}", helps.keys());
    let wrong = pages().into_iter().flat_map(|page| {
        let mistakes = spans(&page).into_iter().filter_map(|span| mistake(&span, &helps));
        mistakes.map(|mistake| format!("{}: {mistake}", page.name)).collect::<Vec<_>>()
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn examples_of_the_help_exist_with_their_flags() {
    let helps = helps();
    let lines = helps.values().flat_map(|help| help.lines()).map(str::trim);
    let examples: Vec<&str> = lines.filter(|line| line.starts_with("sheetport ")).collect();
    assert!(examples.len() > 40, "{examples:?}");
    let wrong: Vec<String> = examples.into_iter().filter_map(|example| mistake(example, &helps)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

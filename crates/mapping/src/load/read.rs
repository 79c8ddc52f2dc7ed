//! Reads the tables of a template into the structures of `raw`, and finds every key with a wrong name or value.

use std::ops::Range;

use serde::de::DeserializeOwned;
use sheetport_documents::{Mistake, TomlFile, suggestion};
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error};

use super::super::schema::values_of;
use super::files::Files;

/// The version of templates that this program reads and writes.
pub const VERSION: i64 = 1;

/// Maximum number of wrong keys to report, because each needs a pass over the template.
const MAX_WRONG: usize = 100;

/// Quotes and spaces used by word processors and web pages in place of straight quotes and plain spaces.
const CURLY_QUOTES: &[char] = &['“', '”', '„', '‟', '‘', '’', '‚', '«', '»'];
const NO_BREAK_SPACES: &[char] = &['\u{a0}', '\u{202f}'];

/// A structure without the wrong keys.
pub(super) struct Readout<T> {
    /// `None` if there are too many wrong keys.
    pub(super) raw: Option<T>,
    pub(super) mistakes: Vec<Mistake>,
    pub(super) removed: Removed,
}

/// The paths of wrong keys. Problems caused by their removal are not reported.
#[derive(Debug, Default)]
pub(super) struct Removed(Vec<Vec<Step>>);

/// A step to a value inside a table.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

impl Removed {
    /// Returns the wrong keys of a table.
    pub(super) fn keys_of<'r>(&'r self, table: &[&str]) -> Vec<&'r str> {
        let wrong_key = |path: &'r Vec<Step>| {
            let [parents @ .., Step::Key(key)] = path.as_slice() else { return None };
            let is_same = |(step, name): (&Step, &&str)| matches!(step, Step::Key(key) if key == name);
            let is_parent = parents.len() == table.len() && parents.iter().zip(table).all(is_same);
            is_parent.then_some(key.as_str())
        };
        self.0.iter().filter_map(wrong_key).collect()
    }

    /// Whether a key was removed from the table at a path.
    fn is_from(&self, table: &[Step]) -> bool {
        self.0.iter().any(|path| path.split_last().is_some_and(|(_, parents)| parents == table))
    }
}

/// Parses TOML. Fails with the first error of each line.
pub(super) fn parse<'s>(file: &TomlFile<'s>) -> Result<Spanned<DeTable<'s>>, Vec<Mistake>> {
    let (table, errors) = DeTable::parse_recoverable(file.source);
    if errors.is_empty() {
        return Ok(table);
    }
    let mut lines = Vec::new();
    let mut mistakes = Vec::new();
    for error in &errors {
        let mistake = misread_character(file, error).unwrap_or_else(|| file.syntax(error));
        let line = mistake.position().map(|(line, _)| line);
        if !lines.contains(&line) {
            lines.push(line);
            mistakes.push(mistake);
        }
    }
    Err(mistakes)
}

/// Refuses templates of a newer version, because they may have unknown keys.
pub(super) fn check_version(file: &TomlFile<'_>, table: &DeTable<'_>) -> Result<(), Mistake> {
    let Some(version) = table.get("sheetport") else { return Ok(()) };
    let written =
        version.get_ref().as_integer().and_then(|number| i64::from_str_radix(number.as_str(), number.radix()).ok());
    let (message, hint) = match written {
        Some(VERSION) => return Ok(()),
        Some(newer) if newer > VERSION => (
            format!("this template has version {newer}, and this program reads version {VERSION}"),
            "use a newer Sheetport, or ask for a template of an older version".to_owned(),
        ),
        _ => ("the version of a template is a number from 1".to_owned(), format!("write sheetport = {VERSION}")),
    };
    Err(file.mistake(version.span(), message, Some(hint)))
}

/// Returns an error about the first curly quote or no-break space in the line of a syntax error.
fn misread_character(file: &TomlFile<'_>, error: &Error) -> Option<Mistake> {
    let at = error.span()?.start.min(file.source.len());
    let start = file.source.get(..at)?.rfind('\n').map_or(0, |before| before + 1);
    let line = file.source[start..].lines().next()?;
    let is_culprit = |c: char| CURLY_QUOTES.contains(&c) || NO_BREAK_SPACES.contains(&c);
    let (offset, found) = line.char_indices().find(|(_, c)| is_culprit(*c))?;
    let (message, hint) = match CURLY_QUOTES.contains(&found) {
        true => (format!("{found} is a typographic quote"), "write a straight quote, \" or ', in a plain text editor"),
        false => ("this is a no-break space".to_owned(), "write a plain space"),
    };
    let span = start + offset..start + offset + found.len_utf8();
    Some(file.mistake(span, message, Some(hint.to_owned())))
}

/// Adds `start` to all places in a value.
pub(super) fn with_place(value: Spanned<DeValue<'_>>, start: usize) -> Spanned<DeValue<'_>> {
    let moved = |span: Range<usize>| span.start + start..span.end + start;
    let span = moved(value.span());
    let value = match value.into_inner() {
        DeValue::Table(table) => {
            let mut moved_table = DeTable::new();
            for (key, value) in table {
                moved_table.insert(Spanned::new(moved(key.span()), key.into_inner()), with_place(value, start));
            }
            DeValue::Table(moved_table)
        }
        DeValue::Array(values) => DeValue::Array(values.into_iter().map(|value| with_place(value, start)).collect()),
        value => value,
    };
    Spanned::new(span, value)
}

/// Reads a structure. Wrong keys are reported, and removed until the rest can be read.
pub(super) fn read<T: DeserializeOwned>(files: &Files, table: DeTable<'_>) -> Readout<T> {
    let mut root = Spanned::new(0..0, DeValue::Table(table));
    let mut readout = Readout { raw: None, mistakes: Vec::new(), removed: Removed::default() };
    while readout.mistakes.len() < MAX_WRONG {
        let DeValue::Table(table) = root.get_ref() else { break };
        let error = match T::deserialize(Deserializer::from(Spanned::new(0..0, table.clone()))) {
            Ok(raw) => {
                readout.raw = Some(raw);
                break;
            }
            Err(error) => error,
        };
        let place = error.span().unwrap_or_default();
        let mut best = None;
        find(root.get_ref(), &place, &mut Vec::new(), &mut best);
        let path = best.as_ref().map_or(&[][..], |(_, path)| path.as_slice());
        if !(error.message().starts_with("missing field") && readout.removed.is_from(path)) {
            readout.mistakes.push(mistake(files, &root, path, &error));
        }
        let Some((_, path)) = best else { break };
        remove(&mut root, &path);
        readout.removed.0.push(path);
    }
    readout
}

/// Finds the innermost entry whose key or value contains a place.
fn find(value: &DeValue<'_>, place: &Range<usize>, path: &mut Vec<Step>, best: &mut Option<(usize, Vec<Step>)>) {
    let mut enter = |step: Step, spans: &[Range<usize>], value: &DeValue<'_>| {
        path.push(step);
        for span in spans.iter().filter(|span| span.start <= place.start && place.end <= span.end) {
            if best.as_ref().is_none_or(|(len, _)| span.len() <= *len) {
                *best = Some((span.len(), path.clone()));
            }
        }
        find(value, place, path, best);
        path.pop();
    };
    match value {
        DeValue::Table(table) => {
            for (key, value) in table {
                enter(Step::Key(key.get_ref().as_ref().to_owned()), &[key.span(), value.span()], value.get_ref());
            }
        }
        DeValue::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                // Other elements can't be removed alone: a list of names changes its meaning with each name.
                if let DeValue::Table(_) = value.get_ref() {
                    enter(Step::Index(index), &[value.span()], value.get_ref());
                }
            }
        }
        _ => {}
    }
}

/// Removes the value at a path.
fn remove(value: &mut Spanned<DeValue<'_>>, path: &[Step]) {
    let inner = match (value.get_mut(), path) {
        (DeValue::Table(table), [Step::Key(key)]) => {
            table.remove(key.as_str());
            return;
        }
        (DeValue::Array(values), [Step::Index(index)]) => {
            let others = values.iter().enumerate().filter(|(other, _)| other != index);
            *values = others.map(|(_, value)| value.clone()).collect();
            return;
        }
        (DeValue::Table(table), [Step::Key(key), ..]) => table.get_mut(key.as_str()),
        (DeValue::Array(values), [Step::Index(index), ..]) => values.get_mut(*index),
        _ => None,
    };
    if let Some(inner) = inner {
        remove(inner, &path[1..]);
    }
}

/// Converts an error of the parser to an error that names the key.
fn mistake(files: &Files, root: &Spanned<DeValue<'_>>, path: &[Step], error: &Error) -> Mistake {
    let place = error.span().unwrap_or_default();
    let message = error.message();
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let names: Vec<&str> = path
        .iter()
        .filter_map(|step| match step {
            Step::Key(name) => Some(name.as_str()),
            Step::Index(_) => None,
        })
        .collect();
    let key = names.last().copied().unwrap_or("the template");
    let (message, hint) = match (quoted.as_slice(), message.split_once(", expected ")) {
        ([word, known @ ..], _) if message.starts_with("unknown field") && !known.is_empty() => {
            (format!("unknown key '{word}'"), Some(suggestion(word, known)))
        }
        ([word, ..], _) if message.starts_with("missing field") => {
            let message = match names.is_empty() {
                true => format!("the key {word} is missing"),
                false => format!("{key} needs the key {word}"),
            };
            (message, Some(format!("add {word} = …")))
        }
        (_, Some((found, expected))) if found.starts_with("invalid") => {
            let found = at(root, &place).map_or("a value of another kind".to_owned(), shown);
            let values = values_of(&names);
            let choices: Vec<String> = values.iter().map(|value| format!("{key} = {value}")).collect();
            let hint = match (names.as_slice(), at(root, &place)) {
                ([table @ ("fields" | "lines"), name], Some(DeValue::String(column))) => {
                    Some(format!("write [{table}.{name}], and below it: column = \"{column}\""))
                }
                _ => (!choices.is_empty()).then(|| format!("write {}", choices.join(" or "))),
            };
            (format!("{key} must be {}, but this is {found}", kind_of(expected)), hint)
        }
        _ => (format!("{key}: {message}"), None),
    };
    files.mistake(place, message, hint)
}

/// Returns the value at exactly this place.
fn at<'v, 's>(value: &'v Spanned<DeValue<'s>>, place: &Range<usize>) -> Option<&'v DeValue<'s>> {
    let inner = match value.get_ref() {
        DeValue::Table(table) => table.values().find_map(|value| at(value, place)),
        DeValue::Array(values) => values.iter().find_map(|value| at(value, place)),
        _ => None,
    };
    inner.or_else(|| (value.span() == *place).then(|| value.get_ref()))
}

/// Describes a value of a template.
fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text \"{text}\""),
        DeValue::Integer(number) => format!("the number {number}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(at) => format!("the date {at}, without quotes"),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// Translates the parser's name for the expected type.
fn kind_of(expected: &str) -> &str {
    match expected {
        "a string" => "text in quotes",
        "a boolean" => "true or false",
        "i64" => "a whole number",
        "a sequence" => "a list",
        "a map" => "a table",
        structure if structure.starts_with("struct ") => "a table",
        other => other,
    }
}

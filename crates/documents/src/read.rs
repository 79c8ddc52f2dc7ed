//! Reads tables into structures, and finds every key with a wrong name or value.
//!
//! A wrong key is reported and removed, and reading goes on, so that all mistakes of a file are shown at once.

use std::fmt::{Display, Formatter};
use std::marker::PhantomData;
use std::ops::Range;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Visitor};
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error};

use super::{Mistake, TomlFile, suggestion};

/// Maximum number of wrong keys to report, because each needs a pass over the template.
const MAX_WRONG: usize = 100;

/// Quotes and spaces used by word processors and web pages in place of straight quotes and plain spaces.
const CURLY_QUOTES: &[char] = &['“', '”', '„', '‟', '‘', '’', '‚', '«', '»'];
const NO_BREAK_SPACES: &[char] = &['\u{a0}', '\u{202f}'];

/// Where the places of a table are, and what is known about its keys.
pub trait Places {
    /// What the table is, for messages: `the template`.
    fn whole(&self) -> String;

    /// Returns an error at a place.
    fn mistake_at(&self, span: Range<usize>, message: String, hint: Option<String>) -> Mistake;

    /// Returns how to mend a value of a wrong type. `names` are the keys that lead to it.
    fn hint(&self, _names: &[&str], _found: Option<&DeValue<'_>>) -> Option<String> {
        None
    }
}

impl Places for TomlFile<'_> {
    fn whole(&self) -> String {
        format!("the {}", self.what)
    }

    fn mistake_at(&self, span: Range<usize>, message: String, hint: Option<String>) -> Mistake {
        self.mistake(span, message, hint)
    }
}

/// A value written as a text, read by its own parser. A whole number is read like the text of its digits: `rate = 300`.
#[derive(Clone, Debug)]
pub struct Parsed<T>(pub T);

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Parsed<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text<T>(PhantomData<T>);

        impl<T: FromStr<Err: Display>> Visitor<'_> for Text<T> {
            type Value = T;

            fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<T, E> {
                self.visit_str(&number.to_string())
            }
        }

        deserializer.deserialize_any(Text(PhantomData)).map(Parsed)
    }
}

/// A structure without the wrong keys.
pub struct Readout<T> {
    /// `None` if there are too many wrong keys.
    pub raw: Option<T>,
    pub mistakes: Vec<Mistake>,
    pub removed: Removed,
}

/// The paths of wrong keys. Problems caused by their removal are not reported.
#[derive(Debug, Default)]
pub struct Removed(Vec<Vec<Step>>);

/// A step to a value inside a table.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

impl Removed {
    /// Returns the wrong keys of a table.
    pub fn keys_of<'r>(&'r self, table: &[&str]) -> Vec<&'r str> {
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
pub fn parse<'s>(file: &TomlFile<'s>) -> Result<Spanned<DeTable<'s>>, Vec<Mistake>> {
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

/// Reads a structure. Wrong keys are reported, and removed until the rest can be read.
pub fn read<T: DeserializeOwned>(places: &dyn Places, table: DeTable<'_>) -> Readout<T> {
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
            readout.mistakes.push(mistake(places, &root, path, &error));
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
fn mistake(places: &dyn Places, root: &Spanned<DeValue<'_>>, path: &[Step], error: &Error) -> Mistake {
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
    let whole = places.whole();
    let key = names.last().copied().unwrap_or(&whole);
    let (message, hint) = match (quoted.as_slice(), message.split_once(", expected ")) {
        ([word, known @ ..], _) if message.starts_with("unknown field") && !known.is_empty() => {
            (format!("unknown key '{word}'"), Some(suggestion(word, known)))
        }
        ([word, ..], _) if message.starts_with("unknown field") => (format!("unknown key '{word}'"), None),
        ([word, known @ ..], _) if message.starts_with("unknown variant") => {
            (format!("unknown word '{word}'"), Some(suggestion(word, known)))
        }
        ([word, ..], _) if message.starts_with("missing field") => {
            let message = match names.is_empty() {
                true => format!("the key {word} is missing"),
                false => format!("{key} needs the key {word}"),
            };
            (message, Some(format!("add {word} = …")))
        }
        (_, Some((found, expected))) if found.starts_with("invalid") => {
            let value = at(root, &place);
            let found = value.map_or("a value of another kind".to_owned(), shown);
            (format!("{key} must be {}, but this is {found}", kind_of(expected)), places.hint(&names, value))
        }
        _ => (format!("{key}: {message}"), None),
    };
    places.mistake_at(place, message, hint)
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

/// Describes a value.
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
        "f64" => "a number",
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" | "u64" | "usize" => "a whole number of 0 or more",
        "a nonzero u16" | "a nonzero u64" => "a whole number of 1 or more",
        "i64" => "a whole number",
        "a sequence" => "a list",
        "a map" => "a table",
        structure if structure.starts_with("struct ") => "a table",
        other => other,
    }
}

//! Collects the mistakes of a file while its values are checked.

use std::cell::RefCell;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::de::DeTable;

use super::read::{parse, read};
use super::{Mistake, Mistakes, TomlFile, suggestion};

/// The mistakes of a file so far.
#[derive(Debug)]
pub struct Notes<'a> {
    file: TomlFile<'a>,
    found: RefCell<Vec<Mistake>>,
}

impl<'a> Notes<'a> {
    /// Reads a file into a structure. Returns the mistakes so far, and the structure if it can be checked for more.
    pub fn read<T: DeserializeOwned>(file: TomlFile<'a>) -> (Option<T>, Notes<'a>) {
        let (table, notes) = Notes::parse(file);
        (table.and_then(|table| notes.table(table)), notes)
    }

    /// Parses a file whose tables are read one by one.
    pub fn parse(file: TomlFile<'a>) -> (Option<DeTable<'a>>, Notes<'a>) {
        let (table, found) = match parse(&file) {
            Ok(table) => (Some(table.into_inner()), Vec::new()),
            Err(mistakes) => (None, mistakes),
        };
        (table, Notes { file, found: RefCell::new(found) })
    }

    /// Reads a table of the file into a structure.
    pub fn table<T: DeserializeOwned>(&self, table: DeTable<'_>) -> Option<T> {
        let readout = read(&self.file, table);
        self.found.borrow_mut().extend(readout.mistakes);
        readout.raw
    }

    pub fn file(&self) -> &TomlFile<'a> {
        &self.file
    }

    /// Notes a mistake.
    pub fn note(&self, span: Range<usize>, message: impl Into<String>, hint: Option<&str>) {
        self.add(self.file.mistake(span, message, hint.map(str::to_owned)));
    }

    /// Notes an unknown word, with the most similar known word.
    pub fn unknown(&self, span: Range<usize>, message: String, word: &str, known: &[&str]) {
        self.note(span, message, Some(&suggestion(word, known)));
    }

    /// Returns a checked value, or `None` after noting its mistake.
    pub fn keep<T>(&self, checked: Result<T, Mistake>) -> Option<T> {
        checked.map_err(|mistake| self.add(mistake)).ok()
    }

    /// Whether there is a mistake in a range, of which other mistakes there may be consequences.
    pub fn has_mistake_in(&self, range: &Range<usize>) -> bool {
        let starts = |mistake: &Mistake| mistake.place.as_ref().is_some_and(|(_, span)| range.contains(&span.start));
        self.found.borrow().iter().any(starts)
    }

    /// Returns all mistakes, or else the value.
    ///
    /// # Panics
    /// If there is neither a value nor a mistake.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, Mistakes> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|mistake| mistake.place.as_ref().map_or(0, |(_, span)| span.start));
        match Mistakes::new(found) {
            Some(mistakes) => Err(mistakes),
            None => Ok(value.expect("a value without mistakes can be read")),
        }
    }

    fn add(&self, mistake: Mistake) {
        self.found.borrow_mut().push(mistake);
    }
}

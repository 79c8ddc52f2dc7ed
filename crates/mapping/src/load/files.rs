//! The files of a template: the template itself and all its base templates.

use std::ops::Range;
use std::path::{Path, PathBuf};

use sheetport_documents::{Mistake, Places, TomlFile};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::schema::values_of;

/// Kind of file for messages.
pub(super) const WHAT: &str = "template";

/// The files, from the template itself to the last base template. Places are counted through all files, so that each file has a
/// separate range.
#[derive(Default)]
pub(super) struct Files {
    files: Vec<File>,
}

/// A file of a template.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) source: String,
    /// The folder, relative to the folder of the template itself.
    pub(super) folder: PathBuf,
    /// The place of the first byte.
    pub(super) start: usize,
}

impl Files {
    /// Adds a file.
    pub(super) fn add(&mut self, name: String, source: String, folder: &Path) {
        let start = self.files.last().map_or(0, |last| last.start + last.source.len() + 1);
        self.files.push(File { name, source, folder: folder.to_owned(), start });
    }

    pub(super) fn all(&self) -> &[File] {
        &self.files
    }

    /// Returns an error at a place.
    pub(super) fn mistake(&self, span: Range<usize>, message: impl Into<String>, hint: Option<String>) -> Mistake {
        let (file, span) = self.find(span);
        file.toml().mistake(span, message, hint)
    }

    /// Whether a place is in a base template.
    pub(super) fn is_in_base(&self, span: &Range<usize>) -> bool {
        self.files.get(1).is_some_and(|base| span.start >= base.start)
    }

    /// Returns the text at a place.
    pub(super) fn text(&self, span: Range<usize>) -> Option<&str> {
        let (file, span) = self.find(span);
        file.source.get(span)
    }

    /// Returns the file number of an error and its place in the file, for sorting.
    pub(super) fn order(&self, mistake: &Mistake) -> (usize, usize) {
        let file = self.files.iter().position(|file| *file.name == *mistake.name);
        (file.unwrap_or_default(), mistake.place.as_ref().map_or(0, |(_, span)| span.start))
    }

    /// Returns the file of a place, and the place in this file.
    fn find(&self, span: Range<usize>) -> (&File, Range<usize>) {
        let index = self.files.partition_point(|file| file.start <= span.start);
        let file = &self.files[index.saturating_sub(1)];
        (file, span.start - file.start..span.end.saturating_sub(file.start))
    }
}

impl Places for Files {
    fn whole(&self) -> String {
        "the template".to_owned()
    }

    fn mistake_at(&self, span: Range<usize>, message: String, hint: Option<String>) -> Mistake {
        self.mistake(span, message, hint)
    }

    fn hint(&self, names: &[&str], found: Option<&DeValue<'_>>) -> Option<String> {
        if let ([table @ ("fields" | "lines"), name], Some(DeValue::String(column))) = (names, found) {
            return Some(format!("write [{table}.{name}], and below it: column = \"{column}\""));
        }
        let key = names.last()?;
        let choices: Vec<String> = values_of(names).iter().map(|value| format!("{key} = {value}")).collect();
        (!choices.is_empty()).then(|| format!("write {}", choices.join(" or ")))
    }
}

impl File {
    pub(super) fn toml(&self) -> TomlFile<'_> {
        TomlFile { what: WHAT, name: &self.name, source: &self.source }
    }
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

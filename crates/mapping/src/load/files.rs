//! The files of a template: the template itself and all its base templates.

use std::ops::Range;
use std::path::{Path, PathBuf};

use sheetport_documents::{Mistake, TomlFile};

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

impl File {
    pub(super) fn toml(&self) -> TomlFile<'_> {
        TomlFile { what: WHAT, name: &self.name, source: &self.source }
    }
}

//! The files of a template: its own, and those of the templates that it extends.

use std::ops::Range;

use crate::diagnostics::{Mistake, TomlFile};

/// The files in the order of reading. Places are counted through all of them, so that each has its own range.
pub(super) struct Files {
    files: Vec<File>,
}

struct File {
    name: String,
    source: String,
    /// The place of the first byte.
    start: usize,
}

impl Files {
    pub(super) fn new(name: &str, source: &str) -> Files {
        Files { files: vec![File { name: name.to_owned(), source: source.to_owned(), start: 0 }] }
    }

    /// Returns an error at a place.
    pub(super) fn mistake(&self, span: Range<usize>, message: impl Into<String>, hint: Option<String>) -> Mistake {
        let (file, span) = self.find(span);
        TomlFile { what: "template", name: &file.name, source: &file.source }.mistake(span, message, hint)
    }

    /// Returns the text at a place.
    pub(super) fn text(&self, span: Range<usize>) -> Option<&str> {
        let (file, span) = self.find(span);
        file.source.get(span)
    }

    /// Returns the file of a place, and the place in this file.
    fn find(&self, span: Range<usize>) -> (&File, Range<usize>) {
        let index = self.files.partition_point(|file| file.start <= span.start);
        let file = &self.files[index.saturating_sub(1)];
        (file, span.start - file.start..span.end - file.start)
    }
}

//! What is wrong with a template, at its place in the file.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A fault of a template. `Display` shows the file, the line and the words at fault.
#[derive(Debug)]
pub struct Error {
    pub template: String,
    pub message: String,
    pub hint: Option<String>,
    /// The TOML and the bytes of it at fault.
    pub place: Option<(String, Range<usize>)>,
}

impl Error {
    /// The line and column at fault, from 1.
    pub fn position(&self) -> Option<(usize, usize)> {
        let (source, span) = self.place.as_ref()?;
        let before = source.get(..span.start)?;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Some((before.matches('\n').count() + 1, before[line_start..].chars().count() + 1))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((source, span)) = &self.place else {
            return write!(f, "template {}: {}", self.template, self.message);
        };
        let title = format!("the template has a mistake: {}", self.message);
        let snippet =
            Snippet::source(source).path(&self.template).annotation(AnnotationKind::Primary.span(span.clone()));
        let report = [Level::ERROR.no_name().primary_title(title).element(snippet)];
        f.write_str(Renderer::plain().render(&report).trim_start_matches(": "))
    }
}

impl std::error::Error for Error {}

//! What is wrong with an export template, at its place in the file.

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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((source, span)) = &self.place else {
            return write!(f, "export template {}: {}", self.template, self.message);
        };
        let title = format!("the export template has a mistake: {}", self.message);
        let snippet =
            Snippet::source(source).path(&self.template).annotation(AnnotationKind::Primary.span(span.clone()));
        let report = [Level::ERROR.no_name().primary_title(title).element(snippet)];
        f.write_str(Renderer::plain().render(&report).trim_start_matches(": "))
    }
}

impl std::error::Error for Error {}

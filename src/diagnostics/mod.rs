//! Mistakes in the TOML files that people write, shown at their place with the words that were probably meant.

mod nearest;
pub use nearest::{nearest, nearest_of};

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A file that people write.
#[derive(Clone, Copy, Debug)]
pub struct TomlFile<'a> {
    /// What it is, in words: `template`.
    pub what: &'static str,
    /// What messages call it: a path, or a built-in template's name.
    pub name: &'a str,
    pub source: &'a str,
}

/// A mistake in one. `Display` shows the file, the line and the words at fault.
#[derive(Debug)]
pub struct Mistake {
    pub what: &'static str,
    pub name: Box<str>,
    pub message: String,
    pub hint: Option<String>,
    /// The TOML and the bytes of it at fault.
    pub place: Option<(Box<str>, Range<usize>)>,
}

impl TomlFile<'_> {
    /// A mistake at these bytes.
    pub fn mistake(&self, span: Range<usize>, message: impl Into<String>, hint: Option<String>) -> Mistake {
        Mistake {
            what: self.what,
            name: self.name.into(),
            message: message.into(),
            hint,
            place: Some((self.source.into(), span)),
        }
    }

    /// Turns the parser's own words into ours: an unknown key gets the nearest known one.
    pub fn syntax(&self, error: &toml::de::Error) -> Mistake {
        let message = error.message().to_owned();
        let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        let (message, hint) = match quoted.split_first() {
            Some((word, known)) if message.starts_with("unknown field") && !known.is_empty() => {
                (format!("'{word}' is no key here"), Some(suggestion(word, known)))
            }
            Some((word, _)) if message.starts_with("missing field") => {
                (format!("the key {word} is missing"), Some(format!("add {word} = … here")))
            }
            _ => (message, None),
        };
        // A key that is missing from the whole file is reported at its very beginning, which points at nothing.
        self.mistake(error.span().unwrap_or(0..0), message, hint)
    }
}

impl Mistake {
    /// The line and column at fault, from 1.
    pub fn position(&self) -> Option<(usize, usize)> {
        let (source, span) = self.place.as_ref()?;
        let before = source.get(..span.start)?;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Some((before.matches('\n').count() + 1, before[line_start..].chars().count() + 1))
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((source, span)) = &self.place else {
            return write!(f, "{} {}: {}", self.what, self.name, self.message);
        };
        let title = format!("the {} has a mistake: {}", self.what, self.message);
        let snippet =
            Snippet::source(&**source).path(&*self.name).annotation(AnnotationKind::Primary.span(span.clone()));
        let report = [Level::ERROR.no_name().primary_title(title).element(snippet)];
        f.write_str(Renderer::plain().render(&report).trim_start_matches(": "))
    }
}

impl std::error::Error for Mistake {}

/// The known word that was probably meant, or all of them.
pub fn suggestion(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None => format!("it is one of: {}", known.join(", ")),
    }
}

//! The reader of TOML files written by users, and their mistakes: with the line, the text at fault and a spelling suggestion.
//!
//! Knows neither templates nor jobs: each format has structures for its keys, into which [`read()`] reads a table, and checks their values,
//! noting each mistake with its range of bytes ([`Notes`]). All [`Mistakes`] of a file are shown at once. `Display` of a mistake shows the file and the line, by annotate-snippets: miette would need five times as many crates.
//! [`nearest()`] finds the known name with the most similar spelling, and [`mod@write`] writes texts as TOML.

mod nearest;
mod notes;
mod read;
mod texts;
pub mod write;

pub use nearest::{nearest, nearest_of};
pub use notes::Notes;
pub use read::{Parsed, Places, Readout, Removed, parse, read};
pub use texts::Texts;

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use sheetport_files::visible::one_line;

/// A TOML file written by a user.
#[derive(Clone, Copy, Debug)]
pub struct TomlFile<'a> {
    /// Kind of file for messages: `template`.
    pub what: &'static str,
    /// Path, or name of a built-in template.
    pub name: &'a str,
    pub source: &'a str,
}

/// An error in a TOML file. `Display` shows the file, the line and the text at fault.
#[derive(Debug)]
pub struct Mistake {
    pub what: &'static str,
    pub name: Box<str>,
    pub message: String,
    pub hint: Option<String>,
    /// Text of the file, and the range of bytes at fault.
    pub place: Option<(Box<str>, Range<usize>)>,
}

/// One or more errors in TOML files, ordered by position.
#[derive(Debug)]
pub struct Mistakes {
    first: Box<Mistake>,
    others: Vec<Mistake>,
}

impl TomlFile<'_> {
    /// Returns an error at a range of bytes.
    pub fn mistake(&self, span: Range<usize>, message: impl Into<String>, hint: Option<String>) -> Mistake {
        Mistake {
            what: self.what,
            name: self.name.into(),
            message: message.into(),
            hint,
            place: Some((self.source.into(), span)),
        }
    }

    /// Converts an error of the parser.
    pub fn syntax(&self, error: &toml::de::Error) -> Mistake {
        self.mistake(error.span().unwrap_or(0..0), error.message(), None)
    }
}

impl Mistake {
    /// Returns the line and column at fault, counted from 1.
    pub fn position(&self) -> Option<(usize, usize)> {
        let (source, span) = self.place.as_ref()?;
        let before = source.get(..span.start)?;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Some((before.matches('\n').count() + 1, before[line_start..].chars().count() + 1))
    }

    fn show(&self, f: &mut fmt::Formatter<'_>, hint: Option<&str>) -> fmt::Result {
        let Some((source, span)) = &self.place else {
            return write!(f, "{} {}: {}", self.what, one_line(&self.name), one_line(&self.message));
        };
        // A value of the file may not begin a line of ours.
        let title = format!("error in the {}: {}", self.what, one_line(&self.message));
        let name = one_line(&self.name);
        let snippet = Snippet::source(&**source).path(&*name).annotation(AnnotationKind::Primary.span(span.clone()));
        let mut report: Group<'_> = Level::ERROR.no_name().primary_title(title).element(snippet);
        if let Some(hint) = hint {
            report = report.element(Level::HELP.message(one_line(hint).into_owned()));
        }
        f.write_str(Renderer::plain().render(&[report]).trim_start_matches(": "))
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f, None)
    }
}

impl std::error::Error for Mistake {}

impl Mistakes {
    /// Removes duplicate errors. Returns `None` for an empty list.
    pub fn new(mistakes: Vec<Mistake>) -> Option<Mistakes> {
        let mut distinct: Vec<Mistake> = Vec::new();
        for mistake in mistakes {
            if !distinct.iter().any(|known| known.place == mistake.place && known.message == mistake.message) {
                distinct.push(mistake);
            }
        }
        let mut distinct = distinct.into_iter();
        Some(Mistakes { first: Box::new(distinct.next()?), others: distinct.collect() })
    }

    pub fn first(&self) -> &Mistake {
        &self.first
    }

    pub fn iter(&self) -> impl Iterator<Item = &Mistake> {
        std::iter::once(self.first()).chain(&self.others)
    }

    /// Returns the hint of a single error. With several errors, `Display` includes the hints.
    pub fn hint(&self) -> Option<String> {
        self.first.hint.clone().filter(|_| self.others.is_empty())
    }
}

impl From<Mistake> for Mistakes {
    fn from(first: Mistake) -> Mistakes {
        Mistakes { first: Box::new(first), others: Vec::new() }
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.others.is_empty() {
            return self.first.fmt(f);
        }
        for mistake in self.iter() {
            mistake.show(f, mistake.hint.as_deref())?;
            f.write_str("\n\n")?;
        }
        write!(f, "{} errors in the {}", self.others.len() + 1, self.first.what)
    }
}

impl std::error::Error for Mistakes {}

/// Returns a hint with the most similar known word, or with all known words.
pub fn suggestion(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None => format!("it is one of: {}", known.join(", ")),
    }
}

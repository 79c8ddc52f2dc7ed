//! Checks of single values, and errors with a place in the template.

use std::ops::Range;

use jiff::tz::TimeZone;
use regex::Regex;
use toml::Spanned;

use super::super::value::date;
use super::super::value::locale::{self, Locale};
use crate::diagnostics::{Mistake, TomlFile, suggestion};

/// Reads the rows of a lookup table, including blank rows, or returns the reason for failing. The caller resolves the path
/// of the table, because a template does not know its own path.
pub type Tables<'a> = &'a dyn Fn(&str) -> Result<Vec<Vec<String>>, String>;

/// Checks a template.
pub(super) struct Checker<'a> {
    pub file: TomlFile<'a>,
    pub tables: Tables<'a>,
}

impl Checker<'_> {
    pub(super) fn locale(&self, name: &Spanned<String>) -> Result<Locale, Mistake> {
        locale::find(name.get_ref()).ok_or_else(|| self.unknown(name.span(), "locale", name.get_ref(), locale::names()))
    }

    pub(super) fn time_zone(&self, name: &Spanned<String>) -> Result<TimeZone, Mistake> {
        date::zone(name.get_ref()).map_err(|unknown| {
            let hint = match unknown.nearest {
                Some(nearest) => format!("did you mean {nearest}?"),
                None => "examples are \"Europe/Berlin\" and \"UTC\"".to_owned(),
            };
            self.error(name.span(), format!("'{}' is not a time zone", unknown.name), Some(hint))
        })
    }

    pub(super) fn regex(&self, pattern: &Spanned<String>) -> Result<Regex, Mistake> {
        Regex::new(pattern.get_ref()).map_err(|error| {
            // The last line of the error is the reason; the others show the pattern.
            let error = error.to_string();
            let reason = error.rsplit('\n').next().map_or(error.as_str(), |line| line.trim_start_matches("error: "));
            let hint = "in TOML, 'single quotes' keep backslashes as they are";
            self.error(pattern.span(), format!("this is not a regular expression: {reason}"), Some(hint))
        })
    }

    /// Returns a positive number.
    pub(super) fn positive(&self, number: &Spanned<i64>, hint: &str) -> Result<usize, Mistake> {
        match usize::try_from(*number.get_ref()) {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(self.error(number.span(), "this must be a number from 1", Some(hint))),
        }
    }

    /// Returns the choice with the given name, or `None` without a name.
    pub(super) fn choice<T: Clone>(
        &self,
        chosen: Option<Spanned<String>>,
        choices: &[(&'static str, T)],
    ) -> Result<Option<T>, Mistake> {
        let Some(chosen) = chosen else { return Ok(None) };
        match choices.iter().find(|(name, _)| name == chosen.get_ref()) {
            Some((_, value)) => Ok(Some(value.clone())),
            None => {
                let names = choices.iter().map(|(name, _)| *name);
                Err(self.unknown(chosen.span(), "value of this key", chosen.get_ref(), names))
            }
        }
    }

    /// Returns an error about an unknown word, with the most similar known word.
    pub(super) fn unknown<'a>(
        &self,
        span: Range<usize>,
        what: &str,
        word: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Mistake {
        let known: Vec<&str> = known.into_iter().collect();
        self.error(span, format!("'{word}' is not a {what}"), Some(suggestion(word, &known)))
    }

    pub(super) fn error(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        hint: Option<impl Into<String>>,
    ) -> Mistake {
        self.file.mistake(span, message, hint.map(Into::into))
    }
}

//! Constant arguments, parsed once for all rows.

use std::ops::Range;

use regex::Regex;

use super::super::value::date::DateFormat;
use super::super::value::locale::{self, Locale};
use crate::diagnostics::nearest;

#[derive(Clone, Debug)]
pub(super) enum Constant {
    Pattern(Regex),
    Locale(Locale),
    Date(DateFormat),
}

/// Parses a constant. The error is a message and, if known, a range within the text.
pub(super) type ParseConstant = fn(&str) -> Result<Constant, (String, Option<Range<usize>>)>;

pub(super) fn pattern(text: &str) -> Result<Constant, (String, Option<Range<usize>>)> {
    match Regex::new(text) {
        Ok(pattern) => Ok(Constant::Pattern(pattern)),
        Err(regex::Error::CompiledTooBig(_)) => Err(("this pattern is too large".to_owned(), None)),
        Err(error) => {
            // The lines before the last one repeat the pattern.
            let message = error.to_string();
            let reason = message.lines().last().unwrap_or(&message).trim_start_matches("error: ");
            Err((format!("this is not a regular expression: {reason}"), None))
        }
    }
}

pub(super) fn locale(name: &str) -> Result<Constant, (String, Option<Range<usize>>)> {
    locale::find(name).map(Constant::Locale).ok_or_else(|| {
        let message = format!("'{name}' is not a known locale");
        match nearest(name, locale::names()) {
            Some(nearest) => (format!("{message}; did you mean '{nearest}'?"), None),
            None => (format!("{message}; the locales are {}", locale::names().join(", ")), None),
        }
    })
}

pub(super) fn date(pattern: &str) -> Result<Constant, (String, Option<Range<usize>>)> {
    DateFormat::parse(pattern).map(Constant::Date).map_err(|error| (error.message, Some(error.range)))
}

//! Checks of single values, and errors with a place in the template.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;

use jiff::tz::TimeZone;
use regex::Regex;
use sheetport_documents::{Mistake, Removed, suggestion};
use sheetport_values::currency::{Currency, CurrencyMark};
use sheetport_values::date;
use sheetport_values::locale::{self, Locale};
use sheetport_values::pattern::{self, MAX_TOTAL};
use toml::Spanned;

use super::environment::Tables;
use super::files::Files;
use crate::typed_value::Value;

/// Checks a template and collects its mistakes.
pub(super) struct Checker<'a> {
    pub(super) files: &'a Files,
    pub(super) tables: Tables<'a>,
    /// Keys already reported as mistakes.
    pub(super) removed: Removed,
    /// The values of the parameters by name.
    pub(super) parameters: BTreeMap<String, Value<'static>>,
    mistakes: RefCell<Vec<Mistake>>,
    /// The memory of all patterns so far, in bytes.
    patterns: Cell<usize>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(
        files: &'a Files,
        tables: Tables<'a>,
        removed: Removed,
        parameters: BTreeMap<String, Value<'static>>,
        mistakes: Vec<Mistake>,
    ) -> Checker<'a> {
        Checker { files, tables, removed, parameters, mistakes: RefCell::new(mistakes), patterns: Cell::new(0) }
    }

    pub(super) fn into_mistakes(self) -> Vec<Mistake> {
        self.mistakes.into_inner()
    }
}

impl Checker<'_> {
    /// Returns a checked value, or `None` after noting its mistake.
    pub(super) fn keep<T>(&self, checked: Result<T, Mistake>) -> Option<T> {
        checked.map_err(|mistake| self.note(mistake)).ok()
    }

    /// Notes a mistake.
    pub(super) fn note(&self, mistake: Mistake) {
        self.mistakes.borrow_mut().push(mistake);
    }

    /// Whether a key of this table is a mistake already.
    pub(super) fn is_incomplete(&self, table: &[&str]) -> bool {
        !self.removed.keys_of(table).is_empty()
    }

    /// Returns a locale, or `None` for `auto`.
    pub(super) fn locale(&self, name: &Spanned<String>) -> Result<Option<Locale>, Mistake> {
        if name.get_ref() == locale::AUTO {
            return Ok(None);
        }
        locale::find(name.get_ref()).map(Some).ok_or_else(|| match locale::of_language(name.get_ref()) {
            Some(meant) => {
                let hint = format!("did you mean {meant}?");
                self.error(name.span(), format!("'{}' is not a locale", name.get_ref()), Some(hint))
            }
            None => {
                let names = [locale::AUTO].into_iter().chain(locale::names());
                self.unknown(name.span(), "locale", name.get_ref(), names)
            }
        })
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

    /// Returns the currency of a code, a sign or a name.
    pub(super) fn currency(&self, text: &str, span: Range<usize>) -> Result<Currency, Mistake> {
        CurrencyMark::parse(text).and_then(|mark| mark.currency(None)).ok_or_else(|| {
            let message = format!("'{text}' is not a currency");
            self.error(span, message, Some("write an ISO 4217 code, such as \"EUR\""))
        })
    }

    pub(super) fn regex(&self, pattern: &Spanned<String>) -> Result<Regex, Mistake> {
        let compiled = pattern::compile(pattern.get_ref()).map_err(|message| {
            let hint = "in TOML, 'single quotes' keep backslashes as they are";
            self.error(pattern.span(), message, Some(hint))
        })?;
        self.count_patterns(compiled.size, pattern.span())?;
        Ok(compiled.regex)
    }

    /// Adds the memory of patterns to the total of the template. Fails beyond the limit.
    pub(super) fn count_patterns(&self, size: usize, span: Range<usize>) -> Result<(), Mistake> {
        let total = self.patterns.get().saturating_add(size);
        self.patterns.set(total);
        match total > MAX_TOTAL {
            true => {
                let message = "the patterns of this template need too much memory together";
                Err(self.error(span, message, Some("use fewer patterns, or ones that repeat less")))
            }
            false => Ok(()),
        }
    }

    /// Fails for more than `most` entries of a key.
    pub(super) fn count(&self, key: &str, entries: usize, most: usize, span: Range<usize>) -> Result<(), Mistake> {
        match entries > most {
            true => {
                let message = format!("{key} has {entries} entries, and can have at most {most}");
                Err(self.error(span, message, Some("remove some")))
            }
            false => Ok(()),
        }
    }

    /// Returns a positive number.
    pub(super) fn positive(&self, number: &Spanned<i64>, hint: &str) -> Result<usize, Mistake> {
        match usize::try_from(*number.get_ref()) {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(self.error(number.span(), "this must be a number from 1", Some(hint))),
        }
    }

    /// Returns the choice with the name at a key, or `None` without the key.
    pub(super) fn choice<T: Clone>(
        &self,
        key: &str,
        chosen: Option<Spanned<String>>,
        choices: &[(&'static str, T)],
    ) -> Result<Option<T>, Mistake> {
        let Some(chosen) = chosen else { return Ok(None) };
        match choices.iter().find(|(name, _)| name == chosen.get_ref()) {
            Some((_, value)) => Ok(Some(value.clone())),
            None => {
                let names = choices.iter().map(|(name, _)| *name);
                Err(self.unknown(chosen.span(), &format!("value of {key}"), chosen.get_ref(), names))
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
        self.files.mistake(span, message, hint.map(Into::into))
    }
}

//! Reads the keys of a TOML table one by one, and collects all mistakes with their positions.

use std::cell::RefCell;
use std::ops::Range;
use std::time::Duration;

use sheetport_documents::{Mistake, TomlFile, suggestion};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The mistakes of a file.
#[derive(Debug)]
pub(super) struct Mistaken<'a> {
    file: TomlFile<'a>,
    found: RefCell<Vec<Mistake>>,
}

impl<'a> Mistaken<'a> {
    pub(super) fn of(file: TomlFile<'a>) -> Mistaken<'a> {
        Mistaken { file, found: RefCell::default() }
    }

    pub(super) fn add(&self, span: Range<usize>, message: impl Into<String>, hint: Option<&str>) {
        self.found.borrow_mut().push(self.file.mistake(span, message, hint.map(str::to_owned)));
    }

    /// Returns the mistakes in the order of their positions.
    pub(super) fn into_sorted(self) -> Vec<Mistake> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|mistake| mistake.place.as_ref().map_or(0, |(_, span)| span.start));
        found
    }
}

/// A value with its position in the file.
pub(super) type Placed<T> = (Range<usize>, T);

/// A table whose keys are each read once. The remaining keys are unknown.
pub(super) struct Keys<'a> {
    table: &'a DeTable<'a>,
    span: Range<usize>,
    known: RefCell<Vec<&'static str>>,
    mistaken: &'a Mistaken<'a>,
}

impl<'a> Keys<'a> {
    pub(super) fn of(table: &'a DeTable<'a>, span: Range<usize>, mistaken: &'a Mistaken<'a>) -> Keys<'a> {
        Keys { table, span, known: RefCell::default(), mistaken }
    }

    /// Returns the place of the table.
    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    pub(super) fn mistake(&self, span: Range<usize>, message: impl Into<String>, hint: Option<&str>) {
        self.mistaken.add(span, message, hint);
    }

    fn value(&self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.known.borrow_mut().push(key);
        self.table.get(key)
    }

    fn typed<T>(
        &self,
        key: &'static str,
        expected: &str,
        read: impl Fn(&'a DeValue<'a>) -> Option<T>,
    ) -> Option<Placed<T>> {
        let value = self.value(key)?;
        let found = read(value.get_ref());
        if found.is_none() {
            self.mistake(value.span(), format!("{key} is not {expected}"), None);
        }
        Some((value.span(), found?))
    }

    pub(super) fn text(&self, key: &'static str) -> Option<Placed<String>> {
        self.typed(key, "a text in quotes", |value| value.as_str().map(str::to_owned))
    }

    pub(super) fn flag(&self, key: &'static str) -> bool {
        self.choice(key).unwrap_or(false)
    }

    pub(super) fn choice(&self, key: &'static str) -> Option<bool> {
        self.typed(key, "true or false", DeValue::as_bool).map(|(_, flag)| flag)
    }

    /// Reads a text or a list of texts.
    pub(super) fn texts(&self, key: &'static str) -> Option<Placed<Vec<Placed<String>>>> {
        let value = self.value(key)?;
        let text = |value: &Spanned<DeValue<'_>>| Some((value.span(), value.get_ref().as_str()?.to_owned()));
        let texts: Option<Vec<_>> = match value.get_ref() {
            DeValue::Array(values) => values.iter().map(text).collect(),
            _ => text(value).map(|text| vec![text]),
        };
        if texts.is_none() {
            self.mistake(value.span(), format!("{key} is not a text or a list of texts"), None);
        }
        Some((value.span(), texts?))
    }

    /// Reads the texts of a table, such as `{ warehouse = "W1" }`.
    pub(super) fn named_texts(&self, key: &'static str) -> Vec<(String, String)> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let pairs = value.get_ref().as_table().and_then(|table| {
            let pair = |(name, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
                let name: &std::borrow::Cow<'_, str> = name.get_ref();
                Some((name.to_string(), value.get_ref().as_str()?.to_owned()))
            };
            table.iter().map(pair).collect::<Option<Vec<_>>>()
        });
        pairs.unwrap_or_else(|| {
            self.mistake(value.span(), format!("{key} is not a table of texts such as {{ warehouse = \"W1\" }}"), None);
            Vec::new()
        })
    }

    /// Reads a number within limits.
    pub(super) fn number(&self, key: &'static str, limits: std::ops::RangeInclusive<u64>) -> Option<u64> {
        let value = self.value(key)?;
        let number = value
            .get_ref()
            .as_integer()
            .and_then(|digits| u64::from_str_radix(&digits.as_str().replace('_', ""), digits.radix()).ok());
        let number = number.filter(|number| limits.contains(number));
        if number.is_none() {
            let (first, last) = limits.into_inner();
            let expected =
                if last == u64::MAX { format!("{first} or more") } else { format!("from {first} to {last}") };
            self.mistake(value.span(), format!("{key} is not a number {expected}"), None);
        }
        number
    }

    /// Reads a number with a fraction.
    pub(super) fn share(&self, key: &'static str) -> Option<f64> {
        let value = self.value(key)?;
        let digits = match value.get_ref() {
            DeValue::Float(digits) => digits.as_str(),
            DeValue::Integer(digits) => digits.as_str(),
            _ => "",
        };
        let share = digits.parse().ok().filter(|share| (0.0..=1.0).contains(share));
        if share.is_none() {
            self.mistake(value.span(), format!("{key} is not a number from 0 to 1, such as 0.8"), None);
        }
        share
    }

    /// Reads a value in quotes of a type with a parser.
    pub(super) fn parsed<T>(&self, key: &'static str, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let (span, text) = self.text(key)?;
        match parse(&text) {
            Ok(value) => Some(value),
            Err(why) => {
                self.mistake(span, format!("{key}: {why}"), None);
                None
            }
        }
    }

    pub(super) fn duration(&self, key: &'static str) -> Option<Duration> {
        self.parsed(key, |text| {
            let read = text.parse::<jiff::SignedDuration>().ok().and_then(|read| Duration::try_from(read).ok());
            read.ok_or_else(|| format!("'{text}' is not a time such as 30s, 15m or 2h"))
        })
    }

    /// Reads a table.
    pub(super) fn table(&self, key: &'static str) -> Option<Keys<'a>> {
        let (span, table) = self.typed(key, "a table", DeValue::as_table)?;
        Some(Keys::of(table, span, self.mistaken))
    }

    /// Reads the tables of `[[key]]`.
    pub(super) fn tables(&self, key: &'static str) -> Vec<Keys<'a>> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let keys =
            |value: &'a Spanned<DeValue<'a>>| Some(Keys::of(value.get_ref().as_table()?, value.span(), self.mistaken));
        let tables = value.get_ref().as_array().and_then(|values| values.iter().map(keys).collect::<Option<Vec<_>>>());
        tables.unwrap_or_else(|| {
            self.mistake(value.span(), format!("{key} is not written as [[{key}]]"), None);
            Vec::new()
        })
    }

    /// Reports keys that were not read as unknown.
    pub(super) fn finish(self) {
        let known = self.known.into_inner();
        for (key, _) in self.table {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                self.mistaken.add(key.span(), format!("unknown key '{name}'"), Some(&suggestion(name, &known)));
            }
        }
    }
}

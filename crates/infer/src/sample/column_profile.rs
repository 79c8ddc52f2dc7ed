//! Statistics about the values of a column: how many are numbers, dates or words, and how many differ.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use regex::Regex;
use sheetport_mapping::words::total_rows::is_total;
use sheetport_sheet::read::header::cell_type;
use sheetport_sheet::read::value_type::ValueType;
use sheetport_sheet::{Cell, Row};
use sheetport_values::currency;
use sheetport_values::number::{self, Percent};
use sheetport_values::{boolean, identifier, locale};

use super::super::headers::currency_hint::{self, CurrencyHint};

/// The only percentage of a text, before which other words may stand.
pub(crate) const RATE_IN_TEXT: &str = r"^[^%]*?(\d+(?:[.,]\d+)?)\s*%[^%]*$";

static NAMED_RATE: LazyLock<Regex> = LazyLock::new(|| Regex::new(RATE_IN_TEXT).expect("the pattern is a constant"));

/// Maximum number of distinct values to keep.
const MAX_VALUES: usize = 40;
/// Maximum length of values; longer texts are cut to save memory.
const MAX_CHARS: usize = 200;

/// Statistics about one column, mostly numbers of cells.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnProfile {
    /// Number of rows of the sample.
    pub rows: usize,
    pub filled: usize,
    /// Number of distinct values.
    pub distinct: usize,
    /// Blank cells below the first filled cell.
    pub blank_below: usize,
    pub numbers: usize,
    pub decimals: usize,
    /// Numbers that are not whole.
    pub fractions: usize,
    pub negative: usize,
    pub percents: usize,
    /// Texts with a single rate among other words, such as `20% (VAT on Income)`.
    pub named_rates: usize,
    pub dates: usize,
    /// Dates with a time of day.
    pub times: usize,
    pub booleans: usize,
    pub currency_codes: usize,
    /// Currencies beside numbers.
    pub currencies: BTreeMap<CurrencyHint, usize>,
    /// Email and web addresses.
    pub addresses: usize,
    pub html: usize,
    pub several_words: usize,
    pub with_digits: usize,
    pub leading_zeros: usize,
    /// Identifiers with typical changes by spreadsheet programs.
    pub damaged: usize,
    pub damaged_example: Option<String>,
    /// Distinct labels of rows with totals.
    pub totals: Vec<String>,
    /// Total length of all values in characters.
    chars: usize,
    /// The first distinct values with the number of cells.
    pub values: Vec<(String, usize)>,
    /// The number in each row's cell, for comparing columns.
    pub amounts: Vec<Option<f64>>,
    /// The position of each row's value among the distinct values, for comparing columns.
    pub keys: Vec<Option<usize>>,
    /// The first non-numeric value.
    pub not_a_number: Option<String>,
    /// The first value that is no date.
    pub not_a_date: Option<String>,
    /// Cells equal to the previous filled cell.
    pub repeats: usize,
    /// Runs of consecutive equal cells.
    pub runs: usize,
}

impl ColumnProfile {
    /// Profiles the column at `index`, counted from 0.
    pub(super) fn new(rows: &[Row], index: usize) -> ColumnProfile {
        let mut profile = ColumnProfile { rows: rows.len(), ..ColumnProfile::default() };
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut above: Option<String> = None;
        for row in rows {
            let cell = row.get(index);
            if cell.is_blank() {
                profile.blank_below += usize::from(profile.filled > 0);
                profile.amounts.push(None);
                profile.keys.push(None);
                continue;
            }
            let shown = cell.shown();
            profile.count(cell, shown.trim());
            let text: String = shown.trim().chars().take(MAX_CHARS).collect();
            match above.replace(text.clone()) {
                Some(above) if above == text => profile.repeats += 1,
                _ => profile.runs += 1,
            }
            let next = seen.len();
            let position = *seen.entry(text.clone()).or_insert(next);
            profile.keys.push(Some(position));
            match profile.values.get_mut(position) {
                Some((_, count)) => *count += 1,
                None if position == next && next < MAX_VALUES => profile.values.push((text, 1)),
                None => {}
            }
        }
        profile.distinct = seen.len();
        profile
    }

    fn count(&mut self, cell: Cell<'_>, text: &str) {
        self.filled += 1;
        let number = match cell {
            Cell::Number(number) | Cell::Rounded(number, _) => Some((number, number.fract() != 0.0)),
            // The shortest decimals of 12.50 are one.
            Cell::Money(number, _) => Some((number, number.fract() != 0.0)),
            Cell::Formatted(number, _) if is_measure(number, text) => Some((number, number.fract() != 0.0)),
            Cell::Text(_) | Cell::Percent(_) => parse_number(text),
            _ => None,
        };
        if let Some((number, has_decimals)) = number {
            self.numbers += 1;
            self.decimals += usize::from(has_decimals);
            self.fractions += usize::from(number.fract() != 0.0);
            self.negative += usize::from(number < 0.0);
            let currency = match cell {
                Cell::Money(_, mark) => currency_hint::of_mark(mark),
                _ => currency_hint::beside_number(text),
            };
            if let Some(currency) = currency {
                *self.currencies.entry(currency).or_default() += 1;
            }
        }
        self.amounts.push(number.map(|(number, _)| number));
        if number.is_none() {
            self.not_a_number.get_or_insert_with(|| text.chars().take(MAX_CHARS).collect());
        }
        let is_date = match cell {
            Cell::Date(_) | Cell::DateTime(_) => true,
            Cell::Text(_) => is_date(text),
            _ => false,
        };
        if !is_date {
            self.not_a_date.get_or_insert_with(|| text.chars().take(MAX_CHARS).collect());
        }
        let has_time = matches!(cell, Cell::DateTime(_)) || matches!(cell, Cell::Text(_)) && text.contains(':');
        let is_damaged = match cell {
            Cell::Number(number) | Cell::Rounded(number, _) => identifier::from_f64(number).is_err(),
            _ => identifier::damage(text).is_some(),
        };
        let is_digits = text.bytes().all(|b| b.is_ascii_digit());
        for (counter, holds) in [
            (&mut self.percents, text.ends_with(['%', '％']) || text.starts_with(['%', '％'])),
            (&mut self.named_rates, number.is_none() && NAMED_RATE.is_match(text)),
            (&mut self.dates, is_date),
            (&mut self.times, is_date && has_time),
            (&mut self.booleans, matches!(cell, Cell::Boolean(_)) || boolean::parse(text).is_some()),
            (&mut self.currency_codes, currency::is_code(text)),
            (&mut self.addresses, cell_type(cell) == ValueType::Address),
            (&mut self.html, is_html(text)),
            (&mut self.several_words, text.split_whitespace().nth(1).is_some()),
            (&mut self.with_digits, text.bytes().any(|b| b.is_ascii_digit())),
            (&mut self.leading_zeros, text.len() > 1 && text.starts_with('0') && is_digits),
            (&mut self.damaged, is_damaged),
        ] {
            *counter += usize::from(holds);
        }
        if is_damaged {
            self.damaged_example.get_or_insert_with(|| text.to_owned());
        }
        if is_total(text) && !self.totals.iter().any(|known| known == text) {
            self.totals.push(text.to_owned());
        }
        self.chars += text.chars().count();
    }

    /// Returns `count` as a fraction of the filled cells.
    pub(crate) fn share(&self, count: usize) -> f64 {
        share(count, self.filled)
    }

    /// Returns the fraction of rows with a value.
    pub(crate) fn fill(&self) -> f64 {
        share(self.filled, self.rows)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.filled == 0 && self.rows > 0
    }

    /// Returns the average length of the values in characters.
    pub(crate) fn average_chars(&self) -> f64 {
        share(self.chars, self.filled)
    }

    /// Whether nearly all values are numbers.
    pub(crate) fn is_numeric(&self) -> bool {
        self.filled > 0 && self.share(self.numbers) >= 0.8
    }

    /// Whether most values are numbers, but not all.
    pub(crate) fn has_stray_text(&self) -> bool {
        self.not_a_number.is_some() && self.share(self.numbers) > 0.5
    }

    /// Whether equal values are always on consecutive rows, and some values are on several.
    pub(crate) fn is_grouped(&self) -> bool {
        self.distinct > 1 && self.repeats > 0 && self.runs == self.distinct
    }

    /// Returns all distinct values if there are at most `max`.
    pub(crate) fn few_values(&self, max: usize) -> Option<&[(String, usize)]> {
        (self.distinct <= max && self.distinct == self.values.len()).then_some(self.values.as_slice())
    }

    /// Whether all values are words such as yes and no.
    pub(crate) fn is_yes_no(&self) -> bool {
        let is_known = |(value, _): &(String, usize)| boolean::parse(value).is_some();
        self.distinct > 0 && self.few_values(4).is_some_and(|values| values.iter().all(is_known))
    }

    /// Whether this column has the larger number on most rows; `None` if no row has different numbers in both.
    pub(crate) fn is_larger_than(&self, other: &ColumnProfile) -> Option<bool> {
        let pairs = self.amounts.iter().zip(&other.amounts).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
        let (larger, smaller) =
            pairs.fold((0, 0), |(larger, smaller), (a, b)| (larger + usize::from(a > b), smaller + usize::from(a < b)));
        (larger + smaller > 0).then_some(larger >= smaller)
    }
}

fn share(count: usize, total: usize) -> f64 {
    if total == 0 { 0.0 } else { count as f64 / total as f64 }
}

/// Parses a number in any notation; also returns whether the text has decimals.
fn parse_number(text: &str) -> Option<(f64, bool)> {
    const MAX_BYTES: usize = 40;
    if text.len() > MAX_BYTES || !text.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let locales = [None, Some("en"), Some("de"), Some("fr"), Some("en-IN")];
    let parse = |name: Option<&str>| number::parse(text, name.and_then(locale::find), Some(Percent::Whole)).ok();
    let number = locales.into_iter().find_map(parse)?;
    Some((f64::try_from(number).ok()?, number.scale() > 0))
}

fn is_date(text: &str) -> bool {
    // Removes the time zone of `2026-01-31 10:00:00 +0100`.
    let text = match text.rsplit_once(' ') {
        Some((at, zone)) if at.contains(':') && is_time_zone(zone) => at,
        _ => text,
    };
    let is_eight_digits = text.len() == 8 && text.bytes().all(|b| b.is_ascii_digit());
    text.len() >= 6 && ValueType::of(text.as_bytes()) == ValueType::Date
        || is_eight_digits
            && (text.starts_with("19") || text.starts_with("20"))
            && &text[4..6] <= "12"
            && &text[6..] <= "31"
        || text.contains('年') && text.contains('月')
}

fn is_time_zone(text: &str) -> bool {
    let is_offset =
        text.strip_prefix(['+', '-']).is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit() || b == b':'));
    is_offset || (2..=5).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase())
}

fn is_html(text: &str) -> bool {
    text.split_once('<').is_some_and(|(_, tag)| {
        tag.trim_start_matches('/').starts_with(|c: char| c.is_ascii_alphabetic()) && tag.contains('>')
    })
}
/// Returns whether a number is shown with a unit only, such as `5 kg`.
fn is_measure(number: f64, shown: &str) -> bool {
    let beside = number::from_f64(number).and_then(|number| number::literal::beside(number, shown, false));
    beside.is_ok_and(|beside| beside.word.is_none_or(|word| word.is_unit))
}

//! What the values of a column look like: how many are numbers, dates, words; how many differ. It judges which field a
//! column may be for, and changes no value.

use std::collections::{BTreeMap, HashMap};

use super::super::value::number::{self, Percent};
use super::super::value::{boolean, identifier, locale};
use super::money::{self, Money};
use crate::sheet::read::header::cell_type;
use crate::sheet::read::value_type::ValueType;
use crate::sheet::{Cell, Row};

/// Different values that are kept; of more, the column has many.
const KEPT: usize = 40;
/// So many characters tell values apart.
const TOLD_APART: usize = 200;

/// The values of one column in the rows that were looked at.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    pub rows: usize,
    pub filled: usize,
    pub distinct: usize,
    /// Cells that hold nothing below one that holds something.
    pub blank_below: usize,
    pub numbers: usize,
    /// Numbers that are written with decimals.
    pub decimals: usize,
    pub negative: usize,
    pub percents: usize,
    pub dates: usize,
    /// Dates that a workbook holds as such.
    pub date_cells: usize,
    /// Dates with a time of day.
    pub times: usize,
    pub booleans: usize,
    /// Codes of currencies.
    pub codes: usize,
    pub currencies: BTreeMap<Money, usize>,
    pub addresses: usize,
    pub html: usize,
    pub several_words: usize,
    pub with_digits: usize,
    pub leading_zeros: usize,
    /// Identifiers that a spreadsheet program seems to have changed, and one of them.
    pub damaged: usize,
    pub damaged_example: Option<String>,
    /// Cells that hold the very words of a line that sums up.
    pub totals: Vec<String>,
    letters: usize,
    /// The different values in the order in which they were met, with how often; the first few.
    pub values: Vec<(String, usize)>,
    /// What each row's cell says as a number, for comparing columns with each other.
    pub amounts: Vec<Option<f64>>,
    /// How often a cell is as the one above it, and how often the column's values come in one stretch each.
    pub repeats: usize,
    pub stretches: usize,
}

impl Profile {
    /// Looks at the column at `index` of each row.
    pub fn of(rows: &[Row], index: usize) -> Profile {
        let mut profile = Profile { rows: rows.len(), ..Profile::default() };
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut above: Option<String> = None;
        for row in rows {
            let cell = row.get(index);
            if cell.is_blank() {
                profile.blank_below += usize::from(profile.filled > 0);
                profile.amounts.push(None);
                continue;
            }
            let whole = cell.shown();
            profile.look(cell, whole.trim());
            // Of long texts the beginning tells them apart well enough, and takes less memory.
            let text: String = whole.trim().chars().take(TOLD_APART).collect();
            match above.replace(text.clone()) {
                Some(above) if above == text => profile.repeats += 1,
                _ => profile.stretches += 1,
            }
            match seen.get(&text) {
                Some(place) => {
                    if let Some((_, count)) = profile.values.get_mut(*place) {
                        *count += 1;
                    }
                }
                None => {
                    seen.insert(text.clone(), seen.len());
                    if profile.values.len() < KEPT {
                        profile.values.push((text, 1));
                    }
                }
            }
        }
        profile.distinct = seen.len();
        profile
    }

    fn look(&mut self, cell: Cell<'_>, text: &str) {
        self.filled += 1;
        let amount = match cell {
            Cell::Number(number) => Some((number, number.fract() != 0.0)),
            Cell::Text(_) | Cell::Percent(_) => as_number(text),
            _ => None,
        };
        if let Some((amount, decimals)) = amount {
            self.numbers += 1;
            self.decimals += usize::from(decimals);
            self.negative += usize::from(amount < 0.0);
        }
        self.amounts.push(amount.map(|(amount, _)| amount));
        self.percents += usize::from(text.ends_with('%') || text.ends_with('％'));
        match cell {
            Cell::Date(_) => (self.dates, self.date_cells) = (self.dates + 1, self.date_cells + 1),
            Cell::DateTime(_) => {
                (self.dates, self.date_cells, self.times) = (self.dates + 1, self.date_cells + 1, self.times + 1);
            }
            Cell::Text(_) if is_date(text) => {
                self.dates += 1;
                self.times += usize::from(text.contains(':'));
            }
            _ => {}
        }
        self.booleans += usize::from(matches!(cell, Cell::Boolean(_)) || boolean::parse(text).is_some());
        self.codes += usize::from(money::is_code(text));
        if let Some(money) = money::beside(text).filter(|_| amount.is_some()) {
            *self.currencies.entry(money).or_default() += 1;
        }
        self.addresses += usize::from(cell_type(cell) == ValueType::Address);
        self.html += usize::from(is_html(text));
        self.several_words += usize::from(text.split_whitespace().nth(1).is_some());
        self.with_digits += usize::from(text.bytes().any(|b| b.is_ascii_digit()));
        let zero = text.len() > 1 && text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
        self.leading_zeros += usize::from(zero);
        let changed = match cell {
            Cell::Number(number) => identifier::from_f64(number).is_err(),
            _ => identifier::damage(text).is_some(),
        };
        if changed {
            self.damaged += 1;
            self.damaged_example.get_or_insert_with(|| text.to_owned());
        }
        if is_total(text) && !self.totals.iter().any(|known| known == text) {
            self.totals.push(text.to_owned());
        }
        self.letters += text.chars().count();
    }

    /// The part of the filled cells that `count` is.
    pub fn share(&self, count: usize) -> f64 {
        share(count, self.filled)
    }

    /// The part of the rows that have a value.
    pub fn fill(&self) -> f64 {
        share(self.filled, self.rows)
    }

    pub fn is_empty(&self) -> bool {
        self.filled == 0 && self.rows > 0
    }

    /// Letters a value, on average.
    pub fn length(&self) -> f64 {
        share(self.letters, self.filled)
    }

    /// Nearly every value is a number.
    pub fn is_numeric(&self) -> bool {
        self.filled > 0 && self.share(self.numbers) >= 0.8
    }

    /// Whether the values come in one stretch each, some of them longer than a row.
    pub fn is_grouped(&self) -> bool {
        self.distinct > 1 && self.repeats > 0 && self.stretches == self.distinct
    }

    /// The different values, where they are few enough to be all known.
    pub fn few(&self, most: usize) -> Option<&[(String, usize)]> {
        (self.distinct <= most && self.distinct == self.values.len()).then_some(self.values.as_slice())
    }
}

pub fn share(count: usize, of: usize) -> f64 {
    let float = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    if of == 0 { 0.0 } else { float(count) / float(of) }
}

/// The number that a text is, read in whatever way it can be, and whether it is written with decimals.
fn as_number(text: &str) -> Option<(f64, bool)> {
    if text.len() > 40 || !text.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let locales = [None, Some("en"), Some("de"), Some("fr"), Some("en-IN")];
    let parse = |name: Option<&str>| number::parse(text, name.and_then(locale::find), Some(Percent::Whole)).ok();
    let number = locales.into_iter().find_map(parse)?;
    Some((f64::try_from(number).ok()?, number.scale() > 0))
}

fn is_date(text: &str) -> bool {
    // A time zone behind a time of day, as in `10:00:00 +0100`.
    let text = match text.rsplit_once(' ') {
        Some((at, zone)) if at.contains(':') && is_zone(zone) => at,
        _ => text,
    };
    let digits = text.len() == 8 && text.bytes().all(|b| b.is_ascii_digit());
    let japanese = text.contains('年') && text.contains('月');
    ValueType::of(text.as_bytes()) == ValueType::Date && text.len() >= 6
        || digits && (text.starts_with("19") || text.starts_with("20")) && &text[4..6] <= "12" && &text[6..] <= "31"
        || japanese
}

fn is_zone(text: &str) -> bool {
    let offset =
        text.strip_prefix(['+', '-']).is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit() || b == b':'));
    offset || (2..=5).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase())
}

fn is_html(text: &str) -> bool {
    text.find('<').is_some_and(|at| {
        let rest = &text[at + 1..];
        rest.trim_start_matches('/').starts_with(|c: char| c.is_ascii_alphabetic()) && rest.contains('>')
    })
}

fn is_total(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "total",
        "subtotal",
        "sub-total",
        "grand total",
        "sum",
        "summe",
        "gesamt",
        "gesamtsumme",
        "zwischensumme",
        "somme",
        "totale",
        "totaal",
        "合計",
        "小計",
    ];
    let word = text.trim_end_matches([':', ' ']).to_lowercase();
    WORDS.contains(&word.as_str())
}

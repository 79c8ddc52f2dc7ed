//! Decides whether the values of a column fit a field, and guesses the field of columns without a known header.

use std::sync::LazyLock;

use serde::Deserialize;
use sheetport_words::{ValueKind, vocabulary};

use super::super::sample::ColumnProfile;

/// Rates of taxes in percent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaxRates {
    usual: Vec<f64>,
    countries: Vec<Country>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Country {
    #[expect(dead_code, reason = "for readers of the file")]
    name: String,
    rates: Vec<f64>,
}

static TAX_RATES: LazyLock<TaxRates> = LazyLock::new(|| {
    toml::from_str(include_str!("tax_rates.toml")).expect("the file is compiled in, and tests parse it")
});

/// A field guessed from values, with a score from 0 to 1.
pub(super) struct Guess {
    pub score: f64,
    pub reason: &'static str,
}

/// Factor for columns with some unsuitable values.
const MOSTLY: f64 = 0.75;
/// Share of a score that depends on the number of filled and of distinct cells.
const FULLER: f64 = 0.05;

/// Returns a factor for the score of a matching header: 0 for impossible values, 1 for fitting values.
pub(super) fn fit(kind: ValueKind, profile: &ColumnProfile) -> f64 {
    if profile.rows == 0 {
        return 1.0;
    }
    if profile.filled == 0 {
        return 0.55;
    }
    let share = |count| profile.share(count);
    let (numbers, percents) = (share(profile.numbers), share(profile.percents));
    let (dates, booleans, addresses) = (share(profile.dates), share(profile.booleans), share(profile.addresses));
    let fits = match kind {
        ValueKind::Identifier => {
            let distinct = share(profile.distinct);
            let is_constant = profile.distinct == 1 && profile.filled > 2;
            fit_reference(profile) * lowest(&[(distinct < 0.9, 0.8), (distinct < 0.5, 0.75), (is_constant, 0.5)])
        }
        ValueKind::Reference => fit_reference(profile),
        ValueKind::Title => lowest(&[
            (numbers > 0.9, 0.5),
            (dates > 0.8, 0.1),
            (booleans > 0.9, 0.1),
            (addresses > 0.8, 0.2),
            (profile.average_chars() > 200.0, 0.5),
        ]),
        ValueKind::LongText => {
            lowest(&[(numbers > 0.8, 0.3), (dates > 0.8, 0.1), (booleans > 0.9, 0.1), (addresses > 0.8, 0.1)])
        }
        ValueKind::Currency if share(profile.currency_codes) >= 0.8 => 1.0,
        ValueKind::Currency => lowest(&[(true, 0.8), (numbers > 0.5 || profile.average_chars() > 6.0, 0.0)]),
        ValueKind::Price => {
            let never_differs = profile.distinct == 1 && profile.filled > 2;
            lowest(&[
                (percents > 0.5, 0.0),
                (numbers < 0.8, MOSTLY),
                (numbers <= 0.5, 0.0),
                (is_flag(profile), 0.2),
                (never_differs, 0.93),
            ])
        }
        ValueKind::TaxRate => {
            let rates = numbers + share(profile.named_rates);
            let are_unusual = profile.named_rates == 0 && !is_tax_rate(profile);
            lowest(&[(rates < 0.8, MOSTLY), (rates <= 0.5, 0.0), (are_unusual, 0.5)])
        }
        ValueKind::TaxAmount => {
            lowest(&[(numbers < 0.8 || percents > 0.5, 0.0), (profile.distinct <= 4 && is_tax_rate(profile), 0.6)])
        }
        ValueKind::Status => lowest(&[
            (profile.distinct > 12, 0.4),
            (profile.distinct > 30, 0.0),
            (profile.average_chars() > 30.0, 0.2),
            (profile.decimals > 0, 0.0),
            (profile.is_numeric() && profile.distinct > 6, 0.0),
            (profile.is_numeric() && !profile.is_yes_no() && profile.distinct * 2 > profile.filled, 0.6),
            (dates > 0.5, 0.0),
            (addresses > 0.5, 0.0),
        ]),
        ValueKind::Date => lowest(&[(dates < 0.8, MOSTLY), (dates <= 0.5, 0.0)]),
        ValueKind::Quantity => lowest(&[
            (numbers < 0.8, MOSTLY),
            (numbers <= 0.5 || percents > 0.5 || !profile.currencies.is_empty(), 0.0),
            (share(profile.fractions) > 0.5, 0.7),
        ]),
        ValueKind::Boolean => lowest(&[(booleans < 0.8, 0.0)]),
    };
    // Among otherwise equal columns, prefers the fuller column, and for identifiers the column with more distinct values.
    let distinct = if kind == ValueKind::Identifier { share(profile.distinct) } else { 1.0 };
    fits * (1.0 - FULLER * (1.0 - profile.fill()) - FULLER * (1.0 - distinct))
}

/// Returns why few values can be read as this kind, for a column whose name is certain. Returns `None` for readable values, and
/// for values of another kind, such as percentages below the name of a price.
pub(super) fn unreadable(kind: ValueKind, profile: &ColumnProfile) -> Option<&'static str> {
    let share = |count| profile.share(count);
    let (are_numbers, are_percents) = (share(profile.numbers) >= 0.8, share(profile.percents) > 0.5);
    match kind {
        _ if profile.filled == 0 => None,
        // Words such as "yes" and "Exempt" below the name of a tax are no rates, and their rows are right without one.
        ValueKind::TaxRate | ValueKind::TaxAmount if profile.numbers == 0 => None,
        ValueKind::Price | ValueKind::TaxAmount if !are_numbers && !are_percents => Some(NOT_NUMBERS),
        ValueKind::Price if is_flag(profile) => Some("; although every number is 0 or 1"),
        ValueKind::TaxRate if share(profile.numbers + profile.named_rates) < 0.8 => Some(NOT_NUMBERS),
        ValueKind::Quantity if !are_numbers && !are_percents && profile.currencies.is_empty() => Some(NOT_NUMBERS),
        ValueKind::Date if share(profile.dates) < 0.8 => Some("; although many values are no dates"),
        ValueKind::Currency if share(profile.currency_codes) < 0.8 => {
            Some("; although many values are no currency codes")
        }
        _ => None,
    }
}

const NOT_NUMBERS: &str = "; although many values are no numbers";

/// Whether the values are usual words for a status, or for yes and no. A column without values may have them.
pub(super) fn are_states(profile: &ColumnProfile) -> bool {
    let is_known = |(value, _): &&(String, usize)| vocabulary().is_status(value);
    let are_known = |values: &[(String, usize)]| values.iter().filter(is_known).count() * 2 >= values.len();
    profile.filled == 0 || profile.is_yes_no() || profile.few_values(12).is_some_and(are_known)
}

/// Whether the numbers are rather amounts of money than counts: few lines of a document have fifty pieces of everything.
pub(super) fn has_large_numbers(profile: &ColumnProfile) -> bool {
    const MANY: f64 = 50.0;
    let large = profile.amounts.iter().flatten().filter(|amount| **amount >= MANY).count();
    profile.numbers > 0 && large * 2 > profile.numbers
}

/// Whether the numbers are only 0 and 1, as of yes and no.
fn is_flag(profile: &ColumnProfile) -> bool {
    profile.distinct <= 2 && profile.filled > 5 && profile.share(profile.booleans) > 0.9
}

/// Guesses whether a column without a known header holds values of this kind.
pub(super) fn guess(kind: ValueKind, profile: &ColumnProfile) -> Option<Guess> {
    if profile.filled < 2 {
        return None;
    }
    let share = |count| profile.share(count);
    let (numeric, distinct, length) = (profile.is_numeric(), share(profile.distinct), profile.average_chars());
    let several_words = share(profile.several_words);
    let dates = share(profile.dates);
    let is_plain = is_plain(profile);
    let has_money = !profile.currencies.is_empty();
    let (holds, score, reason) = match kind {
        ValueKind::Identifier => {
            // Plain numbers can mean many things; letters and leading zeros are typical of identifiers.
            let score = if numeric && profile.leading_zeros == 0 { 0.5 } else { 0.6 };
            let holds = are_identifiers(profile) && profile.fill() >= 0.95;
            (holds, score, "unique values that look like identifiers")
        }
        ValueKind::Title => {
            let is_short = distinct >= 0.7 && (3.0..=60.0).contains(&length);
            let are_texts = share(profile.numbers) < 0.2 && several_words >= 0.5 && profile.html == 0;
            let are_words = share(profile.with_digits) < 0.3 && distinct >= 0.9;
            let score = if are_texts { 0.5 } else { 0.47 };
            (is_plain && is_short && (are_texts || are_words), score, "short, distinct texts")
        }
        ValueKind::LongText => (length >= 60.0 && several_words >= 0.7 && is_plain && !numeric, 0.5, "long texts"),
        ValueKind::Currency => (share(profile.currency_codes) >= 0.95, 0.62, "currency codes"),
        ValueKind::Price => {
            let is_money = share(profile.decimals) >= 0.4 || has_money;
            let is_positive = profile.percents == 0 && profile.negative == 0;
            let holds = numeric && is_money && is_positive && profile.distinct > 1 && !has_rates_of_country(profile);
            (holds, 0.5, "amounts with decimals")
        }
        ValueKind::TaxRate => {
            let are_percents = share(profile.percents) >= 0.8 && profile.distinct <= 8 && is_tax_rate(profile);
            (numeric && are_percents || has_rates_of_country(profile), 0.55, "usual tax rates")
        }
        ValueKind::Status => {
            let is_known = |(value, _): &&(String, usize)| vocabulary().is_status(value);
            let are_known = |values: &[(String, usize)]| values.iter().filter(is_known).count() * 2 >= values.len();
            (profile.few_values(8).is_some_and(are_known), 0.55, "usual words for a status")
        }
        ValueKind::Date => (dates >= 0.95, 0.5, "dates"),
        ValueKind::Quantity => {
            let is_flag = profile.distinct <= 2 && share(profile.booleans) > 0.9;
            let is_whole = numeric && !is_flag && profile.decimals == 0 && !has_money && profile.percents == 0;
            let is_small = profile.amounts.iter().flatten().all(|amount| (0.0..100_000.0).contains(amount));
            let is_count = distinct < 0.9 && profile.leading_zeros == 0 && dates < 0.5;
            (is_whole && is_small && is_count, 0.48, "small whole numbers")
        }
        ValueKind::Reference | ValueKind::TaxAmount | ValueKind::Boolean => return None,
    };
    holds.then_some(Guess { score, reason })
}

/// Whether the filled cells have different values that look like identifiers.
pub(crate) fn are_identifiers(profile: &ColumnProfile) -> bool {
    let share = |count| profile.share(count);
    let is_code =
        share(profile.several_words) < 0.1 && profile.average_chars() <= 30.0 && share(profile.with_digits) > 0.8;
    let is_whole = share(profile.decimals) < 0.05 && profile.currencies.is_empty() && profile.percents == 0;
    profile.filled >= 2 && share(profile.distinct) >= 0.98 && is_code && is_whole && is_plain(profile)
}

/// Whether few values are dates, words for yes and no, or addresses.
fn is_plain(profile: &ColumnProfile) -> bool {
    let share = |count| profile.share(count);
    share(profile.dates) < 0.2 && share(profile.booleans) < 0.8 && share(profile.addresses) < 0.2
}

/// Guesses whether a column without a known header groups rows into records.
pub(super) fn guess_group<'a>(
    profile: &ColumnProfile,
    mut others: impl Iterator<Item = &'a ColumnProfile>,
) -> Option<Guess> {
    let is_code = profile.share(profile.with_digits) > 0.8
        && profile.share(profile.dates) < 0.5
        && profile.decimals == 0
        && profile.fill() > 0.9;
    let holds = profile.is_grouped() && is_code && others.any(|other| other.runs > profile.runs);
    holds.then_some(Guess { score: 0.6, reason: "repeats on consecutive rows while other columns change" })
}

/// Whether all values are usual tax rates, as percentages or as fractions.
pub(crate) fn is_tax_rate(profile: &ColumnProfile) -> bool {
    let is_rate = |amount: f64| TAX_RATES.usual.iter().any(|rate| is_near(*rate, amount));
    let mut amounts = profile.amounts.iter().flatten().peekable();
    amounts.peek().is_some()
        && profile.distinct <= 12
        && amounts.all(|amount| is_rate(*amount) || *amount < 0.3 && is_rate(amount * 100.0))
}

/// Whether the values are at least two rates of the same country, and otherwise zero.
fn has_rates_of_country(profile: &ColumnProfile) -> bool {
    let amounts = || profile.amounts.iter().flatten().copied();
    profile.is_numeric()
        && TAX_RATES.countries.iter().any(|Country { rates, .. }| {
            let present = rates.iter().filter(|rate| amounts().any(|amount| is_near(amount, **rate)));
            let is_known = |amount| is_near(amount, 0.0) || rates.iter().any(|rate| is_near(*rate, amount));
            present.count() >= 2 && amounts().all(is_known)
        })
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() < 0.001
}

fn fit_reference(profile: &ColumnProfile) -> f64 {
    let share = |count| profile.share(count);
    lowest(&[
        (share(profile.decimals) > 0.5, 0.2),
        (profile.average_chars() > 60.0, 0.3),
        (share(profile.dates) > 0.8 && profile.leading_zeros == 0 && !profile.is_numeric(), 0.1),
        (share(profile.booleans) > 0.9 && profile.filled > 3, 0.1),
        (share(profile.several_words) > 0.6, 0.75),
        (share(profile.addresses) > 0.8, 0.7),
        (profile.fill() < 0.5, 0.85),
    ])
}

/// Returns the lowest factor with a true condition, or 1.
fn lowest(factors: &[(bool, f64)]) -> f64 {
    factors.iter().filter(|(holds, _)| *holds).map(|(_, factor)| *factor).fold(1.0, f64::min)
}

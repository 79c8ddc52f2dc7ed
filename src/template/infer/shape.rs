//! What a column's values say of a field: whether they can be its values, and for which field they are where no name
//! tells.

use super::super::value::boolean;
use super::profile::{Profile, share};

/// What a field's values are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Names the record: each value once.
    Key,
    /// Names another record.
    Reference,
    Title,
    LongText,
    Currency,
    Price,
    /// A percentage.
    Rate,
    /// An amount of tax.
    Duty,
    Status,
    Date,
    /// How many, in whole numbers mostly.
    Quantity,
    Boolean,
}

/// The percentages of tax that are in use.
const RATES: &[f64] = &[
    0.0, 2.1, 2.5, 2.6, 3.8, 4.0, 5.0, 5.5, 6.0, 7.0, 7.7, 8.0, 8.1, 8.5, 9.0, 9.5, 10.0, 11.0, 12.0, 12.5, 13.0, 13.5,
    14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 25.5, 27.0, 28.0,
];

/// The rates that a country has side by side; two of a set are the sign of a column of rates.
const COUNTRIES: &[&[f64]] = &[
    &[7.0, 19.0],
    &[5.5, 10.0, 20.0],
    &[2.1, 5.5, 10.0, 20.0],
    &[4.0, 10.0, 21.0],
    &[4.0, 5.0, 10.0, 22.0],
    &[8.0, 10.0],
    &[2.6, 3.8, 8.1],
    &[2.5, 3.7, 7.7],
    &[10.0, 13.0, 20.0],
    &[9.0, 21.0],
    &[6.0, 12.0, 25.0],
    &[6.0, 12.0, 21.0],
    &[6.0, 13.0, 23.0],
    &[5.0, 12.0, 18.0, 28.0],
    &[5.0, 8.0, 23.0],
    &[0.0, 5.0, 20.0],
    &[15.0, 25.0],
];

/// Words that say how something stands.
const STATES: &[&str] = &[
    "active",
    "inactive",
    "draft",
    "archived",
    "published",
    "unpublished",
    "enabled",
    "disabled",
    "discontinued",
    "deleted",
    "pending",
    "open",
    "closed",
    "paid",
    "unpaid",
    "shipped",
    "delivered",
    "cancelled",
    "canceled",
    "completed",
    "complete",
    "processing",
    "fulfilled",
    "unfulfilled",
    "partial",
    "refunded",
    "returned",
    "scheduled",
    "overdue",
    "sent",
    "done",
    "new",
    "aktiv",
    "inaktiv",
    "entwurf",
    "gesperrt",
    "offen",
    "bezahlt",
    "versendet",
    "storniert",
    "geliefert",
    "actif",
    "inactif",
    "brouillon",
    "expediee",
    "expédiée",
    "livrée",
    "annulée",
    "payée",
    "activo",
    "inactivo",
    "borrador",
    "enviado",
    "entregado",
    "cancelado",
    "pagado",
    "公開",
    "非公開",
    "下書き",
    "廃止",
    "発送済み",
    "未発送",
    "入金済み",
    "有効",
    "無効",
];

/// By what a score is to be multiplied: 0 when the values cannot be the field's, 1 when nothing speaks against it.
pub fn fit(sort: Sort, profile: &Profile) -> f64 {
    if profile.rows == 0 {
        return 1.0;
    }
    if profile.filled == 0 {
        return 0.55;
    }
    let share = |count| profile.share(count);
    let numeric = share(profile.numbers);
    match sort {
        Sort::Key => identifies(profile) * if share(profile.distinct) >= 0.9 { 1.0 } else { 0.8 },
        Sort::Reference => identifies(profile),
        Sort::Title => worst(&[
            (share(profile.numbers) > 0.9, 0.5),
            (share(profile.dates) > 0.8, 0.1),
            (share(profile.booleans) > 0.9, 0.1),
            (share(profile.addresses) > 0.8, 0.2),
            (profile.length() > 200.0, 0.5),
        ]),
        Sort::LongText => worst(&[
            (numeric > 0.8, 0.3),
            (share(profile.dates) > 0.8, 0.1),
            (share(profile.booleans) > 0.9, 0.1),
            (share(profile.addresses) > 0.8, 0.1),
        ]),
        Sort::Currency => match share(profile.codes) {
            codes if codes >= 0.8 => 1.0,
            _ if numeric > 0.5 || profile.length() > 6.0 => 0.0,
            _ => 0.8,
        },
        Sort::Price if numeric < 0.8 || share(profile.percents) > 0.5 => 0.0,
        Sort::Price if profile.distinct <= 2 && profile.filled > 5 && share(profile.booleans) > 0.9 => 0.2,
        Sort::Price => 1.0,
        Sort::Rate if numeric < 0.8 => 0.0,
        Sort::Rate if is_rate(profile) => 1.0,
        Sort::Rate => 0.5,
        Sort::Duty if numeric < 0.8 || share(profile.percents) > 0.5 => 0.0,
        Sort::Duty if is_rate(profile) && profile.distinct <= 4 => 0.6,
        Sort::Duty => 1.0,
        Sort::Status => status(profile),
        Sort::Date if share(profile.dates) >= 0.8 => 1.0,
        Sort::Date => 0.0,
        Sort::Quantity if numeric < 0.8 => 0.0,
        Sort::Quantity if share(profile.decimals) > 0.3 || !profile.currencies.is_empty() => 0.5,
        Sort::Quantity => 1.0,
        Sort::Boolean if share(profile.booleans) >= 0.8 => 1.0,
        Sort::Boolean => 0.0,
    }
}

/// What the column could be where its header says nothing: how sure, and why. Never more than a guess.
pub fn guess(sort: Sort, profile: &Profile) -> Option<(f64, &'static str)> {
    if profile.filled < 2 {
        return None;
    }
    let share = |count| profile.share(count);
    let numeric = profile.is_numeric();
    let plain = share(profile.dates) < 0.2 && share(profile.booleans) < 0.8 && share(profile.addresses) < 0.2;
    match sort {
        Sort::Key => {
            let distinct = share(profile.distinct) >= 0.98 && profile.fill() >= 0.95;
            let codes =
                share(profile.several_words) < 0.1 && profile.length() <= 30.0 && share(profile.with_digits) > 0.8;
            let whole = share(profile.decimals) < 0.05 && profile.currencies.is_empty() && profile.percents == 0;
            // Codes with letters or zeros in front say it louder than numbers, which count many things.
            let loud = if numeric && profile.leading_zeros == 0 { 0.5 } else { 0.6 };
            (distinct && codes && whole && plain).then_some((loud, "each value once, and like an identifier"))
        }
        Sort::Title => {
            let texts = share(profile.numbers) < 0.2 && share(profile.several_words) >= 0.5 && profile.html == 0;
            let names = share(profile.distinct) >= 0.7 && (3.0..=60.0).contains(&profile.length());
            let single = share(profile.with_digits) < 0.3 && share(profile.distinct) >= 0.9;
            let score = if texts && names { 0.5 } else { 0.47 };
            (plain && names && (texts || single)).then_some((score, "short texts that differ"))
        }
        Sort::LongText => {
            let long = profile.length() >= 60.0 && share(profile.several_words) >= 0.7;
            (long && plain && !numeric).then_some((0.5, "long texts"))
        }
        Sort::Currency => (share(profile.codes) >= 0.95).then_some((0.62, "codes of currencies")),
        Sort::Price => {
            let money = share(profile.decimals) >= 0.4 || !profile.currencies.is_empty();
            let fits = numeric && money && profile.percents == 0 && profile.negative == 0 && profile.distinct > 1;
            (fits && !is_few_rates(profile)).then_some((0.5, "amounts with decimals"))
        }
        Sort::Rate => {
            let said = numeric && share(profile.percents) >= 0.8 && profile.distinct <= 8 && is_rate(profile);
            (said || is_few_rates(profile)).then_some((0.55, "percentages that taxes have"))
        }
        Sort::Status => {
            let known = |(value, _): &(String, usize)| STATES.contains(&value.to_lowercase().as_str());
            let few = profile
                .few(8)
                .is_some_and(|values| values.iter().filter(|value| known(value)).count() * 2 >= values.len());
            (few && profile.distinct >= 1).then_some((0.55, "a few words that say how it stands"))
        }
        Sort::Date => (share(profile.dates) >= 0.95).then_some((0.5, "dates")),
        Sort::Quantity => {
            let whole = numeric && profile.decimals == 0 && profile.currencies.is_empty() && profile.percents == 0;
            let small = profile.amounts.iter().flatten().all(|amount| (0.0..100_000.0).contains(amount));
            let counts = share(profile.distinct) < 0.9 && profile.leading_zeros == 0 && share(profile.dates) < 0.5;
            (whole && small && counts).then_some((0.48, "small whole numbers"))
        }
        Sort::Reference | Sort::Duty | Sort::Boolean => None,
    }
}

/// Whether the first column holds the larger amount on most of the rows where both have one.
pub fn is_larger(one: &Profile, other: &Profile) -> Option<bool> {
    let both: Vec<(f64, f64)> =
        one.amounts.iter().zip(&other.amounts).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
    let larger = both.iter().filter(|(a, b)| a > b).count();
    let smaller = both.iter().filter(|(a, b)| a < b).count();
    (larger + smaller > 0).then_some(share(larger, larger + smaller) >= 0.5)
}

/// Values such as yes and no, of which one is met at least.
pub fn is_yes_and_no(profile: &Profile) -> bool {
    let known = |(value, _): &(String, usize)| boolean::parse(value).is_some();
    profile.distinct > 0 && profile.few(4).is_some_and(|values| values.iter().all(known))
}

fn identifies(profile: &Profile) -> f64 {
    let share = |count| profile.share(count);
    worst(&[
        (share(profile.decimals) > 0.5, 0.2),
        (profile.length() > 60.0, 0.3),
        (share(profile.dates) > 0.8 && profile.leading_zeros == 0 && !profile.is_numeric(), 0.1),
        (share(profile.booleans) > 0.9 && profile.filled > 3, 0.1),
        (share(profile.several_words) > 0.6, 0.75),
        (share(profile.addresses) > 0.8, 0.7),
        (profile.fill() < 0.5, 0.85),
    ])
}

fn status(profile: &Profile) -> f64 {
    let whole = profile.decimals == 0;
    worst(&[
        (profile.distinct > 12, 0.4),
        (profile.distinct > 30, 0.0),
        (profile.length() > 30.0, 0.2),
        (!whole, 0.0),
        (profile.is_numeric() && profile.distinct > 6, 0.0),
        (profile.share(profile.dates) > 0.5, 0.0),
        (profile.share(profile.addresses) > 0.5, 0.0),
    ])
}

/// Numbers from 0 to 100 that taxes have, or fractions of 1 that mean them.
pub fn is_rate(profile: &Profile) -> bool {
    let mut amounts = profile.amounts.iter().flatten().peekable();
    let near = |amount: f64| RATES.iter().any(|rate| (rate - amount).abs() < 0.001);
    amounts.peek().is_some()
        && profile.distinct <= 12
        && amounts.all(|amount| near(*amount) || *amount < 0.3 && near(amount * 100.0))
}

/// At least two rates of one country, and nothing but these and zero.
fn is_few_rates(profile: &Profile) -> bool {
    let met = |rate: &f64| profile.amounts.iter().flatten().any(|amount| (amount - rate).abs() < 0.001);
    let all = |rates: &[f64]| {
        profile
            .amounts
            .iter()
            .flatten()
            .all(|amount| amount.abs() < 0.001 || rates.iter().any(|rate| (rate - amount).abs() < 0.001))
    };
    profile.is_numeric()
        && COUNTRIES.iter().any(|rates| rates.iter().filter(|rate| met(rate)).count() >= 2 && all(rates))
}

fn worst(doubts: &[(bool, f64)]) -> f64 {
    doubts.iter().filter(|(holds, _)| *holds).map(|(_, factor)| *factor).fold(1.0, f64::min)
}

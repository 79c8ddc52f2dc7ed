//! Comparison of a profile with an earlier run, to find values that are possible, but probably wrong.

use sheetport_findings::Code;
use sheetport_ledger::Problem;
use sheetport_values::decimal::{self, Decimal};

use super::{FieldProfile, Profile, Range};

/// Minimum number of values for comparing medians: a few values vary too much.
const MIN_VALUES: u64 = 5;
/// A median this many times higher or lower is a change. Typical mistakes are of 100 or 1000.
const FACTOR: i64 = 3;
/// A field filled in at least this share of the records, in per cent, is expected to be filled.
const USUALLY_FILLED: u64 = 90;
/// Maximum share of records with a value in a mostly blank field, in per cent.
const HARDLY_FILLED: u64 = 50;

/// Returns the changes since an earlier profile. `earlier_run` is the name of its run, such as `run 3 of 2026-11-01`.
pub(super) fn changes(now: &Profile, earlier: &Profile, earlier_run: &str) -> Vec<Problem> {
    let pairs = now.fields.iter().filter_map(|field| {
        let earlier = earlier.fields.iter().find(|earlier| earlier.field == field.field)?;
        Some((field, earlier))
    });
    let fields = pairs.flat_map(|(now, earlier)| {
        let warning = |code: Code, message: String, remedy: &str| Problem {
            field: now.field.clone(),
            remedy: remedy.to_owned(),
            ..Problem::of_record(code, message)
        };
        let median = median_change(now, earlier).map(|(median, before, ratio)| {
            let message = format!("has the median {median}, and had {before} in {earlier_run} (× {ratio})");
            warning(Code::MedianChanged, message, "check the column, the unit and the number format")
        });
        let filled = is_hardly_filled_now(now, earlier).then(|| {
            let message = format!(
                "is filled in {} of {} records, and was in {} of {} in {earlier_run}",
                now.filled, now.of, earlier.filled, earlier.of
            );
            warning(Code::OftenBlank, message, "check whether the column has moved or lost its values")
        });
        median.into_iter().chain(filled)
    });
    fields.chain(currency_change(now, earlier, earlier_run)).collect()
}

/// Returns both medians and their ratio.
fn median_change(now: &FieldProfile, earlier: &FieldProfile) -> Option<(Decimal, Decimal, String)> {
    let median = |field: &FieldProfile| {
        let Range { median, .. } = field.range.as_ref().filter(|_| field.filled >= MIN_VALUES)?;
        decimal::parse(median).ok()
    };
    let (median, before) = (median(now)?, median(earlier)?);
    if median.is_zero() && before.is_zero() {
        return None;
    }
    let factor = Decimal::from(FACTOR);
    let times = |number: Decimal| decimal::multiply(number.abs(), factor);
    let is_higher = times(before).is_ok_and(|limit| median.abs() >= limit);
    let is_lower = times(median).is_ok_and(|limit| limit <= before.abs());
    let changes_sign = median.is_sign_negative() != before.is_sign_negative() && !median.is_zero() && !before.is_zero();
    (is_higher || is_lower || changes_sign).then(|| (median, before, ratio(median, before)))
}

/// Returns `median / before` with about three significant digits.
fn ratio(median: Decimal, before: Decimal) -> String {
    let exact = (0..=9).map(|places| decimal::divide(median, before, places));
    let mut ratios = exact.filter_map(Result::ok).filter(|ratio| !ratio.is_zero());
    let Some(first) = ratios.next() else { return if before.is_zero() { "∞" } else { "0" }.to_owned() };
    let rounded = decimal::divide(median, before, first.scale() + 2).unwrap_or(first);
    rounded.normalize().to_string()
}

fn is_hardly_filled_now(now: &FieldProfile, earlier: &FieldProfile) -> bool {
    let share = |field: &FieldProfile| (field.filled * 100).checked_div(field.of);
    now.of >= MIN_VALUES
        && earlier.of >= MIN_VALUES
        && share(earlier).is_some_and(|share| share >= USUALLY_FILLED)
        && share(now).is_some_and(|share| share < HARDLY_FILLED)
}

fn currency_change(now: &Profile, earlier: &Profile, earlier_run: &str) -> Option<Problem> {
    if earlier.currencies.is_empty() {
        return None;
    }
    let new: Vec<&str> =
        now.currencies.keys().filter(|code| !earlier.currencies.contains_key(*code)).map(String::as_str).collect();
    let known: Vec<&str> = earlier.currencies.keys().map(String::as_str).collect();
    (!new.is_empty()).then(|| Problem {
        field: "currency".to_owned(),
        remedy: "check the currency of the file".to_owned(),
        ..Problem::of_record(
            Code::CurrencyChanged,
            format!("is {}, and was {} in {earlier_run}", new.join(", "), known.join(", ")),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::Distinct;
    use super::*;

    fn field(filled: u64, median: &str) -> FieldProfile {
        let text = str::to_owned;
        let range = Some(Range { lowest: text("-1"), median: text(median), highest: text("9999") });
        let (field, samples) = (text("price"), Vec::new());
        FieldProfile { field, filled, of: 100, distinct: Distinct::Exactly(filled), range, samples }
    }

    fn profile(filled: u64, median: &str, currency: &str) -> Profile {
        let currencies = BTreeMap::from([(currency.to_owned(), filled)]);
        Profile { records: 100, fields: vec![field(filled, median)], currencies }
    }

    #[test]
    fn medians_that_change_by_a_large_factor_are_reported() {
        for (before, now, ratio) in [
            ("12.50", "12500", Some("1000")),
            ("1299", "1.299", Some("0.001")),
            ("10", "30", Some("3")),
            ("10", "29.99", None),
            ("10", "3.34", None),
            ("10", "3.33", Some("0.333")),
            ("10", "-10", Some("-1")),
            ("0", "0.00", None),
            ("0", "5", Some("∞")),
            ("5", "0", Some("0")),
        ] {
            let found = changes(&profile(100, now, "EUR"), &profile(100, before, "EUR"), "run 3 of 2026-11-01");
            let expected =
                ratio.map(|ratio| format!("has the median {now}, and had {before} in run 3 of 2026-11-01 (× {ratio})"));
            assert_eq!(found.first().map(|problem| problem.message.clone()), expected, "{before} {now}");
            assert!(found.len() <= 1);
        }
        assert!(changes(&profile(4, "1000", "EUR"), &profile(4, "1", "EUR"), "run 1").is_empty(), "few values");
    }

    #[test]
    fn fields_that_are_no_longer_filled_and_other_currencies_are_reported() {
        let messages = |now: &Profile| {
            changes(now, &profile(95, "10", "EUR"), "run 3")
                .into_iter()
                .map(|problem| problem.message)
                .collect::<Vec<_>>()
        };
        assert_eq!(messages(&profile(50, "10", "EUR")), [""; 0]);
        assert_eq!(
            messages(&profile(49, "10", "EUR")),
            ["is filled in 49 of 100 records, and was in 95 of 100 in run 3"]
        );
        assert_eq!(messages(&profile(95, "10", "USD")), ["is USD, and was EUR in run 3"]);
    }
}

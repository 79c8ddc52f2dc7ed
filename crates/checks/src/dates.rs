//! Dates that are probably mistyped: nothing was ordered or moved in the year 2062, or before these programs were used.

use jiff::civil;
use sheetport_findings::Code;

use super::finding::Finding;

/// Earlier dates are two-digit years in the wrong century, or blank cells of a program that counts from 1900.
const EARLIEST_YEAR: i16 = 1990;

/// Judges the date of a record of the past, as ISO 8601. A date in the next year may be planned.
pub fn implausible_date(iso: &str, value: &str, today: civil::Date, place: (usize, &'static str)) -> Option<Finding> {
    let year: i16 = iso.trim_matches('"').get(..4)?.parse().ok()?;
    if (EARLIEST_YEAR..=today.year() + 1).contains(&year) {
        return None;
    }
    let (column, field) = place;
    Some(Finding {
        code: Code::ImplausibleDate,
        column,
        field,
        value: value.to_owned(),
        message: format!("is in the year {year}"),
        remedy: "correct the date; if it is right, set damaged = \"accept\" for the field in the template".to_owned(),
        is_warning: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_far_from_today_are_implausible() {
        let is_implausible = |iso: &str| implausible_date(iso, iso, civil::date(2026, 5, 1), (0, "orderAt")).is_some();
        for iso in ["\"2062-01-08\"", "1926-01-10", "2028-01-01", "\"1899-12-31T00:00:00Z\""] {
            assert!(is_implausible(iso), "{iso}");
        }
        for iso in ["\"2026-01-08\"", "1990-01-01", "2027-12-31T22:00:00Z", "null", ""] {
            assert!(!is_implausible(iso), "{iso}");
        }
    }
}

//! Names of records, compared as people read them.

use std::hash::{BuildHasher, RandomState};

use icu_normalizer::ComposingNormalizerBorrowed;
use sheetport_files::visible::look_alike;
use sheetport_mapping::Cause;

/// The name of a record, prepared for comparison on any thread.
#[derive(Debug)]
pub(crate) struct Name {
    pub(crate) hash: u64,
    /// Hash of the name without differences that people overlook.
    pub(crate) folded: u64,
    /// Suspicious features of the name.
    pub(crate) causes: Vec<Cause>,
}

/// Characters that look like a hyphen, after normalization.
const DASHES: &[char] = &['\u{2010}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}'];

impl Name {
    /// Hashes have the secret of `hasher`.
    pub(crate) fn new(name: &str, hasher: &RandomState) -> Name {
        let mut causes = Vec::new();
        if name.strip_prefix('\'').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            causes.push(Cause::Apostrophe);
        }
        if is_iso_date(name) {
            causes.push(Cause::LooksLikeADate);
        }
        Name { hash: hasher.hash_one(name), folded: hasher.hash_one(folded(name)), causes }
    }
}

/// Removes differences that people overlook: case, white space, width, leading zeros, kinds of dashes, and letters of other scripts that look like
/// Latin letters.
fn folded(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    let plain = match name.is_ascii() {
        true => name.into(),
        false => ComposingNormalizerBorrowed::new_nfkc().normalize(name),
    };
    let mut is_in_number = false;
    let mut zeros = 0;
    for c in plain.chars().filter(|c| !c.is_whitespace()) {
        if c == '0' && !is_in_number {
            zeros += 1;
            continue;
        }
        // Keeps zeros without a digit after them, and zeros after a decimal separator.
        if zeros > 0 && (!c.is_ascii_digit() || folded.ends_with(['.', ','])) {
            folded.extend(std::iter::repeat_n('0', zeros));
        }
        zeros = 0;
        is_in_number = c.is_ascii_digit();
        if c.is_ascii() {
            folded.push(c.to_ascii_uppercase());
        } else if DASHES.contains(&c) {
            folded.push('-');
        } else {
            folded.extend(look_alike(c).unwrap_or(c).to_uppercase());
        }
    }
    folded.extend(std::iter::repeat_n('0', zeros));
    folded
}

/// Whether a name has the form of a date such as 2026-03-02. Spreadsheet programs turn `2-3` into such dates.
fn is_iso_date(name: &str) -> bool {
    let number = |part: &str, last: u8| part.len() == 2 && part.parse::<u8>().is_ok_and(|it| (1..=last).contains(&it));
    let mut parts = name.split('-');
    let year = parts.next().is_some_and(|year| year.len() == 4 && (year.starts_with("19") || year.starts_with("20")));
    year && name.bytes().all(|b| b.is_ascii_digit() || b == b'-')
        && parts.next().is_some_and(|month| number(month, 12))
        && parts.next().is_some_and(|day| number(day, 31))
        && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_that_people_overlook_do_not_count() {
        for (left, right) in [
            ("0042", "42"),
            ("AB-1", "ab-1"),
            ("SO-7", "SO-7 "),
            ("SO-007", "SO-7"),
            ("A 1", "A1"),
            ("AB-1", "AB–1"),
            ("AB\u{2011}1", "AB−1"),
            ("４２", "42"),
            ("А-100", "A-100"),
            ("größe", "GRÖSSE"),
        ] {
            assert_eq!(folded(left), folded(right), "{left}, {right}");
        }
        for (left, right) in [("42", "420"), ("A-1", "A-11"), ("1.01", "1.1"), ("A0", "A"), ("0", "00x")] {
            assert_ne!(folded(left), folded(right), "{left}, {right}");
        }
    }

    #[test]
    fn dates_and_apostrophes_are_suspicious() {
        let found = |name| Name::new(name, &RandomState::new()).causes;
        assert!(matches!(found("2026-03-02")[..], [Cause::LooksLikeADate]));
        assert!(matches!(found("'0042")[..], [Cause::Apostrophe]));
        for name in ["2026-0007", "2026-13-01", "11-03-02", "2026-03-02-1", "A-1"] {
            assert!(found(name).is_empty(), "{name}");
        }
    }
}

//! Rows that contradict the rows above: names that are probably those of other records, and further rows of the record
//! above.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};

use icu_normalizer::ComposingNormalizerBorrowed;

use super::row::{MappedRow, ledger_problem};
use super::source::Source;
use crate::template::model::{Place, Source as FieldSource};
use crate::template::{Cause, Mapper, Template};

/// Cyrillic and Greek letters, each with the Latin letter that looks the same.
const LOOK_ALIKES: &str = "АAВBЕEКKМMНHОOРPСCТTУYХXІIЈJЅSԌGӀIΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXаAеEоOрPсCуYхXіIјJѕSοO";

/// The names and lines of the records so far, as 64-bit hashes with a secret of this process.
#[derive(Debug, Default)]
pub(super) struct Suspects {
    hasher: RandomState,
    /// By what is left of a name without differences that people overlook: its hash and its row.
    names: HashMap<u64, (u64, u64)>,
    /// The name of the last group.
    group: String,
    /// Which fields the row above has, if each row is a record.
    above: Vec<bool>,
    /// A buffer.
    folded: String,
}

impl Suspects {
    /// Adds the next row, and what is suspicious about it to its problems and warnings.
    pub(super) fn add(&mut self, template: &Template, mapper: &Mapper<'_>, source: &Source, row: &mut MappedRow) {
        // The cells of a row with a problem of its own may be wrong.
        if row.draft.is_skipped || row.draft.parts.is_no_record || !row.problems.is_empty() {
            return;
        }
        let number = row.number;
        let mut warnings = Vec::new();
        match &template.group {
            Some(_) => {
                let name = row.draft.group.as_str();
                if !name.is_empty() && name != self.group {
                    name.clone_into(&mut self.group);
                    let found = self.add_name(number, name);
                    warnings.extend(found.into_iter().map(|cause| mapper.group_problem(number, name, cause)));
                }
            }
            None => {
                if !row.key.is_empty() {
                    let found = self.add_name(number, &row.key);
                    warnings.extend(found.into_iter().map(|cause| mapper.same_key(number, &row.key, cause)));
                }
                // Lists of the service have records without a name.
                if !mapper.reads_an_export()
                    && let Some(rule) = self.continues_above(template, row)
                {
                    let problem = mapper.same_value(number, rule, "", Cause::Continues);
                    row.problems.push(ledger_problem(problem, source));
                }
            }
        }
        row.warnings.extend(warnings.into_iter().map(|warning| ledger_problem(warning, source)));
    }

    /// Returns the rule of the name, if the row lacks the name and another text that the row above has. Programs write
    /// texts of a product on the first row of its variants only.
    fn continues_above(&mut self, template: &Template, row: &MappedRow) -> Option<usize> {
        let has: Vec<bool> = (0..template.fields.len()).map(|rule| row.draft.parts.has_value(rule)).collect();
        let above = std::mem::replace(&mut self.above, has);
        let has = &self.above;
        let lost = |rule: usize| above.get(rule) == Some(&true) && !has[rule];
        let is_name = |rule: &usize| {
            let rule = &template.fields[*rule];
            rule.field.name == "name" && rule.place == Place::Record && matches!(rule.source, FieldSource::Column(_))
        };
        let name = (0..template.fields.len()).find(is_name).filter(|name| lost(*name))?;
        let others = (0..template.fields.len()).filter(|rule| *rule != name && lost(*rule)).count();
        if others > 0 {
            // Further rows continue the same record.
            self.above = above;
            return Some(name);
        }
        None
    }

    /// Adds the name of a record and returns what is suspicious about it.
    fn add_name(&mut self, row: u64, name: &str) -> Vec<Cause> {
        let mut found = Vec::new();
        if name.strip_prefix('\'').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            found.push(Cause::Apostrophe);
        }
        if is_iso_date(name) {
            found.push(Cause::LooksLikeADate);
        }
        fold(name, &mut self.folded);
        let hash = self.hasher.hash_one(name);
        match self.names.entry(self.hasher.hash_one(&self.folded)) {
            Entry::Vacant(entry) => {
                entry.insert((hash, row));
            }
            Entry::Occupied(entry) => {
                let (other, other_row) = *entry.get();
                // The same name is another problem, or the same record.
                if other != hash {
                    found.push(Cause::NearlyTheSame { other_row });
                }
            }
        }
        found
    }
}

/// Removes the differences that people overlook: case, white space, width, zeros in front of digits, and letters of other
/// scripts that look like Latin ones.
fn fold(name: &str, folded: &mut String) {
    folded.clear();
    let normalized = ComposingNormalizerBorrowed::new_nfkc();
    let plain = if name.is_ascii() { name.into() } else { normalized.normalize(name) };
    let mut is_in_number = false;
    let mut zeros = 0;
    for c in plain.chars().filter(|c| !c.is_whitespace()) {
        if c == '0' && !is_in_number {
            zeros += 1;
            continue;
        }
        // Zeros without a digit behind them, and those behind a decimal separator, count.
        if zeros > 0 && (!c.is_ascii_digit() || folded.ends_with(['.', ','])) {
            folded.extend(std::iter::repeat_n('0', zeros));
        }
        zeros = 0;
        is_in_number = c.is_ascii_digit();
        if c.is_ascii() {
            folded.push(c.to_ascii_uppercase());
        } else {
            folded.extend(look_alike(c).unwrap_or(c).to_uppercase());
        }
    }
    folded.extend(std::iter::repeat_n('0', zeros));
}

fn look_alike(c: char) -> Option<char> {
    let mut pairs = LOOK_ALIKES.chars().step_by(2).zip(LOOK_ALIKES.chars().skip(1).step_by(2));
    pairs.find(|(other, _)| *other == c).map(|(_, latin)| latin)
}

/// Whether a name has the form of a date such as 2026-03-02, to which spreadsheet programs turn `2-3`.
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

    fn nearly_the_same(left: &str, right: &str) -> bool {
        let mut suspects = Suspects::default();
        suspects.add_name(2, left);
        matches!(suspects.add_name(3, right)[..], [.., Cause::NearlyTheSame { other_row: 2 }])
    }

    #[test]
    fn differences_that_people_overlook_do_not_count() {
        for (left, right) in [
            ("0042", "42"),
            ("AB-1", "ab-1"),
            ("SO-7", "SO-7 "),
            ("SO-007", "SO-7"),
            ("A 1", "A1"),
            ("４２", "42"),
            ("А-100", "A-100"),
            ("größe", "GRÖSSE"),
        ] {
            assert!(nearly_the_same(left, right), "{left}, {right}");
        }
        for (left, right) in [("42", "420"), ("A-1", "A-11"), ("1.01", "1.1"), ("A0", "A"), ("42", "42"), ("0", "00x")]
        {
            assert!(!nearly_the_same(left, right), "{left}, {right}");
        }
    }

    #[test]
    fn dates_and_apostrophes_are_suspicious() {
        let found = |name| Suspects::default().add_name(2, name);
        assert!(matches!(found("2026-03-02")[..], [Cause::LooksLikeADate]));
        assert!(matches!(found("'0042")[..], [Cause::Apostrophe]));
        for name in ["2026-0007", "2026-13-01", "11-03-02", "2026-03-02-1", "A-1"] {
            assert!(found(name).is_empty(), "{name}");
        }
    }
}

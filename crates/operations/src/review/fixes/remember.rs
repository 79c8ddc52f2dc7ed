//! Adds a fix of many rows to the template, so that the next file needs no fix.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use sheetport_ledger::{Disposition, Problem, RecordState, Seq};
use sheetport_plan::plan::{Batch, ReadMode, read};

use super::super::problems::open_as_upload;
use super::super::template::{ColumnKey, Mapping, TemplateEdit};
use super::fix::{Fix, MadeFix};
use crate::context::Context;
use crate::files::Spreadsheet;
use crate::operation::Operation;

/// Maximum length of identifiers whose leading zeros a template restores: each length needs a step.
const MAX_LENGTH: usize = 20;
/// Matches a text with exactly one number, not directly preceded or followed by a letter or digit.
const ONLY_NUMBER: &str =
    r"^(?:[^0-9]*[^0-9\p{L}\p{N}+-])?([-+]?[0-9](?:[0-9.,'’ \x{a0}]*[0-9])?)(?:[^\p{L}\p{N}][^0-9]*)?$";
/// Invisible characters, the same as in `visible`.
const INVISIBLE: &str =
    r"[\x{ad}\x{61c}\x{180e}\x{200b}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2060}-\x{206f}\x{feff}\x{fff9}-\x{fffb}]+";
/// White space and control characters.
const SPACES: &str = r"[\s\p{Cc}]+";

/// Why a fix is not put into the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRemembered {
    /// The template language has no rule for this fix.
    NoSuchRule,
    /// A rule would also change other rows of the file, or not all rows of the fix.
    OtherRows,
    /// The file sends the same records without the fix, so no rule can be verified. For example, the rows may need a further fix.
    NoEffect,
}

impl MadeFix {
    /// Returns possible changes of the template for the fix, the preferred first. Use the first change that sends the same
    /// records.
    pub fn candidates(&self, mapping: &Mapping) -> Vec<Vec<TemplateEdit>> {
        let Some(column) = self.column else { return Vec::new() };
        let of_column = mapping.fields.iter().filter(|field| field.columns.contains(&column));
        let fields: Vec<&str> = of_column.map(|field| field.path.as_str()).collect();
        let replace = |pattern: String, with: &str| -> Vec<TemplateEdit> {
            fields.iter().map(|field| TemplateEdit::replace(field, &pattern, with)).collect()
        };
        let trim = || fields.iter().map(|field| TemplateEdit::Trim { field: (*field).to_owned() });
        let known = || !self.texts.is_empty();
        match &self.fix {
            Fix::Set(to) if known() => vec![self.texts.iter().flat_map(|text| set(&fields, text, to)).collect()],
            Fix::ReplacePart { find, with } => {
                let (find, with) = (regex::escape(find), with.replace('$', "$$"));
                // The narrowest pattern changes the least in other files, so it comes first.
                let patterns = [format!("{find}$"), format!("^{find}"), find];
                patterns.into_iter().map(|pattern| replace(pattern, &with)).collect()
            }
            Fix::Tidy => {
                let steps = [(INVISIBLE, ""), (SPACES, " "), ("^ | $", "")];
                let all = steps.into_iter().flat_map(|(pattern, with)| replace(pattern.to_owned(), with));
                vec![trim().collect(), trim().chain(all).collect()]
            }
            Fix::NumberOnly => vec![replace(ONLY_NUMBER.to_owned(), "$1")],
            Fix::FillFromAbove => vec![vec![TemplateEdit::FillDown(mapping.column_key(column))]],
            Fix::PadZeros(length) if (2..=MAX_LENGTH).contains(length) => {
                let of_length = |short: usize| {
                    replace(format!(r"^\s*([0-9]{{{short}}})\s*$"), &format!("{}${{1}}", "0".repeat(length - short)))
                };
                vec![(1..*length).flat_map(of_length).collect()]
            }
            Fix::LeaveOut if known() && self.is_of_cell => {
                let key = mapping.column_key(column);
                vec![vec![TemplateEdit::SkipWhere { column: key, texts: self.texts.clone() }]]
            }
            Fix::KeepFirst => vec![vec![TemplateEdit::Duplicates("first")]],
            Fix::KeepLast => vec![vec![TemplateEdit::Duplicates("last")]],
            Fix::Set(_) | Fix::PadZeros(_) | Fix::LeaveOut => Vec::new(),
        }
    }

    /// Whether the fix has left rows out, and changed no cells.
    pub fn leaves_rows_out(&self) -> bool {
        matches!(self.fix, Fix::LeaveOut | Fix::KeepFirst | Fix::KeepLast)
    }

    /// Whether the edits of the fix and the changed template together would change cells twice, such as `DE` to `DE-`.
    pub fn applies_twice(&self) -> bool {
        matches!(&self.fix, Fix::ReplacePart { find, with } if with.contains(find.as_str()))
    }
}

/// Returns the changes that replace a text with another in cells.
fn set(fields: &[&str], text: &str, to: &str) -> Vec<TemplateEdit> {
    let change = |field: &&str| match text.trim() {
        "" => TemplateEdit::Default { field: (*field).to_owned(), value: to.to_owned() },
        text => TemplateEdit::replace(field, &format!(r"^\s*{}\s*$", regex::escape(text)), &to.replace('$', "$$")),
    };
    fields.iter().map(change).collect()
}

impl Mapping {
    /// Returns the column in the notation of templates.
    pub fn column_key(&self, column: usize) -> ColumnKey {
        let name = self.columns.get(column).map(|column| column.header.as_str()).unwrap_or_default();
        let is_clear = self.columns.iter().filter(|other| other.header == name).count() == 1;
        match is_clear && !name.is_empty() {
            true => ColumnKey::Name(name.to_owned()),
            false => ColumnKey::Number(column as u64 + 1),
        }
    }
}

/// The records of a spreadsheet by row, as hashes, to compare two versions of a file. Includes records with problems.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sendable(Vec<(u64, u64)>);

/// Reads the records of a spreadsheet.
///
/// # Errors
/// If the file can't be read with the template.
pub fn sendable<'a>(context: &'a Context, input: Spreadsheet<'a>) -> Operation<'a, Sendable> {
    Box::pin(async move {
        let (source, template) = open_as_upload(context, input, &|_| {}).await?;
        let mut records = Records::default();
        read(&source, &template, ReadMode::Records, |batch| {
            records.add(batch);
            true
        })?;
        let mut all: Vec<(u64, u64)> = records.by_number.into_values().collect();
        all.sort_unstable();
        Ok(Sendable(all))
    })
}

#[derive(Default)]
struct Records {
    next: Seq,
    by_number: BTreeMap<Seq, (u64, u64)>,
}

impl Records {
    fn add(&mut self, batch: Batch) {
        if batch.restarts {
            *self = Records::default();
        }
        for record in batch.records {
            let hash = match &record.disposition {
                Disposition::Send(body) => Some(hash_of((Some(body), &record.key))),
                Disposition::Rejected(problems) => Some(hash_of_problems(problems)),
                // The reason for not sending makes no difference.
                Disposition::Skipped(_) | Disposition::AcceptedEarlier(_) => None,
            };
            if let Some(hash) = hash {
                self.by_number.insert(self.next, (record.rows.first().copied().unwrap_or_default(), hash));
            }
            self.next += 1;
        }
        for withdrawal in batch.withdrawn {
            match withdrawal.state {
                RecordState::Rejected => {
                    let hash = hash_of_problems(std::slice::from_ref(&withdrawal.problem));
                    self.by_number.insert(withdrawal.seq, (withdrawal.row, hash));
                }
                _ => drop(self.by_number.remove(&withdrawal.seq)),
            }
        }
    }
}

/// Hashes problems by code and place only: the message may name the step of the template that made the value.
fn hash_of_problems(problems: &[Problem]) -> u64 {
    let mut places: Vec<_> = problems.iter().map(|problem| (&problem.code, problem.column, &problem.field)).collect();
    places.sort_unstable();
    hash_of(places)
}

fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    #[test]
    fn the_pattern_takes_the_number_that_the_fix_takes() {
        let pattern = Regex::new(ONLY_NUMBER).expect("a valid pattern");
        for (text, expected) in [
            ("EUR 1.234,50 / pc", "1.234,50"),
            ("2.50 per piece", "2.50"),
            ("-7", "-7"),
            ("ca. -7 €", "-7"),
            ("on request", "on request"),
            ("12.5O", "12.5O"),
            ("x-7", "x-7"),
            ("10 – 20", "10 – 20"),
        ] {
            assert_eq!(pattern.replace_all(text, "$1"), expected, "{text}");
        }
    }
}

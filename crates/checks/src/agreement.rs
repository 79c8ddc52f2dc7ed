//! Columns that agree: an item with its description, a stock with its name. Where one value always stands beside the same other one, a row in
//! which it does not has one of the two from another row.

use std::collections::hash_map::Entry;

use sheetport_findings::Code;
use sheetport_sheet::Row;
use sheetport_values::normalize::trimmed;
use twox_hash::XxHash3_64;

use super::finding::Finding;
use super::hashed::ByHash;
use super::roles::Roles;

/// Most columns of texts that are compared with an identifier, and most identifiers: a sheet has one description, and perhaps a category.
const MAX_TEXTS: usize = 4;
const MAX_IDENTIFIERS: usize = 2;
/// Most different values of a column. One with more hardly repeats them.
const MAX_VALUES: usize = 2048;
/// Fewest rows that confirm an earlier one, by which a single row is wrong. By chance, texts do not repeat so often without a mistake.
const FEWEST: u64 = 20;
/// Fewest different values of both columns. A column of one value agrees with everything.
const FEWEST_VALUES: usize = 4;

/// Counts of the values that stand beside each other.
#[derive(Clone, Debug)]
pub(super) struct AgreementCounts {
    identifiers: Vec<(usize, &'static str)>,
    /// Columns with texts, in the order in which they were seen.
    texts: Vec<usize>,
    pairs: Vec<Pair>,
}

/// The values of a column, each with those that stand beside it in another column.
#[derive(Clone, Debug)]
struct Pair {
    from: usize,
    to: usize,
    beside: ByHash<Beside>,
    is_full: bool,
}

/// What stands beside a value: the first two different values, and the number of rows with each.
#[derive(Clone, Copy, Debug, Default)]
struct Beside {
    values: [(u64, u64); 2],
    /// Rows with further values.
    more: u64,
}

/// Two columns that agree, but for a few rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Agreement {
    from: usize,
    to: usize,
    /// The identifier of the two, and its field.
    column: usize,
    field: &'static str,
    /// Values that stand beside each other in a few rows only.
    odd: Vec<(u64, u64)>,
    /// The column of the texts, and its name.
    text: usize,
    name: String,
}

impl AgreementCounts {
    pub(super) fn new(roles: &Roles) -> AgreementCounts {
        let identifiers = roles.formed.iter().filter(|formed| !formed.is_of_row && roles.status.is_none());
        let identifiers = identifiers.map(|formed| (formed.column, formed.field)).take(MAX_IDENTIFIERS).collect();
        AgreementCounts { identifiers, texts: Vec::new(), pairs: Vec::new() }
    }

    pub(super) fn row(&mut self, roles: &Roles, row: &Row) {
        if self.identifiers.is_empty() {
            return;
        }
        if self.texts.len() < MAX_TEXTS {
            let columns = roles.unmapped.iter().chain(roles.words.iter().map(|(column, _)| column));
            let new = columns.filter(|column| !self.texts.contains(column) && is_text(row, **column)).copied();
            let new: Vec<usize> = new.take(MAX_TEXTS - self.texts.len()).collect();
            self.texts.extend(new);
        }
        let mut texts = [None; MAX_TEXTS];
        for (text, hashed) in self.texts.iter().zip(&mut texts) {
            *hashed = hash(row, *text);
        }
        for (identifier, _) in &self.identifiers {
            let Some(value) = hash(row, *identifier) else { continue };
            for (text, other) in self.texts.iter().zip(texts) {
                let Some(other) = other else { continue };
                Pair::of(&mut self.pairs, *identifier, *text).add(value, other);
                Pair::of(&mut self.pairs, *text, *identifier).add(other, value);
            }
        }
    }

    pub(super) fn agreements(&self, roles: &Roles) -> Vec<Agreement> {
        let mut found = Vec::new();
        for (identifier, field) in &self.identifiers {
            for text in &self.texts {
                for (from, to) in [(*identifier, *text), (*text, *identifier)] {
                    let odd = self
                        .pairs
                        .iter()
                        .find(|pair| (pair.from, pair.to) == (from, to))
                        .map_or_else(Vec::new, Pair::odd);
                    if !odd.is_empty() {
                        let (column, name) = (*identifier, roles.name_of(*text).to_owned());
                        found.push(Agreement { from, to, column, field, odd, text: *text, name });
                    }
                }
            }
        }
        found
    }
}

impl Pair {
    /// Returns the pair of two columns.
    fn of(pairs: &mut Vec<Pair>, from: usize, to: usize) -> &mut Pair {
        let known = pairs.iter().position(|pair| (pair.from, pair.to) == (from, to));
        let place = known.unwrap_or_else(|| {
            pairs.push(Pair { from, to, beside: ByHash::default(), is_full: false });
            pairs.len() - 1
        });
        &mut pairs[place]
    }

    fn add(&mut self, value: u64, other: u64) {
        let is_full = self.beside.len() >= MAX_VALUES;
        let beside = match self.beside.entry(value) {
            Entry::Vacant(_) if is_full => {
                self.is_full = true;
                return;
            }
            entry => entry.or_default(),
        };
        let known = beside.values.iter_mut().find(|(known, rows)| *rows == 0 || *known == other);
        match known {
            Some((known, rows)) => (*known, *rows) = (other, *rows + 1),
            None => beside.more += 1,
        }
    }

    /// Returns the pairs of values that a few rows have, if all others agree.
    fn odd(&self) -> Vec<(u64, u64)> {
        let mut odd = Vec::new();
        let (mut confirmed, mut others) = (0, 0);
        for (value, beside) in &self.beside {
            let mut values = beside.values;
            values.sort_unstable_by_key(|(_, rows)| std::cmp::Reverse(*rows));
            let [(_, most), (other, few)] = values;
            confirmed += most.saturating_sub(1);
            others += few + beside.more;
            // Of two rows, either may be the wrong one.
            if few > 0 && most > 2 * few {
                odd.push((*value, other));
            }
        }
        let few = (confirmed / 100).max(1);
        let mut different: Vec<u64> = self.beside.values().map(|beside| beside.values[0].0).collect();
        different.sort_unstable();
        different.dedup();
        let are_many = self.beside.len() >= FEWEST_VALUES && different.len() >= FEWEST_VALUES;
        let is_sound = !self.is_full && confirmed >= FEWEST && others <= few && are_many;
        odd.sort_unstable();
        if is_sound && odd.len() as u64 == others { odd } else { Vec::new() }
    }
}

impl Agreement {
    pub(super) fn judge(&self, row: &Row) -> Option<Finding> {
        let pair = (hash(row, self.from)?, hash(row, self.to)?);
        if !self.odd.contains(&pair) {
            return None;
        }
        let text = row.get(self.text).shown();
        Some(Finding {
            code: Code::UnlikeOthers,
            column: self.column,
            field: self.field,
            value: row.get(self.column).shown().trim().to_owned(),
            message: format!("stands beside '{}' under {} in this row alone", shortened(text.trim()), self.name),
            remedy: "correct the cell that is wrong; if both are right, send the row with --accept unlike-others"
                .to_owned(),
            is_warning: false,
        })
    }
}

fn shortened(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(end, _)| &text[..end])
}

fn is_text(row: &Row, column: usize) -> bool {
    row.get(column).shown().chars().filter(|c| c.is_alphabetic()).count() >= 3
}

fn hash(row: &Row, column: usize) -> Option<u64> {
    let cell = row.get(column);
    let text = cell.shown();
    let text = trimmed(&text);
    (!text.is_empty()).then(|| XxHash3_64::oneshot(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use sheetport_sheet::Cell;

    use super::*;
    use crate::features::Kind;
    use crate::roles::Formed;

    #[test]
    fn a_pair_that_all_other_rows_contradict_is_odd() {
        let formed = Formed { column: 0, field: "itemExternalId", kind: Kind::Identifier, is_of_row: false };
        let names = vec!["Item".to_owned(), "Description".to_owned()];
        let roles = Roles { formed: vec![formed], unmapped: vec![1], names, ..Roles::default() };
        let found = |changed: &[(usize, [&str; 2])]| {
            let described = ["Bolt", "Nut", "Washer", "Screw", "Anchor"];
            let mut texts: Vec<[String; 2]> =
                (0..40).map(|line| [format!("A-{}", line % 5), described[line % 5].to_owned()]).collect();
            for (at, [item, text]) in changed {
                texts[*at] = [(*item).to_owned(), (*text).to_owned()];
            }
            let row = |texts: &[String; 2]| {
                let mut row = Row::default();
                texts.iter().for_each(|text| row.push(Cell::Text(text)));
                row
            };
            let mut counts = AgreementCounts::new(&roles);
            texts.iter().for_each(|texts| counts.row(&roles, &row(texts)));
            let found = counts.agreements(&roles);
            let odd = texts.iter().filter(|texts| found.iter().any(|found| found.judge(&row(texts)).is_some()));
            odd.map(|[item, text]| format!("{item} {text}")).collect::<Vec<_>>()
        };
        assert!(found(&[]).is_empty());
        assert_eq!(found(&[(7, ["A-3", "Washer"])]), ["A-3 Washer"]);
        assert_eq!(found(&[(7, ["A-77", "Washer"])]), ["A-77 Washer"]);
        assert_eq!(found(&[(7, ["A-2", "Washer red"])]), ["A-2 Washer red"]);
        assert!(found(&[(7, ["A-2", ""])]).is_empty());
        // Texts that differ now and then say nothing.
        assert!(found(&[(7, ["A-2", "Washer red"]), (13, ["A-3", "Screw long"])]).is_empty());
    }
}

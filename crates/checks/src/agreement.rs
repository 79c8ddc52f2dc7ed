//! Columns that agree: an item with its description, a stock with its name. Where one value always stands beside the same other one, a row in
//! which it does not has one of the two from another row.

use sheetport_sheet::Row;
use sheetport_values::normalize::trimmed;
use twox_hash::XxHash3_64;

use super::finding::Finding;
use super::roles::Roles;
use super::sample::{Column, Sample};

/// Most columns of texts that are compared with an identifier, and most identifiers: a sheet has one description, and perhaps a category.
const MAX_TEXTS: usize = 4;
const MAX_IDENTIFIERS: usize = 2;
/// Fewest rows that confirm an earlier one, by which a single row is wrong. By chance, texts do not repeat so often without a mistake.
const FEWEST: usize = 20;
/// Fewest different values of both columns. A column of one value agrees with everything.
const FEWEST_VALUES: usize = 4;

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

pub(super) fn agreements(roles: &Roles, sample: &Sample) -> Vec<Agreement> {
    let identifiers = roles.formed.iter().filter(|formed| !formed.is_of_row).take(MAX_IDENTIFIERS);
    let is_text = |column: &&Column| {
        let is_judged =
            roles.unmapped.contains(&column.index) || roles.words.iter().any(|(word, _)| *word == column.index);
        is_judged && column.has_words
    };
    let texts: Vec<&Column> = sample.columns.iter().filter(is_text).take(MAX_TEXTS).collect();
    let mut found = Vec::new();
    for (field, identifier) in identifiers.filter_map(|it| Some((it.field, sample.column(it.column)?))) {
        for text in &texts {
            for (from, to) in [(identifier, *text), (*text, identifier)] {
                let (column, name) = (identifier.index, roles.name_of(text.index).to_owned());
                let (odd, text) = (odd(&from.hashes, &to.hashes), text.index);
                found.push(Agreement { from: from.index, to: to.index, column, field, odd, text, name });
            }
        }
    }
    found.retain(|agreement| !agreement.odd.is_empty());
    found
}

/// Returns the pairs of values that a few rows have, if all others agree.
fn odd(from: &[u64], to: &[u64]) -> Vec<(u64, u64)> {
    let both = |(from, to): &(u64, u64)| *from != 0 && *to != 0;
    let mut pairs: Vec<(u64, u64)> = from.iter().copied().zip(to.iter().copied()).filter(both).collect();
    pairs.sort_unstable();
    let (mut odd, mut different) = (Vec::new(), Vec::new());
    let (mut confirmed, mut others) = (0, 0);
    for of_value in pairs.chunk_by(|one, other| one.0 == other.0) {
        let mut beside: Vec<&[(u64, u64)]> = of_value.chunk_by(|one, other| one == other).collect();
        beside.sort_by_key(|rows| std::cmp::Reverse(rows.len()));
        let (Some(most), few) = (beside.first(), beside.get(1).map_or(0, |rows| rows.len())) else { continue };
        (confirmed, others) = (confirmed + most.len() - 1, others + of_value.len() - most.len());
        different.push(most[0].1);
        // Of two rows, either may be the wrong one.
        if few > 0 && most.len() > 2 * few {
            odd.push(beside[1][0]);
        }
    }
    let values = different.len();
    different.sort_unstable();
    different.dedup();
    let are_many = values >= FEWEST_VALUES && different.len() >= FEWEST_VALUES;
    let is_sound = confirmed >= FEWEST && others <= (confirmed / 100).max(1) && are_many;
    if is_sound && odd.len() == others { odd } else { Vec::new() }
}

impl Agreement {
    pub(super) fn judge(&self, row: &Row) -> Option<Finding> {
        let pair = (hash(row, self.from)?, hash(row, self.to)?);
        if !self.odd.contains(&pair) {
            return None;
        }
        let text = row.get(self.text).shown();
        Some(Finding::unlike_others(
            (self.column, self.field),
            row.get(self.column).shown().trim().to_owned(),
            format!("stands beside '{}' under {} in this row alone", shortened(text.trim()), self.name),
        ))
    }
}

fn shortened(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(end, _)| &text[..end])
}

fn hash(row: &Row, column: usize) -> Option<u64> {
    let cell = row.get(column);
    let text = cell.shown();
    let text = trimmed(&text);
    (!text.is_empty()).then(|| XxHash3_64::oneshot(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Kind;
    use crate::roles::Formed;
    use crate::testing::row;

    #[test]
    fn a_pair_that_all_other_rows_contradict_is_odd() {
        let formed = Formed { column: 0, field: "itemExternalId", kind: Kind::Identifier, is_of_row: false };
        let names = vec!["Item".to_owned(), "Description".to_owned()];
        let roles = Roles {
            formed: vec![formed],
            mapped: vec![(0, "itemExternalId")],
            unmapped: vec![1],
            names,
            ..Roles::default()
        };
        let found = |changed: &[(usize, [&str; 2])]| {
            let described = ["Bolt", "Nut", "Washer", "Screw", "Anchor"];
            let mut texts: Vec<[String; 2]> =
                (0..40).map(|line| [format!("A-{}", line % 5), described[line % 5].to_owned()]).collect();
            for (at, [item, text]) in changed {
                texts[*at] = [(*item).to_owned(), (*text).to_owned()];
            }
            let row = |texts: &[String; 2]| row(2, texts);
            let mut sample = Sample::new(&roles);
            texts.iter().for_each(|texts| sample.row(&roles, &row(texts)));
            let found = agreements(&roles, &sample);
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

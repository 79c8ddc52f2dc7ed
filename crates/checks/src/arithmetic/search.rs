//! Searches for relations between the numbers of all rows.

use std::collections::{BTreeMap, BTreeSet};

use super::numbers::{Column, Exact, Table};
use super::relation::{Relation, Rule, is_close};

/// Fewest rows in which a relation holds.
const FEWEST: usize = 2;
/// Smallest evidence against chance, in powers of ten. Random tables of 3 to 20 rows gave none above it, and real ones none that was not meant.
const MIN_SCORE: f64 = 1.0;
/// Most columns for relations of three numbers.
const MAX_COLUMNS_OF_THREE: usize = 12;
/// Evidence of a percent sign in the name of the column that a relation takes for percentages.
const NAMED_PERCENTAGE: f64 = 1.5;
/// Rows that may fail before a relation is given up early.
const EARLY_FAILURES: usize = 8;
/// Most evidence that one row can give: a number of four digits.
const MAX_EVIDENCE: f64 = 4.0;

/// A relation that may hold.
struct Candidate<'t> {
    rule: Rule,
    of: Vec<&'t Column>,
    result: &'t Column,
}

/// Returns the relations that hold in nearly all rows, the most certain first. `names_percentage` says whether the name of a column says
/// that it has percentages.
pub(super) fn relations(table: &Table, names_percentage: impl Fn(usize) -> bool) -> Vec<Relation> {
    let columns = &table.columns;
    let mut found: Vec<Relation> = Vec::new();
    let mut tried: u32 = 0;
    let mut test = |candidate: Candidate<'_>| {
        tried += 1;
        found.extend(candidate.test(table.rows));
    };
    let percentages: Vec<bool> = columns.iter().map(is_percentage).collect();
    for (first, a) in columns.iter().enumerate() {
        for (second, b) in columns.iter().enumerate().filter(|(second, _)| *second != first) {
            for (third, result) in columns.iter().enumerate().filter(|(third, _)| *third != first && *third != second) {
                for (rule, is_symmetric) in Rule::OF_TWO {
                    let is_possible = rule.percentage().is_none() || percentages[second];
                    if is_possible && !(is_symmetric && second < first) {
                        test(Candidate { rule, of: vec![a, b], result });
                    }
                }
                if columns.len() > MAX_COLUMNS_OF_THREE || second < first {
                    continue;
                }
                // The third number is any other column; `result` has the place of the result.
                for (_, c) in columns.iter().enumerate().filter(|(nth, _)| ![first, second, third].contains(nth)) {
                    for rule in Rule::OF_THREE {
                        if rule.percentage().is_none() || is_percentage(c) {
                            test(Candidate { rule, of: vec![a, b, c], result });
                        }
                    }
                }
            }
        }
    }
    let chance = f64::from(tried.max(1)).log10();
    for relation in &mut found {
        let percentage = relation.rule.percentage().and_then(|nth| relation.of.get(nth));
        let is_named = percentage.is_some_and(|column| names_percentage(*column));
        relation.score += if is_named { NAMED_PERCENTAGE } else { 0.0 } - chance;
    }
    found.retain(|relation| relation.score >= MIN_SCORE);
    found.sort_by(|left, right| right.score.total_cmp(&left.score));
    found
}

/// Whether the values can be percentages that differ from zero.
fn is_percentage(column: &Column) -> bool {
    let mut values = column.values.iter().flatten();
    values.all(|number| (0.0..=100.0).contains(&number.value))
}

impl Candidate<'_> {
    /// Tests the relation in all rows.
    fn test(&self, rows: usize) -> Option<Relation> {
        let tolerance = 0.5 * 10f64.powi(-i32::try_from(self.result.decimals).ok()?);
        let (mut applies, mut holds) = (0_usize, 0_usize);
        let mut distinct: BTreeSet<Vec<u64>> = BTreeSet::new();
        let mut digits = Vec::new();
        let mut values = [0.0; 3];
        for row in 0..rows {
            let Some(result) = self.result.values[row] else { continue };
            let mut all = self.of.iter().enumerate().map(|(nth, column)| Some((nth, column.values[row]?.value)));
            if !all.all(|value| value.map(|(nth, value)| values[nth] = value).is_some()) {
                continue;
            }
            let of = &values[..self.of.len()];
            if !self.rule.is_informative(of, result.value) {
                continue;
            }
            applies += 1;
            if is_close(self.rule.compute(of), result.value, tolerance) {
                holds += 1;
                let tuple = of.iter().chain([&result.value]).map(|value| value.to_bits()).collect();
                if distinct.insert(tuple) {
                    digits.push(f64::from(result.digits));
                }
            } else if applies - holds > EARLY_FAILURES && (applies - holds) * 10 > rows {
                return None;
            }
        }
        // Three of four in a short sheet, nine of ten in a longer one.
        let is_kept = if applies < 10 { holds * 4 >= applies * 3 } else { holds * 10 >= applies * 9 };
        if holds < FEWEST || !is_kept {
            return None;
        }
        let spread = spread(&self.result.values);
        let most = (spread / (2.0 * tolerance)).max(1.0).log10().min(MAX_EVIDENCE);
        let score = digits.into_iter().map(|digits| digits.min(most)).sum();
        let of = self.of.iter().map(|column| column.index).collect();
        Some(Relation { rule: self.rule, of, result: self.result.index, tolerance, score })
    }
}

/// The range of the values of a column, at least half of the largest.
fn spread(values: &[Option<Exact>]) -> f64 {
    let values = || values.iter().flatten().map(|number| number.value);
    let (lowest, highest) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let largest = values().map(f64::abs).fold(0.0, f64::max);
    (highest - lowest).max(largest / 2.0)
}

/// A column whose sum over the rows of a record stands in another column of each of these rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RecordSum {
    pub(super) part: usize,
    pub(super) total: usize,
}

/// Returns the sums over records. At least one record must have several rows.
pub(super) fn sums_of_records(table: &Table, groups: &[String]) -> Vec<RecordSum> {
    let mut rows_of: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (row, group) in groups.iter().enumerate().filter(|(_, group)| !group.is_empty()) {
        rows_of.entry(group).or_default().push(row);
    }
    let mut sums = Vec::new();
    for part in &table.columns {
        for total in table.columns.iter().filter(|total| total.index != part.index) {
            if is_sum_of_records(part, total, rows_of.values()) {
                sums.push(RecordSum { part: part.index, total: total.index });
            }
        }
    }
    sums
}

fn is_sum_of_records<'r>(part: &Column, total: &Column, records: impl Iterator<Item = &'r Vec<usize>>) -> bool {
    let tolerance = 0.5 * 10f64.powi(-i32::try_from(total.decimals.max(part.decimals)).unwrap_or(0));
    let (mut applies, mut holds, mut of_several) = (0_usize, 0_usize, 0_usize);
    for rows in records {
        let parts: Option<Vec<f64>> = rows.iter().map(|row| part.values[*row].map(|number| number.value)).collect();
        let mut totals = rows.iter().filter_map(|row| total.values[*row]).map(|number| number.value);
        let (Some(parts), Some(first)) = (parts, totals.next()) else { continue };
        if totals.any(|other| other != first) {
            continue;
        }
        applies += 1;
        if is_close(parts.iter().sum(), first, tolerance) {
            holds += 1;
            of_several += usize::from(parts.len() > 1 && first != 0.0);
        }
    }
    applies >= FEWEST && of_several > 0 && holds * 10 >= applies * 9
}

#[cfg(test)]
mod tests {
    use sheetport_sheet::{Cell, Row};

    use super::super::numbers::{Cells, Notations};
    use super::*;

    /// Returns the relations of a table of texts: `Product of [0, 1] = 2`.
    fn found(rows: &[&[&str]]) -> Vec<String> {
        found_with(rows, None)
    }

    fn found_with(rows: &[&[&str]], percentage: Option<usize>) -> Vec<String> {
        let columns: Vec<usize> = (0..rows[0].len()).collect();
        let cells: Vec<Cells> = (2..)
            .zip(rows)
            .map(|(number, texts)| {
                let mut row = Row::default();
                row.clear(number);
                texts.iter().for_each(|text| row.push(Cell::Text(text)));
                Cells::of(&row, &columns, &[])
            })
            .collect();
        let table = Notations::of(&columns, &cells).table(&columns, &cells);
        let shown = |relation: &Relation| format!("{:?} of {:?} = {}", relation.rule, relation.of, relation.result);
        relations(&table, |column| percentage == Some(column)).iter().map(shown).collect()
    }

    #[test]
    fn calculations_are_found_in_three_rows() {
        let gross = found(&[&["12.00", "2.28", "14.28"], &["20.00", "3.80", "23.80"], &["5.00", "0.95", "5.95"]]);
        assert!(gross.contains(&"Sum of [0, 1] = 2".to_owned()), "{gross:?}");
        let total = found(&[&["3", "4,15", "12,45"], &["12", "1,05", "12,60"], &["7", "2,99", "20,93"]]);
        assert_eq!(total.first().map(String::as_str), Some("Product of [0, 1] = 2"));
        let discount =
            found(&[&["3", "4.15", "10", "11.21"], &["12", "1.05", "5", "11.97"], &["7", "2.99", "20", "16.74"]]);
        assert!(discount.contains(&"ProductMinusPercent of [0, 1, 2] = 3".to_owned()), "{discount:?}");
    }

    #[test]
    fn a_percent_sign_in_a_name_makes_up_for_round_numbers() {
        let rows: [&[&str]; 3] =
            [&["10", "10.00", "20", "80.00"], &["1", "10.00", "0", "10.00"], &["5", "4.00", "50", "10.00"]];
        assert!(found(&rows).is_empty());
        assert_eq!(
            found_with(&rows, Some(2)).first().map(String::as_str),
            Some("ProductMinusPercent of [0, 1, 2] = 3")
        );
    }

    #[test]
    fn factors_of_one_and_round_numbers_prove_nothing() {
        assert!(found(&[&["1", "4.15", "4.15"], &["1", "1.05", "1.05"], &["1", "2.99", "2.99"]]).is_empty());
        assert!(found(&[&["2", "10", "20"], &["3", "10", "30"]]).is_empty());
        assert!(
            found(&[&["3", "8.15", "9"], &["5", "2.20", "4"], &["2", "9.99", "17"], &["8", "1.10", "5"]]).is_empty()
        );
    }

    proptest::proptest! {
        /// A table of chance has hardly ever a relation: one in ten by the smallest score, which none of the runs so far reached.
        #[test]
        fn tables_of_chance_have_no_certain_relation(
            rows in proptest::collection::vec((1_u32..200, 100_u32..9_999, 100_u32..99_999, 1_u32..500), 3..40),
        ) {
            let texts: Vec<[String; 4]> = rows
                .iter()
                .map(|(a, b, c, d)| [a.to_string(), cents(*b), cents(*c), d.to_string()])
                .collect();
            let borrowed: Vec<Vec<&str>> = texts.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
            let table: Vec<&[&str]> = borrowed.iter().map(Vec::as_slice).collect();
            proptest::prop_assert!(found(&table).is_empty(), "{:?}", found(&table));
        }
    }

    fn cents(cents: u32) -> String {
        format!("{}.{:02}", cents / 100, cents % 100)
    }
}

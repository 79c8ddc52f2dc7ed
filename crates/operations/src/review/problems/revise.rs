//! Bringing a checked sheet up to date after a change of a few rows, without reading the others again.

use std::collections::BTreeSet;

use sheetport_ledger::Problem;
use sheetport_plan::Edits;
use sheetport_plan::plan::{Judge, Judged, Verdict};
use sheetport_sheet::Row;

use super::super::sheet::RowStore;
use super::checked_sheet::{CauseOfRows, CheckedSheet, Grouping, ProblemPlace, column_of};
use super::keys_of_rows::KeysOfRows;
use crate::error::Error;

/// Maximum number of rows judged again, including rows with the same keys.
const MAX_ROWS: usize = 200;

/// The problems of a changed row.
pub type RowVerdict = (u64, Vec<Problem>);

/// A row before and after a change.
struct Change {
    row: u64,
    before: Judged,
    after: Judged,
    /// Whether a person changed this row, rather than another row with the same key.
    is_own: bool,
}

impl CheckedSheet {
    /// Judges changed rows again and returns their problems. Returns `None` and changes nothing if this needs a check of the
    /// whole sheet, for example for grouped rows, or for problems that depend on neighbouring rows or on the reading of the file.
    /// Only a check of the whole sheet finds the notation of numbers and dates, warnings about the whole file, and similar names.
    ///
    /// # Errors
    /// If the rows can't be read.
    pub fn revise(
        &mut self,
        rows: &RowStore,
        (before, after): (&Edits, &Edits),
        changed: &[u64],
    ) -> Result<Option<Vec<RowVerdict>>, Error> {
        let Some((changes, keys)) = self.changes(rows, (before, after), changed)? else { return Ok(None) };
        // Problems found in another way can't be replaced here.
        if !changes.iter().all(|change| self.explains(change)) {
            return Ok(None);
        }
        self.keys = keys;
        let mut verdicts = Vec::new();
        for change in changes {
            self.replace(&change);
            if change.is_own {
                verdicts.push((change.row, change.after.problems));
            }
        }
        Ok(Some(verdicts))
    }

    /// Returns the changed rows and the rows with the same keys, before and after the change, and the keys after the change.
    fn changes(
        &self,
        rows: &RowStore,
        (before, after): (&Edits, &Edits),
        changed: &[u64],
    ) -> Result<Option<(Vec<Change>, KeysOfRows)>, Error> {
        if changed.len() > MAX_ROWS || changed.iter().any(|row| *row <= self.header_row()) {
            return Ok(None);
        }
        let judge = |edits| Judge::new(&self.source, &self.template, &self.known, edits);
        let (Some(old), Some(new)) = (judge(before), judge(after)) else { return Ok(None) };
        let mut keys = self.keys.clone();
        let mut concerned: BTreeSet<u64> = changed.iter().copied().collect();
        for row in rows.numbered(&Vec::from_iter(concerned.iter().copied()))? {
            let number = row.number;
            if let Some(key) = old.judge(row.clone()).key {
                concerned.extend(self.keys.rows_of(&key));
            }
            let key = new.judge(row).key;
            keys.set(number, key.as_deref());
        }
        for row in rows.numbered(changed)? {
            if let Some(key) = new.judge(row).key {
                concerned.extend(keys.rows_of(&key));
            }
        }
        if concerned.len() > MAX_ROWS {
            return Ok(None);
        }
        let rows = rows.numbered(&Vec::from_iter(concerned))?;
        let change = |row: Row| Change {
            row: row.number,
            is_own: changed.contains(&row.number),
            before: with_others(&old, row.clone(), &self.keys),
            after: with_others(&new, row, &keys),
        };
        let changes = rows.into_iter().map(change).collect();
        Ok(Some((changes, keys)))
    }

    /// Returns whether judging the row before the change finds exactly its known problems.
    fn explains(&self, change: &Change) -> bool {
        let of = |grouping: &Grouping, problems: &[Problem]| -> Option<Vec<(u32, Option<u32>)>> {
            let place = |problem: &Problem| {
                let cause = *grouping.numbers.get(grouping.causes.place_of(problem)?)?;
                Some((cause, column_of(problem)))
            };
            problems.iter().map(place).collect()
        };
        let errors = of(&self.errors, &change.before.problems);
        let warnings = of(&self.warnings, &change.before.warnings);
        let (Some(mut expected), Some(warnings)) = (errors, warnings) else { return false };
        expected.extend(warnings);
        expected.sort_unstable();
        let known = self.of_row(change.row).filter(|(cause, _)| !self.causes[*cause].is_refusal);
        let mut known: Vec<_> = known.map(|(cause, place)| (cause as u32, place.column)).collect();
        known.sort_unstable();
        known == expected
    }

    fn replace(&mut self, change: &Change) {
        let is_removed = |(cause, _): &(usize, ProblemPlace)| change.is_own || !self.causes[*cause].is_refusal;
        let removed: Vec<_> = self.of_row(change.row).filter(is_removed).collect();
        for (cause, place) in removed {
            let cause = &mut self.causes[cause];
            cause.count -= 1;
            if let Ok(at) = cause.places.binary_search(&place) {
                cause.places.remove(at);
            }
        }
        let Change { row, before, after, .. } = change;
        for (problems, is_warning) in [(&after.problems, false), (&after.warnings, true)] {
            for problem in problems {
                let Some(cause) = self.cause_of(*row, problem, is_warning) else { continue };
                let place = ProblemPlace { row: problem.row.unwrap_or(*row), column: column_of(problem) };
                let cause = &mut self.causes[cause as usize];
                cause.count += 1;
                cause.places.insert(cause.places.partition_point(|known| *known < place), place);
            }
        }
        let tally = &mut self.tally;
        for (judged, step) in [(before, -1), (after, 1)] {
            let count = match judged.verdict {
                Verdict::Send => &mut tally.to_send,
                Verdict::Reject => &mut tally.rejected,
                Verdict::Skip => &mut tally.skipped,
            };
            *count = count.saturating_add_signed(step);
            if !judged.warnings.is_empty() {
                tally.warned = tally.warned.saturating_add_signed(step);
            }
        }
    }

    /// Returns the index of the cause of a problem, or `None` if there are too many causes.
    fn cause_of(&mut self, row: u64, problem: &Problem, is_warning: bool) -> Option<u32> {
        let grouping = if is_warning { &mut self.warnings } else { &mut self.errors };
        let place = grouping.causes.add(row, problem)?;
        if let Some(number) = grouping.numbers.get(place) {
            return Some(*number);
        }
        let number = self.causes.len() as u32;
        grouping.numbers.push(number);
        self.causes.push(CauseOfRows {
            problem: problem.clone(),
            count: 0,
            places: Vec::new(),
            is_warning,
            is_refusal: false,
        });
        Some(number)
    }
}

/// Judges a row with the others of the same key: the first is told of the second if nothing else is wrong with it, and all others of the
/// first.
fn with_others(judge: &Judge<'_>, row: Row, keys: &KeysOfRows) -> Judged {
    let number = row.number;
    let judged = judge.judge(row);
    let Some(key) = judged.key.clone() else { return judged };
    match keys.rows_of(&key).as_slice() {
        [first, second, ..] if *first == number && judged.verdict == Verdict::Send => {
            judged.with_problem(judge.duplicate(number, &key, *second))
        }
        [first, _, ..] if *first != number => {
            let problem = judge.duplicate(number, &key, *first);
            Judged { warnings: Vec::new(), ..judged.with_problem(problem) }
        }
        _ => judged,
    }
}

//! Bringing a checked sheet up to date after a change of a few rows, without reading the others again.

use std::collections::{BTreeMap, BTreeSet};

use sheetport_ledger::Problem;
use sheetport_plan::Edits;
use sheetport_plan::plan::{Judge, Judged, Verdict};

use super::super::sheet::RowStore;
use super::checked_sheet::{CauseOfRows, CheckedSheet, Grouping, ProblemPlace, column_of};
use super::keys_of_rows::KeysOfRows;
use crate::error::Error;

/// Maximum number of rows judged again, including rows with the same keys. Judging a row alone costs as much as three rows of a check of
/// the whole sheet, and with their problems so many rows take 50 MB.
const MAX_ROWS: usize = 50_000;
/// Rows that are judged between two looks whether to go on.
const STEP: usize = 500;

/// The problems of a changed row.
pub type RowVerdict = (u64, Vec<Problem>);

/// A row before and after a change.
struct Change {
    row: u64,
    /// The verdict before the change, and whether there were warnings. The problems themselves are known.
    before: (Verdict, bool),
    after: Judged,
    /// Whether a person changed this row, rather than another row with the same key.
    is_own: bool,
}

impl CheckedSheet {
    /// Judges changed rows again and returns their problems. Returns `None` and changes nothing if this needs a check of the
    /// whole sheet, for example for grouped rows, or for problems that depend on neighbouring rows or on the reading of the file.
    /// Only a check of the whole sheet finds the notation of numbers and dates, warnings about the whole file, and similar names.
    /// `progress` takes how many of the rows are judged, and returns whether to go on: without, nothing is changed either.
    ///
    /// # Errors
    /// If the rows can't be read.
    pub fn revise(
        &mut self,
        rows: &RowStore,
        (before, after): (&Edits, &Edits),
        changed: &[u64],
        progress: &dyn Fn(usize, usize) -> bool,
    ) -> Result<Option<Vec<RowVerdict>>, Error> {
        let Some((changes, keys)) = self.changes(rows, (before, after), changed, progress)? else { return Ok(None) };
        self.keys = keys;
        let mut moved = BTreeMap::new();
        for change in &changes {
            self.replace(change, &mut moved);
        }
        for (cause, moved) in moved {
            self.causes[cause].move_places(moved);
        }
        let own = changes.into_iter().filter(|change| change.is_own);
        Ok(Some(own.map(|change| (change.row, change.after.problems)).collect()))
    }

    /// Returns the changed rows and the rows with the same keys, before and after the change, and the keys after the change. Problems that
    /// were found in another way can't be replaced: then there are none.
    fn changes(
        &self,
        rows: &RowStore,
        (before, after): (&Edits, &Edits),
        changed: &[u64],
        progress: &dyn Fn(usize, usize) -> bool,
    ) -> Result<Option<(Vec<Change>, KeysOfRows)>, Error> {
        if changed.len() > MAX_ROWS || changed.iter().any(|row| *row <= self.header_row()) {
            return Ok(None);
        }
        let judge = |edits| Judge::new(&self.source, &self.template, &self.known, edits);
        let (Some(old), Some(new)) = (judge(before), judge(after)) else { return Ok(None) };
        let mut keys = self.keys.clone();
        let verdict_of = |number: u64, judged: Judged| {
            let judged = with_others(&old, (number, judged), &self.keys);
            self.explains(number, &judged).then_some((judged.verdict, !judged.warnings.is_empty()))
        };
        let mut judged: Vec<(u64, (Verdict, bool), Judged)> = Vec::with_capacity(changed.len());
        let mut others = BTreeSet::new();
        let mut moved = Vec::new();
        for some in changed.chunks(STEP) {
            if !progress(judged.len(), changed.len()) {
                return Ok(None);
            }
            for row in rows.numbered(some)? {
                let number = row.number;
                let (before, after) = (old.judge(row.clone()), new.judge(row));
                if before.key != after.key {
                    moved.extend(after.key.clone());
                    keys.set(number, after.key.as_deref());
                }
                if let Some(key) = &before.key {
                    others.extend(self.keys.rows_of(key).into_iter().filter(|row| *row != number));
                }
                let Some(before) = verdict_of(number, before) else { return Ok(None) };
                judged.push((number, before, after));
            }
        }
        others.extend(moved.iter().flat_map(|key| keys.rows_of(key)));
        others.retain(|row| changed.binary_search(row).is_err());
        if changed.len() + others.len() > MAX_ROWS {
            return Ok(None);
        }
        for row in rows.numbered(&Vec::from_iter(others))? {
            let number = row.number;
            let Some(before) = verdict_of(number, old.judge(row.clone())) else { return Ok(None) };
            judged.push((number, before, new.judge(row)));
        }
        let change = |(row, before, after): (u64, (Verdict, bool), Judged)| Change {
            row,
            before,
            after: with_others(&new, (row, after), &keys),
            is_own: changed.binary_search(&row).is_ok(),
        };
        let mut changes: Vec<Change> = judged.into_iter().map(change).collect();
        changes.sort_unstable_by_key(|change| change.row);
        Ok(Some((changes, keys)))
    }

    /// Returns whether judging the row before the change finds exactly its known problems.
    fn explains(&self, row: u64, before: &Judged) -> bool {
        let of = |grouping: &Grouping, problems: &[Problem]| -> Option<Vec<(u32, Option<u32>)>> {
            let place = |problem: &Problem| {
                let cause = *grouping.numbers.get(grouping.causes.place_of(problem)?)?;
                Some((cause, column_of(problem)))
            };
            problems.iter().map(place).collect()
        };
        let errors = of(&self.errors, &before.problems);
        let warnings = of(&self.warnings, &before.warnings);
        let (Some(mut expected), Some(warnings)) = (errors, warnings) else { return false };
        expected.extend(warnings);
        expected.sort_unstable();
        let known = self.of_row(row).filter(|(cause, _)| !self.causes[*cause].is_refusal);
        let mut known: Vec<_> = known.map(|(cause, place)| (cause as u32, place.column)).collect();
        known.sort_unstable();
        known == expected
    }

    /// Replaces the problems of a row. The places move when all rows are replaced, because a cause may have very many.
    fn replace(&mut self, change: &Change, moved: &mut BTreeMap<usize, Moved>) {
        let is_removed = |(cause, _): &(usize, ProblemPlace)| change.is_own || !self.causes[*cause].is_refusal;
        for (cause, place) in self.of_row(change.row).filter(is_removed) {
            moved.entry(cause).or_default().removed.push(place);
        }
        let Change { row, before, after, .. } = change;
        for (problems, is_warning) in [(&after.problems, false), (&after.warnings, true)] {
            for problem in problems {
                let Some(cause) = self.cause_of(*row, problem, is_warning) else { continue };
                let place = ProblemPlace { row: problem.row.unwrap_or(*row), column: column_of(problem) };
                moved.entry(cause as usize).or_default().added.push(place);
            }
        }
        let tally = &mut self.tally;
        for ((verdict, is_warned), step) in [(*before, -1), ((after.verdict, !after.warnings.is_empty()), 1)] {
            let count = match verdict {
                Verdict::Send => &mut tally.to_send,
                Verdict::Reject => &mut tally.rejected,
                Verdict::Skip => &mut tally.skipped,
            };
            *count = count.saturating_add_signed(step);
            if is_warned {
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

/// The places of problems that a change takes from a cause, and adds to it.
#[derive(Default)]
struct Moved {
    removed: Vec<ProblemPlace>,
    added: Vec<ProblemPlace>,
}

impl CauseOfRows {
    fn move_places(&mut self, moved: Moved) {
        let Moved { mut removed, added } = moved;
        removed.sort_unstable();
        self.count = (self.count + added.len() as u64).saturating_sub(removed.len() as u64);
        self.places.retain(|place| removed.binary_search(place).is_err());
        self.places.extend(added);
        self.places.sort_unstable();
    }
}

/// Judges a row with the others of the same key: the first is told of the second if nothing else is wrong with it, and all others of the
/// first.
fn with_others(judge: &Judge<'_>, (number, judged): (u64, Judged), keys: &KeysOfRows) -> Judged {
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

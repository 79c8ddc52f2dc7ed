//! The edits of a file, with undo and redo. Undo appends the inverse edits, so the ledger keeps the whole history. Several people
//! may edit a file at the same time: everybody sees all edits, but can undo only their own.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use sheetport_files::digest;
use sheetport_ledger::{Edit, Ledger};
use sheetport_plan::Edits;
use sheetport_sheet as sheet;

use super::super::context::Context;
use super::super::error::Error;
use super::super::files::InputFile;
use crate::operation::Operation;

/// The edits of a file that were read from the ledger. In memory are what is edited now and the steps that can be undone or redone: the
/// ledger keeps the others.
#[derive(Clone, Debug, Default)]
pub struct EditLog {
    /// The person who edits here.
    who: String,
    /// The number of edits, including undone edits.
    count: usize,
    current: Arc<Edits>,
    /// The edits of the own steps that can be undone or redone.
    steps: BTreeMap<i64, Vec<Edit>>,
    /// The step of the last edit.
    last: Option<i64>,
    /// When a row of a sheet was edited last.
    edited_at: HashMap<(usize, u64), i64>,
    /// The number of edits by other people, and the author of the last one.
    of_others: (usize, Option<String>),
    /// Own steps that can be undone, the most recent last.
    done: Vec<i64>,
    /// Own undo steps that can be redone, the most recent last.
    undone: Vec<i64>,
}

/// The edits of a file in the ledger. Every method may block on a database server.
#[derive(Debug)]
pub struct EditStore {
    file_hash: String,
    /// The person who edits here.
    who: String,
    /// Opened by the first edit and kept open: opening takes longer than storing an edit.
    ledger: Option<Ledger>,
}

/// Returns the current edits of a file, for an upload of a reviewed file.
pub fn edits_of_file<'a>(context: &'a Context, file: &'a InputFile) -> Operation<'a, Arc<Edits>> {
    Box::pin(async move { Ok(EditStore::of_file(context, file, "").await?.1.current) })
}

/// Returns the SHA-256 of a file, in hexadecimal.
pub(super) fn hash_of(file: &InputFile) -> Result<String, Error> {
    let failed = |source| sheet::Error::Open { path: file.name.clone(), source };
    digest::of_file(&file.path).map_err(failed).map_err(Error::from)
}

impl EditStore {
    /// Loads the edits of a file. `who` is the person who edits here.
    pub fn of_file<'a>(context: &'a Context, file: &'a InputFile, who: &'a str) -> Operation<'a, (EditStore, EditLog)> {
        Box::pin(async move {
            let (file_hash, who) = (hash_of(file)?, who.to_owned());
            let mut log = EditLog { who: who.clone(), ..EditLog::default() };
            if let Some(ledger) = context.existing_ledger().await? {
                log.append(ledger.edits_after(&file_hash, 0).await?);
                ledger.close().await;
            }
            Ok((EditStore { file_hash, who, ledger: None }, log))
        })
    }

    pub fn file_hash(&self) -> &str {
        &self.file_hash
    }

    /// Returns the edits after the first `known`, stored meanwhile by other people. Returns no edits if there is no ledger.
    pub fn news<'a>(&'a mut self, context: &'a Context, known: usize) -> Operation<'a, Vec<Edit>> {
        Box::pin(async move {
            if self.ledger.is_none() {
                self.ledger = context.existing_ledger().await?;
            }
            match &self.ledger {
                Some(ledger) => Ok(ledger.edits_after(&self.file_hash, known).await?),
                None => Ok(Vec::new()),
            }
        })
    }

    /// Stores edits as one step. Returns all edits after the first `known`, including edits stored meanwhile by other people.
    pub fn add<'a>(&'a mut self, context: &'a Context, edits: &'a [Edit], known: usize) -> Operation<'a, Vec<Edit>> {
        Box::pin(async move {
            let ledger = match &self.ledger {
                Some(ledger) => ledger,
                None => self.ledger.insert(context.ledger().await?),
            };
            ledger.add_edits(&self.file_hash, edits, &self.who, ledger.now()).await?;
            Ok(ledger.edits_after(&self.file_hash, known).await?)
        })
    }
}

impl EditLog {
    /// Returns the number of edits by other people, and the author of the last of these edits.
    pub fn of_others(&self) -> (usize, Option<&str>) {
        (self.of_others.0, self.of_others.1.as_deref())
    }

    pub fn current(&self) -> &Arc<Edits> {
        &self.current
    }

    /// Returns the number of edits, including undone edits.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the rows of a sheet edited after the time `at`.
    pub fn edited_since(&self, at: i64, sheet: usize) -> HashSet<u64> {
        let is_since = |((of, _), last): &(&(usize, u64), &i64)| *of == sheet && **last > at;
        self.edited_at.iter().filter(is_since).map(|((_, row), _)| *row).collect()
    }

    /// Whether a row of a sheet was ever edited.
    pub fn was_edited(&self, sheet: usize, row: u64) -> bool {
        self.edited_at.contains_key(&(sheet, row))
    }

    pub fn can_undo(&self) -> bool {
        !self.done.is_empty()
    }

    pub fn can_redo(&self) -> bool {
        !self.undone.is_empty()
    }

    /// Returns the edits that change cells from their current texts to `new`, given by sheet, row and column. Leaves out edits
    /// without effect.
    pub fn edits(&self, wanted: impl IntoIterator<Item = (usize, u64, Option<usize>, Option<String>)>) -> Vec<Edit> {
        let edit = |(sheet, row, column, new): (usize, u64, Option<usize>, Option<String>)| {
            let old = match column {
                Some(column) => self.current.cell(sheet, row, column).map(str::to_owned),
                None => self.current.leaves_out(sheet, row).then(|| LEFT_OUT.to_owned()),
            };
            (old != new).then_some(Edit {
                step: 0,
                undoes: None,
                sheet,
                row,
                column,
                old,
                new,
                who: String::new(),
                at: 0,
            })
        };
        wanted.into_iter().filter_map(edit).collect()
    }

    /// Returns the edits that undo the last own step, or no edits if there is no such step.
    pub fn undo(&mut self) -> Vec<Edit> {
        self.reverse(|log| &mut log.done)
    }

    /// Returns the edits that redo the last own step that was undone, or no edits if there is no such step.
    pub fn redo(&mut self) -> Vec<Edit> {
        self.reverse(|log| &mut log.undone)
    }

    /// Returns the edits that reverse the last of these steps with any remaining effect.
    fn reverse(&mut self, steps: fn(&mut EditLog) -> &mut Vec<i64>) -> Vec<Edit> {
        while let Some(step) = steps(self).last().copied() {
            let edits = self.opposite(step);
            if !edits.is_empty() {
                return edits;
            }
            steps(self).pop();
        }
        Vec::new()
    }

    /// Returns the number of the last own step that has undone another and can be undone itself.
    pub fn last_undone(&self) -> Option<i64> {
        self.undone.last().copied()
    }

    /// Forgets which steps could be made again.
    pub fn forget_undone(&mut self) {
        self.undone.clear();
        self.keep_steps();
    }

    /// Returns the number of the last own step that can be undone.
    pub fn last_step(&self) -> Option<i64> {
        self.done.last().copied()
    }

    /// Returns the edits that reverse an own step that can be undone or redone, except in cells edited since.
    pub fn opposite(&self, step: i64) -> Vec<Edit> {
        let is_left = |edit: &&Edit| match edit.column {
            Some(column) => self.current.cell(edit.sheet, edit.row, column) == edit.new.as_deref(),
            None => self.current.leaves_out(edit.sheet, edit.row) == edit.new.is_some(),
        };
        let opposite =
            |edit: &Edit| Edit { undoes: Some(step), old: edit.new.clone(), new: edit.old.clone(), ..edit.clone() };
        self.steps.get(&step).into_iter().flatten().filter(is_left).map(opposite).collect()
    }

    /// Appends edits read from the ledger. Returns the changed rows, each with the index of its sheet.
    pub fn append(&mut self, edits: Vec<Edit>) -> BTreeSet<(usize, u64)> {
        let mut rows = BTreeSet::new();
        let current = Arc::make_mut(&mut self.current);
        for edit in edits {
            current.add(&edit);
            rows.insert((edit.sheet, edit.row));
            let edited_at = self.edited_at.entry((edit.sheet, edit.row)).or_insert(edit.at);
            *edited_at = edit.at.max(*edited_at);
            self.count += 1;
            let is_own = edit.who == self.who;
            if !is_own {
                self.of_others = (self.of_others.0 + 1, Some(edit.who.clone()));
            }
            let is_known = self.last.replace(edit.step) == Some(edit.step);
            if !is_known && is_own {
                match edit.undoes {
                    None => {
                        self.done.push(edit.step);
                        self.undone.clear();
                    }
                    Some(of) => match self.done.iter().rposition(|step| *step == of) {
                        // The steps after `at` had no remaining effect.
                        Some(at) => {
                            self.done.truncate(at);
                            self.undone.push(edit.step);
                        }
                        None => {
                            if let Some(at) = self.undone.iter().rposition(|step| *step == of) {
                                self.undone.truncate(at);
                            }
                            self.done.push(edit.step);
                        }
                    },
                }
            }
            if is_own {
                self.steps.entry(edit.step).or_default().push(Edit { who: String::new(), ..edit });
            }
        }
        self.keep_steps();
        rows
    }

    /// Forgets the edits of steps that can neither be undone nor redone.
    fn keep_steps(&mut self) {
        let kept: HashSet<i64> = self.done.iter().chain(&self.undone).copied().collect();
        self.steps.retain(|step, _| kept.contains(step));
    }
}

/// The new text of an edit that leaves a row out.
pub(super) const LEFT_OUT: &str = "left-out";

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(step: i64, undoes: Option<i64>, old: Option<&str>, new: Option<&str>) -> Edit {
        let text = |text: Option<&str>| text.map(str::to_owned);
        Edit {
            step,
            undoes,
            sheet: 0,
            row: 2,
            column: Some(0),
            old: text(old),
            new: text(new),
            who: String::new(),
            at: 0,
        }
    }

    #[test]
    fn each_person_takes_back_only_what_is_left_of_their_own_steps() {
        let by = |who: &str, edit: Edit| Edit { who: who.to_owned(), ..edit };
        let mut log = EditLog { who: "anna".to_owned(), ..EditLog::default() };
        let other_row = |edit: Edit| Edit { row: 3, ..edit };
        log.append(vec![
            by("anna", edit(1, None, None, Some("a"))),
            by("anna", other_row(edit(1, None, None, Some("a")))),
            by("ben", edit(2, None, Some("a"), Some("b"))),
        ]);
        assert_eq!((log.done.as_slice(), log.of_others()), ([1].as_slice(), (1, Some("ben"))));
        let rows: Vec<u64> = log.opposite(1).iter().map(|edit| edit.row).collect();
        assert_eq!(rows, [3], "the cell that ben has edited since stays");
    }

    #[test]
    fn steps_are_undone_and_redone_in_order() {
        let mut log = EditLog::default();
        log.append(vec![edit(1, None, None, Some("a")), edit(2, None, Some("a"), Some("b"))]);
        assert_eq!((log.done.as_slice(), log.current.cell(0, 2, 0)), ([1, 2].as_slice(), Some("b")));
        log.append(vec![edit(3, Some(2), Some("b"), Some("a")), edit(4, Some(1), Some("a"), None)]);
        assert_eq!((log.undone.as_slice(), log.current.is_empty()), ([3, 4].as_slice(), true));
        log.append(vec![edit(5, Some(4), None, Some("a"))]);
        assert_eq!((log.done.as_slice(), log.undone.as_slice()), ([5].as_slice(), [3].as_slice()));
        // A new edit ends what can be redone.
        log.append(vec![edit(6, None, Some("a"), Some("c"))]);
        assert_eq!((log.done.as_slice(), log.can_redo()), ([5, 6].as_slice(), false));
    }
}

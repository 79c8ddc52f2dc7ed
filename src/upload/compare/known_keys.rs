//! Identifiers in an export that was opened and saved by a spreadsheet program.
//!
//! An export has the service's id of each item beside its external identifier. If a program turned `000042` into 42, an
//! upload would create another item. The service's list has the right identifier for each id, so the difference is found
//! before anything is sent.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use crate::ledger::Problem;
use crate::sheet::{Cell, Row, column_letters, write};
use crate::template::problem::excerpt;
use crate::upload::respelled::is_respelled;

/// The identifiers of the service's records by id, for the rows of a file.
#[derive(Debug)]
pub struct KnownKeys {
    pub(super) hasher: RandomState,
    pub(super) keys: HashMap<u64, Box<str>>,
    /// One entry per part of the source.
    pub(super) columns: Vec<Option<KeyColumns>>,
    /// Replaces identifiers that a program changed, instead of reporting them.
    pub(super) restores: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct KeyColumns {
    pub id: usize,
    pub key: usize,
}

impl KnownKeys {
    /// Returns the hash of an id.
    pub(super) fn hash(&self, id: &str) -> u64 {
        self.hasher.hash_one(id.trim())
    }

    /// Returns whether identifiers that a program changed are replaced.
    pub fn restores(&self) -> bool {
        self.restores
    }

    /// Replaces identifiers that a program changed from now on.
    pub fn restore(&mut self) {
        self.restores = true;
    }

    /// Returns whether a spreadsheet program changed the identifier of a row.
    pub(super) fn is_changed(&self, part: usize, row: &Row) -> bool {
        let Some(columns) = self.columns[part] else { return false };
        let known = self.keys.get(&self.hash(&row.get(columns.id).shown()));
        known.is_some_and(|known| is_respelled(known, &row.get(columns.key)))
    }

    /// Compares the identifier of a row with the service's. Returns the problem if they differ, or writes the row with
    /// the service's identifier into `restored` and returns `None` if that was asked for.
    pub(in crate::upload) fn check(&self, part: usize, row: &Row, restored: &mut Row) -> Option<KeyCheck> {
        let columns = self.columns[part]?;
        let known = self.keys.get(&self.hash(&row.get(columns.id).shown()))?;
        let cell = row.get(columns.key);
        let shown = cell.shown();
        let text = write::restore(&shown);
        if cell.is_blank() || [text, &shown].iter().any(|text| text.trim() == known.trim()) {
            return None;
        }
        let is_changed = is_respelled(known, &cell);
        if is_changed && self.restores {
            restored.clear(row.number);
            let known = write::defuse(known);
            for (column, cell) in row.cells().enumerate() {
                restored.push(if column == columns.key { Cell::Text(&known) } else { cell });
            }
            return Some(KeyCheck::Restored);
        }
        let (message, remedy) = match is_changed {
            true => (
                "has lost zeros or digits: the item with the id in this row has another one",
                format!("a spreadsheet program changed '{known}'; --restore-ids takes all such identifiers back"),
            ),
            false => (
                "is not the identifier of the item with the id in this row",
                format!("the service lists '{known}'; correct it, or empty the id if this is another item"),
            ),
        };
        Some(KeyCheck::Differs(Box::new(Problem {
            row: Some(row.number),
            column: Some(columns.key),
            header: format!("column {}", column_letters(columns.key)),
            value: excerpt(text),
            remedy,
            ..Problem::of_record("other-identifier", message)
        })))
    }
}

/// The result of comparing an identifier that differs.
pub(in crate::upload) enum KeyCheck {
    Restored,
    Differs(Box<Problem>),
}

//! Identifiers and other texts in an export that was opened and saved by a spreadsheet program.
//!
//! An export has the service's id of each item beside its external identifier and its texts. If a program turned `000042` into
//! 42, an upload would create a second item, or rename an item. The service's list has the original texts for each id, so the
//! difference is found before sending.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use sheetport_files::text_file::normalize_line_ends;
use sheetport_findings::Code;
use sheetport_ledger::Problem;
use sheetport_mapping::problem::excerpt;
use sheetport_sheet::{Cell, Row, write};

use crate::respelled::{encoded_once, is_respelled, is_respelled_text, is_rounded, may_be_respelled};

/// The identifiers and texts of the service's records by id, for the rows of a file.
#[derive(Debug)]
pub struct KnownTexts {
    pub(super) hasher: RandomState,
    pub(super) records: HashMap<u64, KnownRecord>,
    /// One entry per table of the source.
    pub(super) columns: Vec<Option<TextColumns>>,
    /// Whether to restore changed texts instead of reporting them.
    pub(super) restores: bool,
}

/// The listed values of an id.
#[derive(Debug)]
pub(super) struct KnownRecord {
    pub key: Box<str>,
    /// Texts and numbers that a program may change, with the index of their field.
    pub texts: Box<[(usize, Box<str>)]>,
}

/// The columns of a sheet.
#[derive(Clone, Debug)]
pub(super) struct TextColumns {
    pub id: usize,
    pub key: NamedColumn,
    /// Columns of other texts, with the index of their field.
    pub texts: Vec<(usize, NamedColumn)>,
    /// Columns of numbers, with the index of their field.
    pub numbers: Vec<(usize, NamedColumn)>,
}

#[derive(Clone, Debug)]
pub(super) struct NamedColumn {
    pub index: usize,
    pub header: String,
}

/// A text that differs from the service's.
struct Difference<'a> {
    column: &'a NamedColumn,
    known: &'a str,
    kind: DifferenceKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DifferenceKind {
    /// A program changed the identifier.
    Key,
    /// A program changed another text.
    Text,
    /// A program rounded a number.
    Number,
    /// A different identifier.
    OtherKey,
}

impl KnownTexts {
    /// Returns the hash of an id.
    pub(super) fn hash(&self, id: &str) -> u64 {
        self.hasher.hash_one(id.trim())
    }

    /// Returns whether changed texts are restored.
    pub fn restores(&self) -> bool {
        self.restores
    }

    /// Restores changed texts from now on.
    pub fn restore(&mut self) {
        self.restores = true;
    }

    /// Returns the number of texts in a row that a spreadsheet program has changed.
    pub(super) fn count_changed(&self, table: usize, row: &Row) -> u64 {
        let differences = self.differences(table, row);
        differences.iter().filter(|difference| difference.kind != DifferenceKind::OtherKey).count() as u64
    }

    fn differences(&self, table: usize, row: &Row) -> Vec<Difference<'_>> {
        let mut found = Vec::new();
        let Some(columns) = &self.columns[table] else { return found };
        let Some(known) = self.records.get(&self.hash(&row.get(columns.id).shown())) else { return found };
        let cell = row.get(columns.key.index);
        if !cell.is_blank() && !is_same(&cell, &known.key) {
            let is_changed = is_respelled(&known.key, &cell) || is_reread(&known.key, &cell);
            let kind = if is_changed { DifferenceKind::Key } else { DifferenceKind::OtherKey };
            found.push(Difference { column: &columns.key, known: &known.key, kind });
        }
        let value = |field| known.texts.iter().find(|(of, _)| *of == field).map(|(_, known)| &**known);
        for (field, column) in &columns.texts {
            let Some(known) = value(*field) else { continue };
            let cell = row.get(column.index);
            let is_changed = || is_respelled_text(known, &cell) || is_reread(known, &cell);
            if !cell.is_blank() && !is_same(&cell, known) && is_changed() {
                found.push(Difference { column, known, kind: DifferenceKind::Text });
            }
        }
        for (field, column) in &columns.numbers {
            let Some(known) = value(*field).filter(|known| is_rounded(known, &row.get(column.index))) else { continue };
            found.push(Difference { column, known, kind: DifferenceKind::Number });
        }
        found
    }

    /// Compares the texts of a row with the service's. Returns the first problem if they differ. If restoring is on, writes the
    /// row with the service's texts into `restored` instead.
    pub(crate) fn check(&self, table: usize, row: &Row, restored: &mut Row) -> Option<TextCheck> {
        let differences = self.differences(table, row);
        let is_wrong = |difference: &&Difference<'_>| !self.restores || difference.kind == DifferenceKind::OtherKey;
        if let Some(difference) = differences.iter().find(is_wrong) {
            return Some(TextCheck::Differs(Box::new(difference.problem(row))));
        }
        if differences.is_empty() {
            return None;
        }
        restored.clear(row.number);
        for column in 0..row.len() {
            match differences.iter().find(|difference| difference.column.index == column) {
                Some(difference) => restored.push(Cell::Text(difference.known)),
                None => restored.push_from(row, column),
            }
        }
        Some(TextCheck::Restored(differences.len() as u64))
    }
}

impl Difference<'_> {
    fn problem(&self, row: &Row) -> Problem {
        let shown = row.get(self.column.index).shown();
        let known = excerpt(self.known);
        let (message, remedy) = match self.kind {
            DifferenceKind::Key if is_reread(self.known, &row.get(self.column.index)) => (
                "was changed by a spreadsheet program: the item with the id in this row has another one",
                format!("a spreadsheet program changed '{known}'; --restore-texts takes all such texts back"),
            ),
            DifferenceKind::Key => (
                "has lost zeros or digits: the item with the id in this row has another one",
                format!("a spreadsheet program changed '{known}'; --restore-texts takes all such texts back"),
            ),
            DifferenceKind::Text => (
                "was changed by a spreadsheet program",
                format!(
                    "the service lists '{known}'; --restore-texts takes all such texts back. If this one was changed on \
                     purpose, empty the id in its row"
                ),
            ),
            DifferenceKind::Number => (
                "was rounded by a spreadsheet program",
                format!(
                    "the service lists {known}; --restore-texts takes all such numbers back. If this one was changed on \
                     purpose, empty the id in its row"
                ),
            ),
            DifferenceKind::OtherKey => (
                "is not the identifier of the item with the id in this row",
                format!("the service lists '{known}'; correct it, or empty the id if this is another item"),
            ),
        };
        let code = match self.kind {
            DifferenceKind::Text => Code::ChangedText,
            DifferenceKind::Number => Code::RoundedNumber,
            DifferenceKind::Key | DifferenceKind::OtherKey => Code::OtherIdentifier,
        };
        Problem {
            row: Some(row.number),
            column: Some(self.column.index),
            header: self.column.header.clone(),
            value: excerpt(&shown),
            remedy,
            ..Problem::of_record(code, message)
        }
    }
}

/// Returns whether a cell has this text, apart from surrounding white space.
fn is_same(cell: &Cell<'_>, known: &str) -> bool {
    let shown = cell.shown();
    matches!(cell, Cell::Text(_) | Cell::Number(_) | Cell::Rounded(..))
        && !has_lost_spaces(known, cell)
        && shown.trim() == known.trim()
}

/// Returns whether a cell has this text as misread from a text file.
fn is_reread(known: &str, cell: &Cell<'_>) -> bool {
    was_encoded_twice(known, cell) || has_lost_spaces(known, cell)
}

/// Returns whether a cell has lost the spaces around this text, because the text looks like a number.
fn has_lost_spaces(known: &str, cell: &Cell<'_>) -> bool {
    let trimmed = known.trim();
    trimmed != known && cell.shown() == trimmed && may_be_respelled(trimmed)
}

/// Returns whether a cell has this text encoded twice, possibly with the apostrophe of an export before a misread character.
fn was_encoded_twice(known: &str, cell: &Cell<'_>) -> bool {
    let Cell::Text(text) = cell else { return false };
    let is_known = |once: &str| normalize_line_ends(once.trim()) == normalize_line_ends(known.trim());
    encoded_once(text).is_some_and(|once| is_known(&once) || is_known(&write::restore(&once)))
}

/// The result of comparing a row with differing texts.
pub(crate) enum TextCheck {
    /// The number of texts restored from the service.
    Restored(u64),
    Differs(Box<Problem>),
}

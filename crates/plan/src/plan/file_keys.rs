//! The identifiers of all rows of a file, to know which records of the service it lacks.
//!
//! Each row counts, also one that is left out, refused or sent before. If one identifier is not known for sure, nothing can be said about what
//! is missing.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use sheetport_findings::{Code, SkipReason};
use sheetport_ledger::{Causes, Problem};
use sheetport_mapping::Template;
use sheetport_mapping::map::{RowKind, unquoted};

use super::read::{Chunk, Reader, shrink};
use super::row::{Known, MappedRow, ReadRow, RowMapper, ledger_problem};
use super::source::Source;
use crate::error::Error;
use crate::sent_before::canonical_name;

/// The identifiers of a file.
#[derive(Debug, Default)]
pub struct FileKeys {
    /// Two identifiers with the same hash are one: then a missing record is taken for one that is there.
    exact: HashSet<u64>,
    /// The first rows, by a form that is equal for identifiers that a person or a spreadsheet program may confuse.
    alike: HashMap<u64, u64>,
    hasher: RandomState,
    /// Why it is not known which identifiers the file has.
    pub unreadable: Causes,
}

/// Reads the identifiers of a file whose records are rows. Reads the file twice.
///
/// # Errors
/// If the file can't be read to its end, or is written meanwhile.
pub fn file_keys(source: &Source, template: &Template) -> Result<FileKeys, Error> {
    let mut keys = FileKeys::default();
    let mut chunk = Chunk::default();
    let known = {
        let mut reader = Reader::new(source, template);
        while reader.next(&mut chunk)? > 0 {}
        reader.known()
    };
    keys.read(source, template, &known, &mut chunk)?;
    source.check_unchanged()?;
    let is_in_doubt = |warning: &&Problem| matches!(warning.code, Code::UnreadSheet | Code::GuessedEncoding);
    source.warnings.iter().filter(is_in_doubt).chain(source.identifying_guesses(template)).for_each(|warning| {
        keys.unreadable.add(0, warning);
    });
    for (sheet, _) in &source.left_out {
        let message = "has not the columns of the template, and is not read";
        let problem = Problem { value: sheet.clone(), ..Problem::of_record(Code::UnreadSheet, message) };
        keys.unreadable.add(0, &problem);
    }
    Ok(keys)
}

impl FileKeys {
    /// Whether the file has this identifier.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.exact.contains(&self.hasher.hash_one(key))
    }

    /// Returns the first row with an identifier that may be confused with this one.
    pub(crate) fn row_alike(&self, key: &str) -> Option<u64> {
        self.alike.get(&self.hasher.hash_one(canonical_name(key))).copied()
    }

    fn insert(&mut self, key: &str, row: u64) {
        self.exact.insert(self.hasher.hash_one(key));
        self.alike.entry(self.hasher.hash_one(canonical_name(key))).or_insert(row);
    }

    fn read(&mut self, source: &Source, template: &Template, known: &[Known], chunk: &mut Chunk) -> Result<(), Error> {
        let mapper = RowMapper::new(source, template, known, false);
        let mut reader = Reader::new(source, template);
        while reader.next(chunk)? > 0 {
            for (read, mapped) in chunk.rows_mut() {
                mapper.map(read, mapped);
                self.add(&mapper, read, mapped);
                shrink(read, mapped);
            }
        }
        for warning in reader.warnings() {
            let is_of_key = |table: usize| mapper.mapper(table, None).is_of_identifier(&warning.field, warning.column);
            if (0..source.tables.len()).any(is_of_key) {
                self.unreadable.add(warning.row.unwrap_or_default(), &warning);
            }
        }
        Ok(())
    }

    /// Adds the identifier of a row, or what is wrong with it.
    fn add(&mut self, rows: &RowMapper<'_>, read: &ReadRow, mapped: &mut MappedRow) {
        if mapped.draft.kind == RowKind::Skipped(SkipReason::RepeatedHeader) {
            return;
        }
        let (mapper, row) = (rows.mapper(read.table, read.cell), mapped.number);
        let is_left_out = matches!(mapped.draft.kind, RowKind::Skipped(_));
        let gathered = &mut mapped.draft.gathered;
        let found = gathered.problems.drain(..).chain(gathered.warnings.drain(..));
        let is_of_key = |problem: &sheetport_mapping::Problem| mapper.is_of_identifier(problem.field, problem.column);
        let of_key: Vec<Problem> = found
            .filter(|problem| !is_left_out && is_of_key(problem))
            .map(|problem| ledger_problem(problem, rows.source))
            .collect();
        // The cells of such a row may be misplaced.
        let doubts: Vec<Problem> = mapped.problems.drain(..).chain(of_key).collect();
        if let Some(doubt) = doubts.first() {
            self.unreadable.add(row, doubt);
            return;
        }
        if read.doubt.is_some() {
            self.unreadable.add(row, &Problem::of_record(Code::Blank, "has cells that are in doubt"));
            return;
        }
        let problem = match mapper.identifier_of(&read.row) {
            Ok(Some(json)) if !unquoted(&json).trim().is_empty() => return self.insert(&unquoted(&json), row),
            Ok(_) => {
                let field = rows.template.record.input().key.first().copied().unwrap_or_default();
                Problem { field: field.to_owned(), ..Problem::of_record(Code::Blank, "is blank") }
            }
            Err(problem) => ledger_problem(*problem, rows.source),
        };
        // A total or a heading that the template leaves out has none.
        if !is_left_out || problem.code != Code::Blank {
            self.unreadable.add(row, &problem);
        }
    }
}

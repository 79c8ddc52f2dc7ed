//! The tables of a source read so far, to locate records in their sheets.

use sheetport_ledger::{Problem, Seq};
use sheetport_mapping::{Cause, Mapper};

use super::super::row::{RowMapper, ledger_problem};

/// The tables of a source read so far.
pub(crate) struct TablesRead<'t> {
    rows: &'t RowMapper<'t>,
    /// The first record of each table.
    firsts: Vec<Seq>,
}

impl<'t> TablesRead<'t> {
    pub(crate) fn new(rows: &'t RowMapper<'t>) -> TablesRead<'t> {
        TablesRead { rows, firsts: Vec::new() }
    }

    /// Sets the table of the next record.
    pub(crate) fn begin(&mut self, table: usize, next: Seq) {
        if self.firsts.len() <= table {
            self.firsts.resize(table + 1, next);
        }
    }

    /// Returns the index of the table with the first row of a record.
    pub(crate) fn table_of(&self, seq: Seq) -> usize {
        self.firsts.partition_point(|first| *first <= seq) - 1
    }

    fn mapper_of(&self, seq: Seq) -> &'t Mapper<'t> {
        &self.rows.mappers[self.table_of(seq)]
    }

    /// Returns the name of a record's sheet as in the ledger: empty if a single sheet is read.
    pub(crate) fn sheet_of(&self, seq: Seq) -> String {
        self.rows.source.sheet_of(&self.rows.source.tables[self.table_of(seq)])
    }

    /// Returns the problem of the record `seq` with the same key as `other`.
    pub(crate) fn same_key(&self, seq: Seq, row: u64, key: &str, cause: Cause, other: Seq) -> Problem {
        let problem = self.mapper_of(seq).same_key(row, key, cause);
        self.with_other_sheet(ledger_problem(problem, self.rows.source), seq, other)
    }

    /// Returns the problem of the record `seq` with the same value of a rule as `other`.
    pub(crate) fn same_value(&self, seq: Seq, row: u64, (rule, value): (usize, &str), other: (Seq, u64)) -> Problem {
        let problem = self.mapper_of(seq).same_value(row, rule, value, Cause::Duplicate { other_row: other.1 });
        self.with_other_sheet(ledger_problem(problem, self.rows.source), seq, other.0)
    }

    /// Adds the sheets of a copied row and of its original to a problem. The remedy must end with the row of the original.
    pub(crate) fn copied(&self, (table, original): (usize, usize), mut problem: Problem) -> Problem {
        let source = self.rows.source;
        problem.sheet = source.sheet_of(&source.tables[table]);
        if table != original {
            problem.remedy.push_str(&format!(" of the sheet '{}'", source.name_of(&source.tables[original])));
        }
        problem
    }

    /// Adds the sheet of another record to the remedy, if different.
    pub(crate) fn with_other_sheet(&self, mut problem: Problem, seq: Seq, other: Seq) -> Problem {
        let (table, other_table) = (self.table_of(seq), self.table_of(other));
        if table != other_table {
            let sheet = self.rows.source.name_of(&self.rows.source.tables[other_table]);
            problem.remedy.push_str(&format!(" of the sheet '{sheet}'"));
        }
        problem
    }
}

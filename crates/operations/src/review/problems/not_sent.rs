//! Rows that are not sent, with the reason of each, and those among them that are certainly no records.

use sheetport_findings::{Code, SkipReason};
use sheetport_ledger::Problem;
use sheetport_mapping::map::RowKind;
use sheetport_mapping::problem::NoRecord;
use sheetport_mapping::{Cause, Draft, Mapper};
use sheetport_plan::Edits;
use sheetport_plan::plan::ledger_problem;
use sheetport_sheet::Row;

use super::super::sheet::RowStore;
use super::checked_sheet::CheckedSheet;
use crate::error::Error;

impl CheckedSheet {
    /// Returns the rows below the last record that are certainly none: a remark or the number of a page, alone in its row. Between
    /// records, such a row may be the rest of one.
    ///
    /// # Errors
    /// If the rows can't be read.
    pub fn footnotes(&self, rows: &RowStore) -> Result<Vec<u64>, Error> {
        if self.source.tables.len() != 1 {
            return Ok(Vec::new());
        }
        let of_texts = self.causes.iter().filter(|cause| cause.problem.code == Code::NoRecord && !cause.is_refusal);
        let below = of_texts.flat_map(|cause| &cause.places).map(|place| place.row);
        let mut below: Vec<u64> = below.filter(|row| *row > self.last_record).collect();
        below.sort_unstable();
        below.dedup();
        let is_footnote = |row: &Row| {
            let is_alone = (0..row.len()).filter(|column| !row.get(*column).is_blank()).nth(1).is_none();
            let kind = self.map_alone(row).and_then(|draft| match draft.gathered.problems.first()?.cause {
                Cause::NoRecord(kind) => Some(kind),
                _ => None,
            });
            is_alone && matches!(kind, Some(NoRecord::Remark | NoRecord::Page))
        };
        let rows = rows.numbered(&below)?;
        Ok(rows.iter().filter(|row| is_footnote(row)).map(|row| row.number).collect())
    }

    /// Returns why a row is not sent that is left out by the template or by a person.
    pub fn why_left_out(&self, row: &Row, edits: &Edits) -> Problem {
        let mut as_read = row.clone();
        edits.apply(self.sheet_index(), &mut as_read);
        let by_person = || Problem::of_skipped(SkipReason::LeftOut);
        let Some(draft) = self.map_alone(&as_read) else { return by_person() };
        match draft.kind {
            RowKind::Skipped(reason) => Problem::of_skipped(reason),
            RowKind::NoRecord => {
                let problem = draft.gathered.problems.into_iter().next();
                problem.map_or_else(by_person, |problem| ledger_problem(problem, &self.source))
            }
            _ => by_person(),
        }
    }

    /// Maps a row without the others, if the rows of the sheet can be mapped so.
    fn map_alone(&self, row: &Row) -> Option<Draft> {
        let part = self.source.tables.first().filter(|part| part.cells.is_empty())?;
        let survey = self.survey();
        let mut draft = Draft::default();
        Mapper::new(0, &self.template, &part.layout, &survey).map(row, &mut draft);
        Some(draft)
    }
}

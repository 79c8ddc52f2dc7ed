//! Judging single rows again after a change, as a pass over the whole sheet does.

use sheetport_ledger::Problem;
use sheetport_mapping::map::RowKind;
use sheetport_mapping::model::Duplicates as Policy;
use sheetport_mapping::{Cause, Template};
use sheetport_sheet::Row;

use super::row::{Known, MappedRow, ReadRow, RowMapper, ledger_problem};
use super::source::Source;
use crate::edits::Edits;

/// Judges rows separately.
pub struct Judge<'a> {
    mapper: RowMapper<'a>,
}

/// The decision about the record of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Send,
    Reject,
    Skip,
}

/// A row judged separately from the other rows.
#[derive(Debug)]
pub struct Judged {
    pub verdict: Verdict,
    /// The key of the record; records with the same key concern each other.
    pub key: Option<String>,
    pub problems: Vec<Problem>,
    pub warnings: Vec<Problem>,
}

impl<'a> Judge<'a> {
    /// Returns `None` if more than the row and the rows with the same key decide about a record of this source.
    pub fn new(source: &'a Source, template: &'a Template, known: &'a [Known], edits: &'a Edits) -> Option<Judge<'a>> {
        let [table] = source.tables.as_slice() else { return None };
        let layout = &table.layout;
        let depends_on_others = template.group.is_some()
            || !table.cells.is_empty()
            || !layout.fill_down.is_empty()
            || layout.is_defused
            || layout.is_report
            || source.history.is_some()
            || source.known_texts.is_some()
            || source.is_strict
            || template.input().must_not_repeat()
            || matches!(template.duplicates, Policy::First | Policy::Last)
            || template.rules().any(|rule| rule.checks.is_unique);
        if depends_on_others || known.len() != source.tables.len() {
            return None;
        }
        let mut mapper = RowMapper::new(source, template, known, false);
        mapper.edits = Some(edits);
        Some(Judge { mapper })
    }

    /// Judges a row of the file with its edits.
    pub fn judge(&self, mut row: Row) -> Judged {
        let source = self.mapper.source;
        if let Some(edits) = self.mapper.edits {
            edits.apply(source.tables[0].sheet, &mut row);
        }
        let read = ReadRow { row, ..ReadRow::default() };
        let mut mapped = MappedRow::default();
        self.mapper.map(&read, &mut mapped);
        let MappedRow { draft, problems: mut more, finished, .. } = mapped;
        let located = |problem| ledger_problem(problem, source);
        let mut problems: Vec<Problem> = draft.gathered.problems.into_iter().map(located).collect();
        problems.append(&mut more);
        let verdict = match draft.kind {
            RowKind::Skipped(_) => Verdict::Skip,
            RowKind::Record | RowKind::NoRecord if problems.is_empty() => Verdict::Send,
            RowKind::Record | RowKind::NoRecord => Verdict::Reject,
        };
        if verdict == Verdict::Skip {
            return Judged { verdict, key: None, problems: Vec::new(), warnings: Vec::new() };
        }
        let warnings = match verdict {
            Verdict::Send => draft.gathered.warnings.into_iter().map(located).collect(),
            _ => Vec::new(),
        };
        let key = Some(finished.request.key).filter(|key| !key.is_empty());
        Judged { verdict, key, problems, warnings }
    }

    /// Returns the problem of a row with the same key as another row.
    pub fn duplicate(&self, row: u64, key: &str, other_row: u64) -> Problem {
        ledger_problem(
            self.mapper.mapper(0, None).same_key(row, key, Cause::Duplicate { other_row }),
            self.mapper.source,
        )
    }
}

impl Judged {
    /// Adds a problem with another row.
    pub fn with_problem(mut self, problem: Problem) -> Judged {
        self.problems.push(problem);
        self.verdict = Verdict::Reject;
        self
    }
}

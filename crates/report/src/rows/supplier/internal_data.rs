//! Reports for a supplier who corrects the rows. Hides all data that is not in the sheet: keys and values of lookup tables, the
//! service and its ids, the workspace, the template, paths, and earlier uploads.

use std::path::Path;

use sheetport_findings::{Code, SupplierView};
use sheetport_ledger::{Outcome, Problem, RecordState, Run};
use sheetport_sheet::Row;

use super::super::records::RecordResult;
use super::service_words::ServiceWords;

/// The added columns hidden from a supplier.
pub(crate) const INTERNAL_COLUMNS: [&str; 5] = ["service_id", "ctx_id", "job_id", "http_status", "attempts"];
const ASK: &str = "correct it, or ask whoever sent you this file";

/// Hides internal data of a run.
pub(crate) struct Supplier {
    words: ServiceWords,
}

impl Supplier {
    pub(crate) fn of(run: &Run) -> Supplier {
        let about = &run.about;
        Supplier { words: ServiceWords::new(&about.base_url, &about.workspace, about.record.input()) }
    }

    /// Returns the run without internal data.
    pub(crate) fn run(&self, run: &Run) -> Run {
        let mut run = run.clone();
        let about = &mut run.about;
        let file = about.file.rsplit(['/', '\\']).next().unwrap_or_default();
        about.file = Path::new(file).display().to_string();
        for text in [&mut about.template, &mut about.template_toml, &mut about.base_url, &mut about.workspace] {
            text.clear();
        }
        (about.retry_of, run.stopped_why) = (None, None);
        run.warnings = run.warnings.iter().filter_map(|warning| self.warning(warning, None)).collect();
        run
    }

    /// Returns the result of a record without internal data, for its row `cells`.
    pub(crate) fn record(&self, record: &RecordResult, cells: &Row) -> RecordResult {
        let problems =
            record.outcome.problems.iter().map(|problem| self.problem(problem, &record.outcome, cells)).collect();
        let (service_id, ctx_id, job_id) = (None, None, None);
        let outcome =
            Outcome { problems, service_id, ctx_id, job_id, http_status: None, attempts: 0, ..record.outcome.clone() };
        let warnings = record.warnings.iter().filter_map(|warning| self.warning(warning, Some(cells))).collect();
        RecordResult { outcome, warnings, ..record.clone() }
    }

    /// Returns a warning if it concerns the sheet.
    fn warning(&self, warning: &Problem, cells: Option<&Row>) -> Option<Problem> {
        let is_shown = warning.code.supplier_view() != SupplierView::Nothing && !warning.is_internal;
        is_shown.then(|| {
            let value = match cells {
                Some(cells) => value_of_cell(warning, cells),
                // A warning about the file quotes the file.
                None => warning.value.clone(),
            };
            Problem { value, remedy: remedy(warning), ..warning.clone() }
        })
    }

    fn problem(&self, problem: &Problem, outcome: &Outcome, cells: &Row) -> Problem {
        let value = value_of_cell(problem, cells);
        let view = match outcome.state {
            // The problem of a skipped row is the reason for skipping it.
            RecordState::Skipped if !outcome.is_superseded() => SupplierView::All,
            _ => problem.code.supplier_view(),
        };
        let (message, remedy) = match problem.code {
            _ if view == SupplierView::Words => (self.words.message(&problem.message, outcome, cells), String::new()),
            _ if view == SupplierView::Nothing => ("is not sent for another reason".to_owned(), ASK.to_owned()),
            _ if !problem.is_internal => (problem.message.clone(), remedy(problem)),
            Code::UnknownValue => ("is not a known value".to_owned(), ASK.to_owned()),
            Code::Expression | Code::AmbiguousNumber => ("can't be calculated with".to_owned(), ASK.to_owned()),
            // The author of the template wrote this message.
            _ => (problem.message.clone(), ASK.to_owned()),
        };
        let field = match view {
            // The service's own words, too.
            SupplierView::Words if !self.words.is_field(&problem.field) => String::new(),
            _ => problem.field.clone(),
        };
        Problem { field, value, message, remedy, ..problem.clone() }
    }
}

/// Returns the remedy if it is not about the template.
fn remedy(problem: &Problem) -> String {
    match problem.code.supplier_view() {
        SupplierView::Message => ASK.to_owned(),
        _ => problem.remedy.clone(),
    }
}

/// Returns the value of a problem if the cell shows this value. Other values may come from a lookup table or a calculation.
fn value_of_cell(problem: &Problem, cells: &Row) -> String {
    let is_shown = |column| cells.get(column).shown().trim() == problem.value.trim();
    if problem.column.is_some_and(is_shown) { problem.value.clone() } else { String::new() }
}

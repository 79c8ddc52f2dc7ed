//! Reports for a supplier who corrects the rows. Hides all data that is not in the sheet: keys and values of lookup tables, the
//! service and its ids, the workspace, the template, paths, and earlier uploads.

use std::path::Path;

use super::super::records::RecordResult;
use super::service_words::ServiceWords;
use crate::ledger::{FROM_SERVICE, Outcome, Problem, Run};
use crate::sheet::Row;

/// The added columns hidden from a supplier.
pub(in crate::report::rows) const INTERNAL_COLUMNS: [&str; 5] =
    ["service_id", "ctx_id", "job_id", "http_status", "attempts"];
const ASK: &str = "correct it, or ask whoever sent you this file";

/// The codes of problems whose messages reveal nothing but the sheet and the template's rules for its columns.
const OF_SHEET: [&str; 65] = [
    "already-sent",
    "ambiguous-date",
    "ambiguous-number",
    "apostrophe",
    "as-it-was",
    "beyond-header",
    "blank",
    "blank-cells",
    "blank-column",
    "broken-row",
    "cell-error",
    "check-digit",
    "continues",
    "currency",
    "cut",
    "cut-off",
    "damaged-identifier",
    "disagrees",
    "duplicate",
    "expression",
    "guessed-encoding",
    "hidden-columns",
    "hidden-rows",
    "hidden-sheet",
    "incomplete",
    "keep-where",
    "lacks-zeros",
    "looks-like-a-date",
    "lost-letters",
    "marked-text",
    "may-lack-zero",
    "merged-cells",
    "nearly-the-same",
    "no-group",
    "no-lines",
    "no-name",
    "no-record",
    "no-such-part",
    "not-a-boolean",
    "not-a-date",
    "not-a-number",
    "not-an-address",
    "not-calculated",
    "not-chosen",
    "other-delimiter",
    "out-of-range",
    "pattern",
    "percent-sign",
    "repeated",
    "repeated-header",
    "rows-below",
    "rule",
    "scattered",
    "second-table",
    "skip-where",
    "skipped-before",
    "stray-quote",
    "superseded",
    "swallowed-rows",
    "turned-date",
    "twice-encoded",
    "unknown-reference",
    "unknown-value",
    "unsplit-row",
    "word-in-format",
];

/// Hides internal data of a run.
pub(in crate::report::rows) struct Supplier {
    words: ServiceWords,
}

impl Supplier {
    pub(in crate::report::rows) fn of(run: &Run) -> Supplier {
        let about = &run.about;
        Supplier { words: ServiceWords::new(&about.base_url, &about.workspace, about.record.input()) }
    }

    /// Returns the run without internal data.
    pub(in crate::report::rows) fn run(&self, run: &Run) -> Run {
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
    pub(in crate::report::rows) fn record(&self, record: &RecordResult, cells: &Row) -> RecordResult {
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
        (is_of_sheet(warning) && !warning.is_internal).then(|| {
            let value = match cells {
                Some(cells) => value_of_cell(warning, cells),
                // A warning about the file quotes the file.
                None => warning.value.clone(),
            };
            Problem { value, ..warning.clone() }
        })
    }

    fn problem(&self, problem: &Problem, outcome: &Outcome, cells: &Row) -> Problem {
        let value = value_of_cell(problem, cells);
        let (message, remedy) = match problem.code.as_str() {
            FROM_SERVICE => (self.words.message(&problem.message, outcome, cells), String::new()),
            _ if !is_of_sheet(problem) => ("is not sent for another reason".to_owned(), ASK.to_owned()),
            _ if !problem.is_internal => (problem.message.clone(), problem.remedy.clone()),
            "unknown-value" => ("is not a known value".to_owned(), ASK.to_owned()),
            "expression" | "ambiguous-number" => ("can't be calculated with".to_owned(), ASK.to_owned()),
            // The author of the template wrote this message.
            _ => (problem.message.clone(), ASK.to_owned()),
        };
        let field = match problem.code.as_str() {
            // The service's own words, too.
            FROM_SERVICE if !self.words.is_field(&problem.field) => String::new(),
            _ => problem.field.clone(),
        };
        Problem { field, value, message, remedy, ..problem.clone() }
    }
}

fn is_of_sheet(problem: &Problem) -> bool {
    OF_SHEET.contains(&problem.code.as_str())
}

/// Returns the value of a problem if the cell shows this value. Other values may come from a lookup table or a calculation.
fn value_of_cell(problem: &Problem, cells: &Row) -> String {
    let is_shown = |column| cells.get(column).shown().trim() == problem.value.trim();
    if problem.column.is_some_and(is_shown) { problem.value.clone() } else { String::new() }
}

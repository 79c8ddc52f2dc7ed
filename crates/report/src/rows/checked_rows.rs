//! The rows of a check, for programs.

use serde::Serialize;
use sheetport_findings::Code;
use sheetport_ledger::{Ledger, RecordState, Run};
use sheetport_sheet::{ReportWords, column_letters};

use super::super::error::Error;
use super::super::options::RowFilter;
use super::row::{Fault, ReportRow, Subject, each_row};

/// A row of a checked spreadsheet. The fields are a stable interface.
#[derive(Debug, Serialize)]
pub struct CheckedRow<'a> {
    pub row: u64,
    /// Present if several sheets are read.
    pub sheet: Option<&'a str>,
    pub status: &'static str,
    /// The row with the problem, if it is another row of the same record.
    pub problem_in_row: Option<u64>,
    pub problems: Vec<RowProblem<'a>>,
    pub warnings: Vec<RowProblem<'a>>,
}

/// A problem or a warning of a row.
#[derive(Debug, Serialize)]
pub struct RowProblem<'a> {
    pub code: Code,
    /// Letters of the column; `None` if the cause is not a single cell.
    pub column: Option<String>,
    pub header: &'a str,
    pub field: &'a str,
    pub value: &'a str,
    pub message: &'a str,
    pub remedy: &'a str,
}

/// Calls `take` for each row of a check, in sheet order.
///
/// # Errors
/// Errors of the ledger.
pub async fn each_checked_row(ledger: &Ledger, run: &Run, mut take: impl FnMut(&CheckedRow<'_>)) -> Result<(), Error> {
    let subject = Subject::new(run, false, ReportWords::of(None));
    let taken = each_row(ledger, &subject, RowFilter::All, |row| {
        take(&CheckedRow::of(row));
        Ok(())
    });
    taken.await.map(drop)
}

impl<'a> CheckedRow<'a> {
    fn of(row: &'a ReportRow<'a>) -> CheckedRow<'a> {
        let problems: Vec<RowProblem<'a>> = row.faults.iter().map(|fault| RowProblem::of(fault, row.run)).collect();
        let elsewhere = row.record.outcome.problems.first().and_then(|problem| problem.row);
        CheckedRow {
            row: row.source.number,
            sheet: row.run.about.reads_several_sheets().then_some(row.source.sheet.as_str()),
            status: match row.record.outcome.state {
                RecordState::Pending => "ready",
                RecordState::Rejected => "needs_fixing",
                state => state.name(),
            },
            problem_in_row: elsewhere.filter(|_| problems.is_empty()),
            problems,
            warnings: row.warnings.iter().map(|fault| RowProblem::of(fault, row.run)).collect(),
        }
    }
}

impl<'a> RowProblem<'a> {
    fn of(fault: &Fault<'a>, run: &'a Run) -> RowProblem<'a> {
        let problem = fault.problem;
        let header = fault.column.and_then(|column| run.about.header.get(column)).map_or("", String::as_str);
        RowProblem {
            code: problem.code,
            column: fault.column.map(column_letters),
            header,
            field: &problem.field,
            value: &problem.value,
            message: &problem.message,
            remedy: &problem.remedy,
        }
    }
}

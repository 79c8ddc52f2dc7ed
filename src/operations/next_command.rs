//! Next commands, as shown in summaries and reports.

use std::path::Path;

use crate::ledger::{Accounting, Run, RunState};
use crate::report::Format;

/// Returns the next command after a run, or `None` if the run needs no attention. `report` is the path of the report,
/// written or about to be written.
pub(super) fn after_run(run: &Run, accounting: &Accounting, is_stopped: bool, report: Option<&Path>) -> Option<String> {
    if run.state == RunState::Withheld {
        return Some(after_fixing(run, report));
    }
    if is_stopped || accounting.pending > 0 {
        return Some(format!("sheetport resume {}", run.id));
    }
    if accounting.unknown > 0 {
        return Some(format!("sheetport resolve {}", run.id));
    }
    has_problems(accounting).then(|| after_fixing(run, report))
}

/// Returns the command to run after the rows were fixed: the report is handed back, or written first if there is no
/// editable report.
pub(super) fn after_fixing(run: &Run, report: Option<&Path>) -> String {
    match report.filter(|path| Format::of(path).is_some_and(Format::is_editable)) {
        None => format!("sheetport report {0} -o report-{0}.xlsx --only problems", run.id),
        Some(report) => format!("sheetport retry {}", quoted(&report.display().to_string())),
    }
}

pub(super) fn has_problems(accounting: &Accounting) -> bool {
    accounting.rejected + accounting.failed + accounting.unknown > 0
}

/// Quotes an argument for the usual shell of the system, to prevent expansion and execution.
pub fn quoted(text: &str) -> String {
    let is_plain = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "-_./\\:=,".contains(c));
    if is_plain && (cfg!(windows) || !text.contains('\\')) {
        text.to_owned()
    } else if cfg!(windows) {
        format!("\"{}\"", text.replace('"', "\\\""))
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::quoted;

    #[test]
    fn arguments_are_quoted_so_that_the_shell_executes_no_part_of_them() {
        for (text, word) in [
            ("prices.csv", "prices.csv"),
            ("my prices.csv", "'my prices.csv'"),
            ("$(rm)`x`\"", "'$(rm)`x`\"'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(text), word);
        }
    }
}

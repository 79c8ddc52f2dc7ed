//! The decision about a complete record, and the disposition of one to be sent.

use serde::de::IgnoredAny;
use sheetport_findings::{Code, Command, SkipReason};
use sheetport_ledger::{Disposition, Problem};
use sheetport_mapping::commands::COMMAND;
use sheetport_mapping::map::Gathered;

use super::row::ledger_problem;
use super::source::Source;

/// Rejects a record with any problem, unless its rows say that it is left out. `more` are problems with the rows themselves.
pub(super) fn decided(
    gathered: &mut Gathered,
    more: Vec<Problem>,
    command: Option<Command>,
    source: &Source,
) -> Disposition<()> {
    let is_disputed = gathered.problems.iter().any(|problem| problem.field == COMMAND.name);
    if command == Some(Command::Skip) && !is_disputed {
        return Disposition::Skipped(SkipReason::Command);
    }
    if gathered.problems.is_empty() && more.is_empty() {
        return Disposition::Send(());
    }
    let found = std::mem::take(&mut gathered.problems);
    let mut problems: Vec<Problem> = found.into_iter().map(|found| ledger_problem(found, source)).collect();
    problems.extend(more);
    problems.sort_by_key(|problem| problem.row);
    Disposition::Rejected(problems)
}

/// Returns the disposition of a record to be sent, after checking the body for valid JSON.
pub(crate) fn to_send(body: String) -> Disposition {
    match serde_json::from_str::<IgnoredAny>(&body) {
        Ok(_) => Disposition::Send(body.into_boxed_str()),
        Err(error) => Disposition::Rejected(vec![Problem {
            remedy: "this is a bug in sheetport; please report it".to_owned(),
            ..Problem::of_record(Code::Unsendable, format!("can't be written as JSON: {error}"))
        }]),
    }
}

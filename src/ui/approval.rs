//! What was approved of a plan, and what has moved on since.

use sheetport_findings::Only;
use sheetport_language::say;
use sheetport_ledger::Causes;
use sheetport_operations::{Approval, LeftOutRows};

use super::{counted, heading, hint, problems, remark, thousands};

/// Prints what is sent of a plan, and what is not.
pub fn print(approval: &Approval, talks: bool) {
    let Approval { approved, partly, fields, declined, removed, ignored } = approval;
    if talks {
        let all = counted(approved + declined.records + removed.records, "record");
        remark(say!("{} of {all} approved", thousands(*approved)));
        if *partly > 0 {
            let (partly, fields) = (counted(*partly, "record"), counted(*fields, "field"));
            remark(say!("{partly} sent without {fields} not approved"));
        }
        if declined.records > 0 {
            remark(say!("{} not approved{}", counted(declined.records, "record"), rows(declined)));
        }
        if removed.records > 0 {
            let records = counted(removed.records, "record");
            remark(say!("{records} not approved, because the file has no row of it any more{}", rows(removed)));
        }
    }
    if ignored.records > 0 {
        let records = counted(ignored.records, "record");
        remark(say!("{records} not sent in spite of a yes, because the plan does not send it{}", rows(ignored)));
    }
}

/// Prints the records that are left out because somebody has changed them.
pub fn print_moved(records: u64, causes: &Causes, again: Option<&str>, talks: bool) {
    if talks {
        heading(&say!("Changed in the service since the plan"));
        problems::print(causes);
    }
    remark(say!("{} moved on: changed in the service since the plan, and not sent", counted(records, "record")));
    if let Some(again) = again {
        hint(&say!("to see what would change now: {again}"));
    }
}

/// Prints the records that are left out because only new or known ones are sent. The run may say so, or the rows of the records.
pub fn print_others(only: Only, left_out: &LeftOutRows) {
    let records = counted(left_out.records, "record");
    remark(match only {
        Only::New => say!("{records} left out: to be sent only if new, and in the service already{}", rows(left_out)),
        Only::Known => say!("{records} left out: to be sent only if known, and not in the service{}", rows(left_out)),
    });
}

/// Returns the first rows in brackets.
fn rows(left_out: &LeftOutRows) -> String {
    let LeftOutRows { records, first } = left_out;
    if first.is_empty() {
        return String::new();
    }
    let shown = first.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let more = records.saturating_sub(first.len() as u64);
    let more = if more > 0 { say!(" and {} more", thousands(more)) } else { String::new() };
    match *records {
        1 => say!(" (row {shown})"),
        _ => say!(" (rows {shown}{more})"),
    }
}

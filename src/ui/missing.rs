//! The records that the file of a plan lacks, and why nothing is planned for them.

use sheetport_files::visible::one_line;
use sheetport_language::say;
use sheetport_operations::{NotPlanned, PlannedMissing};
use sheetport_plan::compare::Alike;

use super::{counted, heading, line, problems, style, thousands};

/// Maximum number of shown records with a similar identifier.
const MOST: usize = 10;

/// Prints what is held.
pub fn print(missing: &PlannedMissing) {
    let (doubt, faint) = (style::DOUBT, style::FAINT);
    match &missing.not_planned {
        None => {}
        Some(NotPlanned::TooMany) => line(format_args!("  {doubt}{}{doubt:#}", too_many(missing))),
        Some(NotPlanned::Unreadable(causes)) => {
            heading(&unreadable());
            problems::print(causes);
        }
    }
    if missing.alike.is_empty() {
        return;
    }
    line(format_args!("  {doubt}{}{doubt:#}", alike(missing)));
    for Alike { key, row } in missing.alike.iter().take(MOST) {
        let where_ = match row {
            Some(row) => say!("row {row} has a similar identifier"),
            None => say!("is twice in the service's list"),
        };
        line(format_args!("      {faint}{}{faint:#}  {where_}", one_line(key)));
    }
}

/// Says that there are more than allowed.
pub(super) fn too_many(missing: &PlannedMissing) -> String {
    let PlannedMissing { selected, gone, at_most, .. } = missing;
    let (records, selected) = (counted(*gone, "record"), thousands(*selected));
    say!(
        "Nothing is planned for {records} of {selected} that the file lacks: at most {at_most} are allowed; if that is right: --at-most {gone}"
    )
}

/// Says that it is not known what the file lacks.
pub(super) fn unreadable() -> String {
    say!("Nothing is planned for records that the file lacks, because identifiers of its rows are not known")
}

/// Says that records have similar identifiers.
pub(super) fn alike(missing: &PlannedMissing) -> String {
    let records = counted(missing.alike.len() as u64, "record");
    say!("Nothing is planned for {records} with an identifier that may be confused with another one")
}

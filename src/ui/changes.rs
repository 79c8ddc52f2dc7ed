//! What an upload would change in the service: counts, then each field with its odd changes first.

use sheetport_language::{message, say, word};
use sheetport_ledger::Causes;
use sheetport_operations::WaysBack;
use sheetport_plan::compare::{Difference, FieldChange, OddChange};

use super::{counted, heading, line, problems, style, thousands};

/// Maximum number of characters of a shown value.
const MAX_VALUE: usize = 40;

/// Prints the changes.
pub fn print(difference: &Difference) {
    heading(&say!("Changes in the service"));
    let (faint, good, doubt) = (style::FAINT, style::GOOD, style::DOUBT);
    let why = difference.why_not.as_ref().map(ToString::to_string).unwrap_or_default();
    let counts = counts(difference, message(&why).into_owned());
    for ((count, name, meaning), style) in counts.into_iter().zip([good, good, doubt, faint, faint, doubt, doubt]) {
        if count > 0 {
            line(format_args!("  {style}{:>9}{style:#}  {name:<12} {faint}{meaning}{faint:#}", thousands(count)));
        }
    }
    difference.fields.iter().for_each(print_field);
}

/// Returns the number of records with each kind of change, its name and its meaning. `why_not`: why records were not compared.
pub(super) fn counts(difference: &Difference, why_not: String) -> [(u64, &'static str, String); 7] {
    let Difference { new, changed, gone, unchanged, unclear, missing, not_compared, .. } = *difference;
    [
        (new, word("new"), say!("not in the service yet")),
        (changed, word("changed"), say!("other values in the service")),
        (gone, word("gone"), say!("in the service, and not in the file")),
        (unchanged, word("same"), say!("the same values in the service")),
        (unclear, word("not shown"), say!("the same values where the service shows them")),
        (missing, word("not there"), say!("to be updated, but not in the service")),
        (not_compared, word("not compared"), why_not),
    ]
}

/// Returns what is odd about a change, for people.
pub(super) fn remark(odd: OddChange) -> String {
    match odd {
        OddChange::TenTimes => say!("ten times as large or more"),
        OddChange::TenthOrLess => say!("a tenth or less"),
        OddChange::Zero => say!("0 from now on"),
        OddChange::Blank => say!("blank from now on"),
        OddChange::Far => say!("far from the other changes"),
        OddChange::Status => say!("few others change their status"),
    }
}

/// Prints what taking a run back does to its records, why some of them stay, and the changes by field.
pub fn print_undo(ways: &WaysBack, difference: &Difference, causes: &Causes) {
    heading(&say!("Undo of run {}", ways.of));
    let (faint, good, doubt) = (style::FAINT, style::GOOD, style::DOUBT);
    for (count, name, meaning, style) in [
        (ways.returned, word("returned"), say!("to the values from before the run, or by the opposite movement"), good),
        (ways.partly, word("partly"), say!("of these, with a field that stays as it is"), doubt),
        (ways.kept, word("kept"), say!("edited since by somebody"), doubt),
        (ways.cannot, word("cannot"), say!("can't be taken back"), doubt),
        (ways.as_before, word("as before"), say!("have the values from before the run already"), faint),
        (ways.taken_back_before, word("undone"), say!("taken back before"), faint),
    ] {
        if count > 0 {
            line(format_args!("  {style}{:>9}{style:#}  {name:<12} {faint}{meaning}{faint:#}", thousands(count)));
        }
    }
    difference.fields.iter().for_each(print_field);
    if !causes.is_empty() {
        heading(&say!("What stays"));
        problems::print(causes);
    }
}

fn print_field(change: &FieldChange) {
    let FieldChange { field, records, as_sent, samples, overview, .. } = change;
    let (faint, strong, bad) = (style::FAINT, style::STRONG, style::BAD);
    let records = thousands(*records);
    let usual = match (overview.common_factor(), overview.median()) {
        (Some((factor, count)), _) => say!(", {} of them by the factor {factor:.4}", thousands(count as u64)),
        (None, Some(median)) => say!(", median {:+.1} %", (median - 1.0) * 100.0),
        (None, None) => String::new(),
    };
    line(say!("  {strong}{field}{strong:#}  {records} changed{usual}"));
    for (odd, count) in overview.odd() {
        line(format_args!("      {bad}{}{bad:#} {}", counted(count, "record"), remark(odd)));
    }
    if *as_sent > 0 {
        line(say!("      {faint}the service does not show it: compared with what was sent from here last{faint:#}"));
    }
    for (record, old, new) in samples {
        let (old, new) = (cut(old), cut(new));
        line(format_args!("      {faint}{record}{faint:#}  {old} → {new}"));
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_VALUE) {
        _ if text.is_empty() => word("blank").to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

//! Problems grouped by cause, for the terminal.

use std::collections::BTreeSet;

use sheetport_findings::Asks;
use sheetport_language::{message, say, word};
use sheetport_ledger::{Causes, Group};

use super::{counted, line, style, thousands};

/// Maximum number of printed groups; further groups are counted.
const SHOWN: usize = 20;

/// Minimum width of the number of rows, such as `10 rows`.
const MIN_WIDTH: usize = 7;

/// Prints one line per cause, with the first rows and the fix.
pub fn print(causes: &Causes) {
    let groups = causes.groups();
    let (faint, bad, strong) = (style::FAINT, style::BAD, style::STRONG);
    let how_many = |group: &Group| match group.rows.is_empty() {
        true => word("file").to_owned(),
        false => counted(group.count, "row"),
    };
    let width =
        groups.iter().take(SHOWN).map(|group| how_many(group).chars().count()).max().unwrap_or(0).max(MIN_WIDTH);
    let indent = width + 4;
    for group in groups.iter().take(SHOWN) {
        let problem = &group.problem;
        let place = if problem.header.is_empty() { problem.field.as_str() } else { problem.header.as_str() };
        line(format_args!(
            "  {bad}{:>width$}{bad:#}  {strong}{place}{strong:#}{} {}  {faint}{}{faint:#}",
            how_many(group),
            value(group),
            message(&problem.message),
            rows(group),
        ));
        if !problem.remedy.is_empty() {
            line(format_args!("{:indent$}{faint}{}{faint:#}", "", message(&problem.remedy)));
        }
    }
    let codes: BTreeSet<&str> = groups.iter().take(SHOWN).map(|group| group.problem.code.name()).collect();
    if !codes.is_empty() {
        let codes = codes.into_iter().collect::<Vec<_>>().join(" ");
        line(format_args!("{:indent$}{}", "", say!("{faint}explained by: sheetport help {codes}{faint:#}")));
    }
    let more = groups.len().saturating_sub(SHOWN) as u64;
    if more > 0 || causes.ungrouped > 0 {
        line(say!("  … and {}; a report lists all of them", counted(more + causes.ungrouped, "further cause")));
    }
}

/// Says how rows are sent that were held back for a question.
pub fn print_way_on(causes: &Causes) {
    let groups = causes.groups();
    let asked = groups.iter().map(|group| group.problem.code).filter(|code| code.asks() == Some(Asks::Row));
    let codes: BTreeSet<&str> = asked.map(|code| code.name()).collect();
    if !codes.is_empty() {
        let (faint, indent) = (style::FAINT, MIN_WIDTH + 4);
        let codes = codes.into_iter().collect::<Vec<_>>().join(",");
        line(format_args!(
            "{:indent$}{}",
            "",
            say!("{faint}rows that are right all the same are sent with: --accept {codes}{faint:#}")
        ));
    }
}

fn value(group: &Group) -> String {
    let value = &group.problem.value;
    if value.is_empty() {
        return String::new();
    }
    let shown: String = value.chars().take(40).collect();
    let cut = if shown.len() < value.len() { "…" } else { "" };
    let such_as = if group.count > 1 && !group.problem.code.is_by_value() { word(" such as") } else { "" };
    say!("{such_as} '{shown}{cut}'")
}

fn rows(group: &Group) -> String {
    if group.rows.is_empty() {
        return String::new();
    }
    let rows: Vec<String> = group.rows.iter().map(ToString::to_string).collect();
    let more = group.count.saturating_sub(group.rows.len() as u64);
    let more = if more > 0 { say!(" and {} more", thousands(more)) } else { String::new() };
    let sheet = if group.problem.sheet.is_empty() { String::new() } else { say!(" of '{}'", group.problem.sheet) };
    let row = word(if group.count == 1 { "row" } else { "rows" });
    format!("{row} {}{more}{sheet}", rows.join(", "))
}

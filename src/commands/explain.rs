//! `explain`: how one row becomes a request: its cells, what is done with them, the fields, and what would be sent.
//!
//! What becomes of the row's record is asked of the pass that `check` and `upload` are made of, over the whole file: its
//! other rows and those of other records decide, too.

use anstyle::Style;
use serde_json::{Value, json};

use super::input::InputFile;
use super::{preview, reading, template};
use crate::cli::{Explain, RowName};
use crate::error::{Exit, Failure};
use crate::ledger::{Disposition, PlannedRecord, Problem, RecordState};
use crate::records::Method;
use crate::settings::Settings;
use crate::sheet::{Row, column_letters};
use crate::template::map::explain::{Explained, explain};
use crate::template::model::Place;
use crate::template::{self as mapping, Mapper, Template};
use crate::ui;
use crate::upload::Source;
use crate::upload::plan::{ReadMode, read, survey};

pub fn run(args: &Explain, settings: &Settings) -> Result<Exit, Failure> {
    let template = template::load(&args.input.template)?;
    let file = InputFile::open(&args.input.file)?;
    let source = reading::open(&file, &args.input, &template)?;
    let Some(found) = find(&source, &args.row)? else { return Err(no_such_row(&source, &file, &args.row)) };
    let surveys = survey(&source, &template)?;
    let (Some(sheet), Some(survey)) = (source.parts.get(found.part), surveys.get(found.part)) else {
        return Ok(Exit::Done);
    };
    let mapper = Mapper::new(found.part, &template, &sheet.layout, survey);
    let explained = explain(&mapper, &found.row);
    let outcome = outcome(&source, &template, found.nth)?;
    let exit = match &outcome {
        Outcome::Rejected(_) => Exit::RowsFailed,
        Outcome::Skipped(_) | Outcome::Request { .. } => Exit::Done,
    };
    let shown = Shown { row: &found.row, sheet: &source.sheet_of(sheet), header: &sheet.layout.header.names };
    match settings.output.json {
        true => ui::json(&as_json(&shown, &explained, &outcome)),
        false => print(&shown, &explained, &outcome, &template),
    }
    Ok(exit)
}

/// The row that is asked for.
struct Found {
    part: usize,
    /// Its place among all rows of data, from 0.
    nth: u64,
    row: Row,
}

/// The row as it is shown.
struct Shown<'a> {
    row: &'a Row,
    /// Empty where only one sheet is read.
    sheet: &'a str,
    header: &'a [String],
}

/// What becomes of the record that the row belongs to.
enum Outcome {
    /// Left out: the template says so of the row, or another record with its key counts.
    Skipped(Option<Problem>),
    Request {
        method: Method,
        path: String,
        body: Value,
        rows: Vec<u64>,
    },
    Rejected(Vec<Problem>),
}

fn find(source: &Source, wanted: &RowName) -> Result<Option<Found>, Failure> {
    let mut rows = source.rows();
    let mut row = Row::default();
    let mut nth = 0;
    while let Some(part) = rows.next(&mut row)? {
        let is_there = |sheet: &String| source.parts.get(part).is_some_and(|part| source.name_of(part) == *sheet);
        if row.number == wanted.number && wanted.sheet.as_ref().is_none_or(is_there) {
            return Ok(Some(Found { part, nth, row }));
        }
        nth += 1;
    }
    Ok(None)
}

fn no_such_row(source: &Source, file: &InputFile, wanted: &RowName) -> Failure {
    let sheets: Vec<&str> = source.parts.iter().map(|part| source.name_of(part)).collect();
    let hint = match &wanted.sheet {
        Some(sheet) if !sheets.contains(&sheet.as_str()) => {
            format!("the sheets that are read: {}; --sheet chooses others", sheets.join(", "))
        }
        _ => "rows are counted as the spreadsheet program shows them; the header, blank rows and rows past the end don't count"
            .to_owned(),
    };
    Failure::new(Exit::Usage, format!("row {wanted} of {} is no row of data", file.name.display()), hint)
}

/// What an upload would plan for the record that the row at `nth` belongs to.
fn outcome(source: &Source, template: &Template, nth: u64) -> Result<Outcome, Failure> {
    let (mut rows, mut records) = (0, 0);
    let mut seq = None;
    let mut planned: Option<PlannedRecord> = None;
    let mut taken_back = None;
    read(source, template, ReadMode::Records, |batch| {
        if let Some(place) = nth.checked_sub(rows).and_then(|place| usize::try_from(place).ok()) {
            seq = seq.or(batch.rows.get(place).map(|row| row.seq));
        }
        rows += batch.rows.len() as u64;
        for record in batch.records {
            if seq == Some(records) {
                planned = Some(record);
            }
            records += 1;
        }
        // Taken back again, a record keeps the first problem, as in the ledger.
        for withdrawal in batch.withdrawn {
            if seq == Some(withdrawal.seq) && taken_back.is_none() {
                taken_back = Some((withdrawal.state, withdrawal.problem));
            }
        }
        true
    })?;
    let Some(record) = planned else { return Ok(Outcome::Skipped(None)) };
    Ok(match (taken_back, &record.disposition) {
        (Some((RecordState::Skipped, problem)), _) => Outcome::Skipped(Some(own_column(source, problem))),
        (Some((_, problem)), _) => Outcome::Rejected(vec![own_column(source, problem)]),
        (None, Disposition::Rejected(problems)) => {
            Outcome::Rejected(problems.iter().map(|problem| own_column(source, problem.clone())).collect())
        }
        (None, Disposition::Skipped | Disposition::AcceptedEarlier(_)) => Outcome::Skipped(None),
        (None, Disposition::Send(body)) => {
            let (method, path) =
                preview::call(template.record, &record).expect("a planned record has a call and a path");
            let body = serde_json::from_str(body).unwrap_or(Value::Null);
            Outcome::Request { method, path, body, rows: record.rows }
        }
    })
}

/// The problem at the column of its own sheet, where several sheets have common columns.
fn own_column(source: &Source, problem: Problem) -> Problem {
    let part = source.parts.iter().find(|part| source.sheet_of(part) == problem.sheet);
    let own = |column| {
        let Some(part) = part else { return column };
        (0..=part.layout.width.max(column)).find(|own| part.columns.of(*own) == column).unwrap_or(column)
    };
    Problem { column: problem.column.map(own), ..problem }
}

fn print(shown: &Shown<'_>, explained: &[Explained], record: &Outcome, template: &Template) {
    let (strong, faint, bad) = (ui::style::STRONG, ui::style::FAINT, ui::style::BAD);
    let sheet = of_sheet(shown.sheet);
    ui::line(format_args!("{strong}Row {}{sheet}{strong:#} by the template {}", shown.row.number, template.name));
    for rule in explained {
        let within = if rule.place == Place::Line { "line: " } else { "" };
        let from: Vec<String> = rule
            .cells
            .iter()
            .map(|(column, cell)| {
                let name = shown.header.get(*column).map_or("", |name| name.trim());
                format!("{} {name} '{}'", column_letters(*column), shortened(cell))
            })
            .collect();
        let steps =
            if rule.steps.is_empty() { String::new() } else { format!("  {faint}{}{faint:#}", rule.steps.join(", ")) };
        ui::line(format_args!("  {strong}{within}{}{strong:#}  {}{steps}", rule.field, from.join(" + ")));
        match &rule.value {
            Ok(Some(json)) => ui::line(format_args!("      → {json}")),
            Ok(None) => ui::line(format_args!("      → {faint}left out{faint:#}")),
            Err(problem) => {
                ui::line(format_args!("      {bad}× {}{bad:#}", problem.cause.message()));
                ui::line(format_args!("        {faint}{}{faint:#}", problem.cause.remedy()));
            }
        }
    }
    match record {
        Outcome::Skipped(None) => ui::line("The template leaves this row out."),
        Outcome::Skipped(Some(problem)) => {
            ui::heading("It would be left out");
            told(problem, ui::style::FAINT);
        }
        Outcome::Request { method, path, body, rows } => {
            let rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
            let made = if rows.len() > 1 { format!(" (made of the rows {})", rows.join(", ")) } else { String::new() };
            ui::heading(&format!("What would be sent{made}"));
            ui::line(format_args!("  {strong}{method} {path}{strong:#}"));
            let pretty = serde_json::to_string_pretty(body).unwrap_or_default();
            pretty.lines().for_each(|line| ui::line(format_args!("  {line}")));
        }
        Outcome::Rejected(problems) => {
            ui::heading("Nothing would be sent");
            problems.iter().for_each(|problem| told(problem, bad));
        }
    }
}

fn told(problem: &Problem, style: Style) {
    let faint = ui::style::FAINT;
    let row = problem.row.map_or(String::new(), |row| format!("row {row}{}: ", of_sheet(&problem.sheet)));
    let place = if problem.header.is_empty() { &problem.field } else { &problem.header };
    let value = if problem.value.is_empty() { String::new() } else { format!(" '{}'", shortened(&problem.value)) };
    ui::line(format_args!("  {row}{style}{place}{value} {}{style:#}", problem.message));
    ui::line(format_args!("    {faint}{}{faint:#}", problem.remedy));
}

fn of_sheet(sheet: &str) -> String {
    if sheet.is_empty() { String::new() } else { format!(" of '{sheet}'") }
}

fn as_json(shown: &Shown<'_>, explained: &[Explained], record: &Outcome) -> Value {
    let at_cell = |problem: &mapping::Problem| {
        json!({"row": problem.row, "column": problem.column.map(column_letters), "header": problem.header,
               "field": problem.field, "value": problem.value, "code": problem.cause.code(),
               "message": problem.cause.message(), "remedy": problem.cause.remedy()})
    };
    let problem = |problem: &Problem| {
        json!({"row": problem.row, "sheet": problem.sheet, "column": problem.column.map(column_letters),
               "header": problem.header, "field": problem.field, "value": problem.value, "code": problem.code,
               "message": problem.message, "remedy": problem.remedy})
    };
    let value = |json: &str| serde_json::from_str::<Value>(json).unwrap_or(Value::Null);
    let fields = explained.iter().map(|rule| {
        let cells = rule.cells.iter().map(
            |(column, cell)| json!({"column": column_letters(*column), "header": shown.header.get(*column), "cell": cell}),
        );
        json!({
            "field": rule.field,
            "line": rule.place == Place::Line,
            "cells": cells.collect::<Vec<_>>(),
            "steps": rule.steps,
            "value": rule.value.as_ref().ok().and_then(|json| json.as_deref().map(value)),
            "problem": rule.value.as_ref().err().map(|found| at_cell(found)),
        })
    });
    let (skipped, request, problems) = match record {
        Outcome::Skipped(why) => (true, Value::Null, why.iter().map(problem).collect()),
        Outcome::Request { method, path, body, rows } => {
            (false, json!({"method": method.to_string(), "path": path, "body": body, "rows": rows}), Vec::new())
        }
        Outcome::Rejected(problems) => (false, Value::Null, problems.iter().map(problem).collect()),
    };
    json!({"row": shown.row.number, "sheet": shown.sheet, "fields": fields.collect::<Vec<_>>(), "skipped": skipped, "request": request, "problems": problems})
}

fn shortened(cell: &str) -> String {
    const SHOWN: usize = 50;
    let shown: String = cell.chars().take(SHOWN).collect();
    let cut = if shown.len() < cell.len() { "…" } else { "" };
    format!("{shown}{cut}")
}

//! `explain`: how one row becomes a request: its cells, what is done with them, the fields, and what would be sent.

use serde_json::{Value, json};

use super::input::InputFile;
use super::{reading, template};
use crate::cli::Explain;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::sheet::{Row, column_letters};
use crate::template::explain::{Explained, explain};
use crate::template::map::{Draft, Parts, unquoted};
use crate::template::model::Place;
use crate::template::{Mapper, Problem, Template};
use crate::ui;
use crate::upload::{Source, read};

pub fn run(args: &Explain, settings: &Settings) -> Result<Exit, Failure> {
    let template = template::load(&args.input.template)?;
    let file = InputFile::open(&args.input.file)?;
    let source = reading::open(&file, &args.input, &template)?;
    let surveys = read::survey(&source, &template)?;
    let Some((part, row)) = row(&source, args.row)? else {
        return Err(Failure::new(
            Exit::Usage,
            format!("row {} of {} is no row of data", args.row, file.name.display()),
            "rows are counted as the spreadsheet program shows them; the header, blank rows and rows past the end don't count",
        ));
    };
    let (Some(sheet), Some(survey)) = (source.parts.get(part), surveys.get(part)) else { return Ok(Exit::Done) };
    let mapper = Mapper::new(part, &template, &sheet.layout, survey);
    let explained = explain(&mapper, &row);
    let record = record(&source, part, &mapper, &row)?;
    let exit = match &record {
        Outcome::Rejected(_) => Exit::RowsFailed,
        Outcome::Skipped | Outcome::Request { .. } => Exit::Done,
    };
    match settings.output.json {
        true => ui::json(&as_json(&row, &explained, &record, &sheet.layout.header.names)),
        false => print(&row, &explained, &record, &sheet.layout.header.names, &template),
    }
    Ok(exit)
}

/// What becomes of the record that the row belongs to.
enum Outcome {
    Skipped,
    Request { method: &'static str, path: String, body: Value, rows: Vec<u64> },
    Rejected(Vec<Problem>),
}

fn row(source: &Source, wanted: u64) -> Result<Option<(usize, Row)>, Failure> {
    let mut rows = source.rows();
    let mut row = Row::default();
    while let Some(part) = rows.next(&mut row)? {
        if row.number == wanted {
            return Ok(Some((part, row)));
        }
    }
    Ok(None)
}

/// Puts the record together, from all of its rows.
fn record(source: &Source, part: usize, mapper: &Mapper<'_>, row: &Row) -> Result<Outcome, Failure> {
    let mut draft = Draft::default();
    mapper.map(row, &mut draft);
    if draft.is_skipped {
        return Ok(Outcome::Skipped);
    }
    let mut parts = draft.parts.kept();
    if mapper.template().group.is_some() {
        let mut wanted = String::new();
        grouped(source, part, mapper, |number, group, _| {
            if number == row.number {
                group.clone_into(&mut wanted);
            }
        })?;
        let mut whole: Option<Parts> = None;
        grouped(source, part, mapper, |number, group, found| match &mut whole {
            _ if group != wanted || wanted.is_empty() && number != row.number => {}
            Some(whole) => mapper.merge(whole, found),
            None => whole = Some(found.kept()),
        })?;
        parts = whole.unwrap_or(parts);
    }
    let input = mapper.template().record.input();
    let target = mapper.finish(&mut parts).target.map(|json| unquoted(json).into_owned());
    if !parts.problems.is_empty() {
        return Ok(Outcome::Rejected(parts.problems));
    }
    let mut body = Vec::new();
    mapper.body(&parts, &mut body);
    let call = input.call(target.is_some());
    Ok(Outcome::Request {
        method: call.map_or("", |call| call.method),
        path: call.and_then(|call| call.path(target.as_deref().unwrap_or_default())).unwrap_or_default(),
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        rows: parts.rows,
    })
}

/// Goes through all rows of a sheet: each one's number, the name of its group, and what it says of the record.
fn grouped(
    source: &Source,
    part: usize,
    mapper: &Mapper<'_>,
    mut each: impl FnMut(u64, &str, &Parts),
) -> Result<(), Failure> {
    let blank_is_above = mapper.template().group.as_ref().is_some_and(|group| group.blank_is_above);
    let mut draft = Draft::default();
    let mut last = String::new();
    let mut rows = source.rows();
    let mut row = Row::default();
    while let Some(of) = rows.next(&mut row)? {
        if of != part {
            continue;
        }
        mapper.map(&row, &mut draft);
        if draft.is_skipped {
            continue;
        }
        if !(draft.group.is_empty() && blank_is_above) {
            last.clone_from(&draft.group);
        }
        each(row.number, &last, &draft.parts);
    }
    Ok(())
}

fn print(row: &Row, explained: &[Explained], record: &Outcome, header: &[String], template: &Template) {
    let (strong, faint, bad) = (ui::style::STRONG, ui::style::FAINT, ui::style::BAD);
    ui::line(format_args!("{strong}Row {}{strong:#} by the template {}", row.number, template.name));
    for rule in explained {
        let within = if rule.place == Place::Line { "line: " } else { "" };
        let from: Vec<String> = rule
            .cells
            .iter()
            .map(|(column, cell)| {
                let name = header.get(*column).map_or("", |name| name.trim());
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
        Outcome::Skipped => ui::line("The template leaves this row out."),
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
            for problem in problems {
                let place = if problem.header.is_empty() { problem.field } else { &problem.header };
                ui::line(format_args!("  row {}: {bad}{place} {}{bad:#}", problem.row, problem.cause.message()));
                ui::line(format_args!("    {faint}{}{faint:#}", problem.cause.remedy()));
            }
        }
    }
}

fn as_json(row: &Row, explained: &[Explained], record: &Outcome, header: &[String]) -> Value {
    let problem = |problem: &Problem| {
        json!({"row": problem.row, "column": problem.column.map(column_letters), "header": problem.header,
               "field": problem.field, "value": problem.value, "code": problem.cause.code(),
               "message": problem.cause.message(), "remedy": problem.cause.remedy()})
    };
    let value = |json: &str| serde_json::from_str::<Value>(json).unwrap_or(Value::Null);
    let fields = explained.iter().map(|rule| {
        let cells = rule.cells.iter().map(
            |(column, cell)| json!({"column": column_letters(*column), "header": header.get(*column), "cell": cell}),
        );
        json!({
            "field": rule.field,
            "line": rule.place == Place::Line,
            "cells": cells.collect::<Vec<_>>(),
            "steps": rule.steps,
            "value": rule.value.as_ref().ok().and_then(|json| json.as_deref().map(value)),
            "problem": rule.value.as_ref().err().map(|found| problem(found)),
        })
    });
    let (skipped, request, problems) = match record {
        Outcome::Skipped => (true, Value::Null, Vec::new()),
        Outcome::Request { method, path, body, rows } => {
            (false, json!({"method": method, "path": path, "body": body, "rows": rows}), Vec::new())
        }
        Outcome::Rejected(problems) => (false, Value::Null, problems.iter().map(problem).collect()),
    };
    json!({"row": row.number, "fields": fields.collect::<Vec<_>>(), "skipped": skipped, "request": request, "problems": problems})
}

fn shortened(cell: &str) -> String {
    const SHOWN: usize = 50;
    let shown: String = cell.chars().take(SHOWN).collect();
    let cut = if shown.len() < cell.len() { "…" } else { "" };
    format!("{shown}{cut}")
}

//! `explain`: shows how a row becomes a request: cells, conversion, fields and body.

use serde_json::{Value, json};
use sheetport_language::{message, say};
use sheetport_ledger::Problem;
use sheetport_mapping as mapping;
use sheetport_mapping::map::explain::Explained;
use sheetport_mapping::model::Place;
use sheetport_operations::{self as operations, ExplainedRecord, Explanation, PlannedOutcome, PreviewedRequest};
use sheetport_sheet::column_letters;

use super::{explain_column, shortened};
use crate::cli::Explain;
use crate::commands::input::{Purpose, open, spreadsheet};
use crate::error::{ErrorCode, Exit, Failure};
use crate::settings::Settings;
use crate::ui;
use crate::ui::style::Style;

pub(in crate::commands) async fn run(args: &Explain, settings: &Settings) -> Result<Exit, Failure> {
    let file = open(&args.input.file, settings).await?;
    let input = spreadsheet(&file, &args.input, Purpose::Looking, settings).await?;
    if let Some(column) = &args.column {
        let explanation = operations::explain_column(&input, column)?;
        match settings.output.json {
            true => ui::json(&explain_column::as_json(&explanation)),
            false => explain_column::print(&explanation),
        }
        return Ok(Exit::Done);
    }
    let nothing_asked =
        || Failure::new(ErrorCode::Usage, "nothing is asked for", "name a row with --row, or a column with --column");
    let row = args.row.as_ref().ok_or_else(nothing_asked)?;
    let explanation = operations::explain(&input, row)?;
    match settings.output.json {
        true => ui::json(&as_json(&explanation)),
        false => print(&explanation, &input.template.name),
    }
    let is_rejected = |record: &ExplainedRecord| matches!(record.outcome, PlannedOutcome::Rejected(_));
    Ok(if explanation.records.iter().any(is_rejected) { Exit::RowsFailed } else { Exit::Done })
}

fn print(explanation: &Explanation, template: &str) {
    let strong = ui::style::STRONG;
    let (row, sheet) = (explanation.row, of_sheet(&explanation.sheet));
    ui::line(say!("{strong}Row {row}{sheet}{strong:#}, mapped by the template {template}"));
    if !explanation.group.is_empty() {
        let cells = with_cells(&explanation.group, &explanation.header);
        ui::line(say!("  {strong}group{strong:#}  {cells}"));
    }
    for record in &explanation.records {
        if let Some(cell) = record.cell {
            let name = explanation.header.get(cell).map_or("", |name| name.trim());
            ui::heading(&say!("{} {name}", column_letters(cell)));
        }
        record.fields.iter().for_each(|field| print_field(field, &explanation.header));
        print_outcome(&record.outcome);
    }
}

fn print_outcome(outcome: &PlannedOutcome) {
    let strong = ui::style::STRONG;
    match outcome {
        PlannedOutcome::Skipped(None) => ui::line(say!("Nothing is sent for this row.")),
        PlannedOutcome::Skipped(Some(problem)) => {
            ui::heading(&say!("The record would be skipped"));
            print_problem(problem, ui::style::FAINT);
        }
        PlannedOutcome::Request { request, rows } => {
            let PreviewedRequest { method, path, body, .. } = request;
            let rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
            let from = if rows.len() > 1 { say!(" (from rows {})", rows.join(", ")) } else { String::new() };
            ui::heading(&say!("Request{from}"));
            ui::line(say!("  {strong}{method} {path}{strong:#}"));
            let body = format!("{:#}", parsed(body));
            body.lines().for_each(|line| ui::line(say!("  {line}")));
            super::print_lookups(std::slice::from_ref(request));
        }
        PlannedOutcome::Rejected(problems) => {
            ui::heading(&say!("The record would not be sent"));
            problems.iter().for_each(|problem| print_problem(problem, ui::style::BAD));
        }
    }
}

fn print_field(field: &Explained, header: &[String]) {
    let (strong, faint, bad) = (ui::style::STRONG, ui::style::FAINT, ui::style::BAD);
    let line = if field.place == Place::Line { "line: " } else { "" };
    let steps = field.steps.join(", ");
    let steps = if steps.is_empty() { String::new() } else { format!("  {faint}{steps}{faint:#}") };
    ui::line(say!("  {strong}{line}{}{strong:#}  {}{steps}", field.field, with_cells(&field.cells, header)));
    match &field.value {
        Ok(Some(json)) => ui::line(say!("      → {json}")),
        Ok(None) => ui::line(say!("      → {faint}omitted{faint:#}")),
        Err(problem) => {
            ui::line(say!("      {bad}× {}{bad:#}", message(&problem.cause.message())));
            ui::line(say!("        {faint}{}{faint:#}", message(&problem.cause.remedy())));
        }
    }
}

/// Formats columns with their cells for people.
fn with_cells(cells: &[(usize, String)], header: &[String]) -> String {
    let cell = |(column, cell): &(usize, String)| {
        let name = header.get(*column).map_or("", |name| name.trim());
        format!("{} {name} '{}'", column_letters(*column), shortened(cell))
    };
    cells.iter().map(cell).collect::<Vec<_>>().join(" + ")
}

fn print_problem(problem: &Problem, style: Style) {
    let faint = ui::style::FAINT;
    let row = problem.row.map_or(String::new(), |row| say!("row {row}{}: ", of_sheet(&problem.sheet)));
    let place = if problem.header.is_empty() { &problem.field } else { &problem.header };
    let value = if problem.value.is_empty() { String::new() } else { format!(" '{}'", shortened(&problem.value)) };
    ui::line(say!("  {row}{style}{place}{value} {}{style:#}", message(&problem.message)));
    ui::line(say!("    {faint}{}{faint:#}", message(&problem.remedy)));
}

fn of_sheet(sheet: &str) -> String {
    if sheet.is_empty() { String::new() } else { say!(" of '{sheet}'") }
}

fn as_json(explanation: &Explanation) -> Value {
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
    let header = &explanation.header;
    let cells = |cells: &[(usize, String)]| -> Vec<Value> {
        let cell = |(column, cell): &(usize, String)| json!({"column": column_letters(*column), "header": header.get(*column), "cell": cell});
        cells.iter().map(cell).collect()
    };
    let field = |field: &Explained| {
        json!({
            "field": field.field,
            "line": field.place == Place::Line,
            "cells": cells(&field.cells),
            "steps": field.steps,
            "value": field.value.as_ref().ok().and_then(|json| json.as_deref().map(parsed)),
            "problem": field.value.as_ref().err().map(|found| at_cell(found)),
        })
    };
    let as_record = |record: &ExplainedRecord| {
        let (skipped, request, problems) = match &record.outcome {
            PlannedOutcome::Skipped(why) => (true, Value::Null, why.iter().map(problem).collect()),
            PlannedOutcome::Request { request: PreviewedRequest { method, path, body, .. }, rows } => {
                let request = json!({"method": method.to_string(), "path": path, "body": parsed(body), "rows": rows});
                (false, request, Vec::new())
            }
            PlannedOutcome::Rejected(problems) => (false, Value::Null, problems.iter().map(problem).collect()),
        };
        let fields: Vec<Value> = record.fields.iter().map(field).collect();
        json!({"fields": fields, "skipped": skipped, "request": request, "problems": problems})
    };
    let mut explained = json!({"row": explanation.row, "sheet": explanation.sheet, "group": cells(&explanation.group)});
    match explanation.records.as_slice() {
        [record] if record.cell.is_none() => {
            let record = as_record(record);
            record.as_object().into_iter().flatten().for_each(|(key, value)| explained[key] = value.clone());
        }
        records => {
            let of_cell = |record: &ExplainedRecord| {
                let mut of_cell = as_record(record);
                of_cell["cell"] = json!(record.cell.map(column_letters));
                of_cell
            };
            explained["records"] = records.iter().map(of_cell).collect();
        }
    }
    explained
}

fn parsed(json: &str) -> Value {
    serde_json::from_str(json).expect("the template makes valid JSON")
}

//! `explain --column`: what is known about the values of a column.

use serde_json::{Value, json};
use sheetport_language::{message, say};
use sheetport_operations::ColumnExplanation;
use sheetport_sheet::column_letters;

use super::shortened;
use crate::ui;

/// Shapes that are printed. More are counted.
const SHOWN: usize = 12;

pub(super) fn print(explanation: &ColumnExplanation) {
    let (strong, faint, bad) = (ui::style::STRONG, ui::style::FAINT, ui::style::BAD);
    let ColumnExplanation { column, header, fields, profile, .. } = explanation;
    let letters = column_letters(*column);
    let fields = match fields.as_slice() {
        [] => say!("not used"),
        fields => format!("→ {}", fields.join(", ")),
    };
    ui::line(say!("{strong}Column {letters} {header}{strong:#}  {fields}"));
    ui::line(say!("  {} filled, {} blank", ui::counted(profile.filled, "cell"), ui::thousands(profile.blank)));
    if !profile.shapes.is_empty() {
        ui::heading(&say!("Shapes"));
    }
    for shape in profile.shapes.iter().take(SHOWN) {
        let (cells, example, row) = (ui::thousands(shape.cells), shortened(&shape.example), shape.row);
        ui::line(say!("  {cells:>9}  {strong}{}{strong:#}  {faint}'{example}', row {row}{faint:#}", shape.shape));
    }
    let hidden = profile.shapes.iter().skip(SHOWN).map(|shape| shape.cells).sum::<u64>() + profile.other_shapes;
    if hidden > 0 {
        ui::line(say!("  {:>9}  {faint}of other shapes{faint:#}", ui::thousands(hidden)));
    }
    if !profile.calculations.is_empty() {
        ui::heading(&say!("Calculations"));
    }
    for calculation in &profile.calculations {
        let (holds, rows) = (ui::thousands(calculation.holds), ui::counted(calculation.rows, "row"));
        let (example, row) = (&calculation.example, calculation.row);
        ui::line(say!("  {strong}{example}{strong:#} in row {row}: so in {holds} of {rows}"));
    }
    if profile.finding_count > 0 {
        ui::heading(&say!("Unlike the other rows"));
    }
    for (row, finding) in &profile.findings {
        let (value, what) = (shortened(&finding.value), message(&finding.message));
        ui::line(say!("  row {row}: {bad}'{value}' {what}{bad:#}"));
    }
    let more = profile.finding_count - profile.findings.len() as u64;
    if more > 0 {
        ui::line(say!("  … and {} more", ui::counted(more, "row")));
    }
}

pub(super) fn as_json(explanation: &ColumnExplanation) -> Value {
    let ColumnExplanation { column, header, sheet, fields, profile } = explanation;
    let shapes = profile
        .shapes
        .iter()
        .map(|shape| json!({"shape": shape.shape, "cells": shape.cells, "example": shape.example, "row": shape.row}));
    let calculations = profile
        .calculations
        .iter()
        .map(|it| json!({"example": it.example, "row": it.row, "rows": it.rows, "holds": it.holds}));
    let findings = profile.findings.iter().map(|(row, finding)| {
        json!({"row": row, "code": finding.code, "value": finding.value, "message": finding.message,
               "remedy": finding.remedy, "is_warning": finding.is_warning})
    });
    json!({
        "column": column_letters(*column),
        "header": header,
        "sheet": sheet,
        "fields": fields,
        "filled": profile.filled,
        "blank": profile.blank,
        "shapes": shapes.collect::<Vec<_>>(),
        "other_shapes": profile.other_shapes,
        "calculations": calculations.collect::<Vec<_>>(),
        "findings": findings.collect::<Vec<_>>(),
        "finding_count": profile.finding_count,
    })
}

//! Checking of the examples inside templates.

use serde_json::{Map, Value};
use sheetport_sheet::cell::column_index;
use sheetport_sheet::{Cell, Row, column_letters, write};
use sheetport_values::decimal;

use super::bind::{Header, bind_header};
use super::map::fill_down::Filler;
use super::map::survey::Surveyor;
use super::map::{Draft, Gathered, Mapper, RowKind, unquoted};
use super::model::{ColumnName, Example, ExampleCell, HeaderRow, Template, UnpivotColumns};

/// An example with an unexpected result.
#[derive(Debug)]
pub struct Mismatch {
    /// Position in the template, from 1.
    pub number: usize,
    pub expected: String,
    pub got: String,
}

/// Runs all examples and returns the failures.
pub fn run(template: &Template) -> Vec<Mismatch> {
    let examples = template.examples.iter().enumerate();
    examples
        .filter_map(|(index, example)| {
            check(template, example).err().map(|(expected, got)| Mismatch { number: index + 1, expected, got })
        })
        .collect()
}

fn check(template: &Template, example: &Example) -> Result<(), (String, String)> {
    let expected = example.sends.iter().cloned().map(Value::Object).collect::<Vec<_>>();
    let shown = |records: &[Value]| records.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
    match sends(template, example) {
        Ok(records) if same(&Value::Array(records.clone()), &Value::Array(expected.clone())) => Ok(()),
        Ok(records) => Err((shown(&expected), shown(&records))),
        Err(got) => Err((shown(&expected), got)),
    }
}

/// Maps the rows of an example. Returns the record, or the records in the cells of a row, or the reason for a failure.
pub fn sends(template: &Template, example: &Example) -> Result<Vec<Value>, String> {
    let (header, mut rows) = sheet(template, example)?;
    let layout = bind_header(template, header).map_err(|missing| {
        let columns: Vec<String> = missing.columns.iter().map(ToString::to_string).collect();
        columns.join("; ")
    })?;
    // As in the rows of an export.
    if layout.is_defused {
        rows.iter_mut().for_each(|row| row.replace_texts(write::restore));
    }
    let mut filler = Filler::new(&layout);
    rows.iter_mut().for_each(|row| filler.row(row));
    let mut surveyor = Surveyor::new(template, &layout);
    rows.iter().for_each(|row| surveyor.row(row));
    let survey = surveyor.survey();
    let Some(unpivot) = template.unpivot.as_ref().filter(|_| !layout.cells.is_empty()) else {
        return record(&Mapper::new(0, template, &layout, &survey), &rows).map(|record| vec![record]);
    };
    let mut records = Vec::new();
    for row in &rows {
        let cells = layout.cells.iter().zip(layout.of_each_cell());
        for (_, layout) in cells.filter(|(cell, _)| !unpivot.skips(&row.get(cell.column))) {
            let mapper = Mapper::new(0, template, &layout, &survey);
            records.push(record(&mapper, std::slice::from_ref(row))?);
        }
    }
    Ok(records)
}

/// Maps the rows of a record.
fn record(mapper: &Mapper<'_>, rows: &[Row]) -> Result<Value, String> {
    let template = mapper.template();
    let mut draft = Draft::default();
    let mut whole: Option<Gathered> = None;
    for row in rows {
        mapper.map(row, &mut draft);
        match &mut whole {
            _ if matches!(draft.kind, RowKind::Skipped(_)) => {}
            Some(gathered) => mapper.merge(gathered, &draft.gathered),
            None => whole = Some(draft.gathered.kept()),
        }
    }
    let Some(mut gathered) = whole else { return Err("the row is skipped".to_owned()) };
    let id = mapper.finish(&mut gathered).target.map(|json| unquoted(json).into_owned());
    if !gathered.problems.is_empty() {
        let problems = gathered.problems.iter().map(|p| format!("{} '{}' {}", p.field, p.value, p.cause.message()));
        return Err(problems.collect::<Vec<_>>().join("; "));
    }
    let mut body = String::new();
    mapper.body(&gathered, &mut body);
    let body: Map<String, Value> = serde_json::from_str(&body).map_err(|error| error.to_string())?;
    Ok(Value::Object(side_by_side(template, body, id)))
}

/// Converts a request to the form of an example: the path's identifier and the members of the body in one table.
fn side_by_side(template: &Template, body: Map<String, Value>, target: Option<String>) -> Map<String, Value> {
    let input = template.input();
    let mut record = Map::new();
    for (name, value) in body {
        match value {
            Value::Object(inner) if input.member() == Some(name.as_str()) => record.extend(inner),
            value => {
                record.insert(name, value);
            }
        }
    }
    let has_id = |id: &str| template.fields.iter().any(|rule| rule.field.name == id);
    let is_other = |target: &String| record.get("externalId").and_then(Value::as_str) != Some(target);
    if let (Some(id), Some(target)) = (&input.id, target.filter(is_other))
        && has_id(id.name)
    {
        record.insert(id.name.to_owned(), Value::String(target));
    }
    record
}

/// Returns a header with all columns of the example, and the rows.
fn sheet(template: &Template, example: &Example) -> Result<(Header, Vec<Row>), String> {
    let mut names: Vec<String> = Vec::new();
    if template.sheet.header == HeaderRow::None {
        let last = example.rows.iter().flatten().map(|(name, _)| position(name)).collect::<Result<Vec<_>, _>>()?;
        names = (0..last.into_iter().max().map_or(0, |last| last + 1)).map(column_letters).collect();
    } else {
        for (name, _) in example.rows.iter().flatten() {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        // Omitted cells are blank.
        let unpivoted = template.unpivot.as_ref().map(|unpivot| &unpivot.columns);
        if let Some(UnpivotColumns::Named(columns)) = unpivoted {
            for wanted in columns {
                let has = |name: &String| wanted.iter().any(|other| other.is_same(&ColumnName::Named(name.clone())));
                if let (Some(ColumnName::Named(first)), false) = (wanted.first(), names.iter().any(has)) {
                    names.push(first.clone());
                }
            }
        }
    }
    let is_same = |index: usize, name: &str| match template.sheet.header {
        HeaderRow::None => position(name) == Ok(index),
        _ => names.get(index).is_some_and(|other| other == name),
    };
    let row = |(number, cells): (u64, &Vec<(String, ExampleCell)>)| {
        let mut row = Row::default();
        row.clear(number);
        for index in 0..names.len() {
            let cell = cells.iter().find(|(name, _)| is_same(index, name)).map(|(_, cell)| cell);
            row.push(match cell {
                None => Cell::Blank,
                Some(ExampleCell::Text(text)) => Cell::Text(text),
                Some(ExampleCell::Number(number)) => Cell::Number(*number),
                Some(ExampleCell::Boolean(boolean)) => Cell::Boolean(*boolean),
            });
        }
        row
    };
    let rows = (2..).zip(&example.rows).map(row).collect();
    Ok((Header { row: 1, names }, rows))
}

/// Returns the index of a column in a sheet without a header.
fn position(name: &str) -> Result<usize, String> {
    let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let found = number.or_else(|| column_index(name));
    found.ok_or_else(|| format!("'{name}' is not a column of a sheet without a header; write letters or a number"))
}

/// Compares JSON values, numbers by value: `1234.5` equals `1234.50`.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            decimal::canonical(left.as_str()) == decimal::canonical(right.as_str())
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, value)| right.get(name).is_some_and(|other| same(value, other)))
        }
        _ => left == right,
    }
}

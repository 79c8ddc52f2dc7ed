//! Runs a template's own examples, so that a template says what it does and is held to it.

use serde_json::{Map, Value};

use super::bind::bind;
use super::map::{Mapped, Mapper};
use super::model::{Example, ExampleCell, Template};
use crate::sheet::{Cell, Row};

/// An example that does not come out as it says.
#[derive(Debug)]
pub struct Mismatch {
    /// From 1, in the template's order.
    pub number: usize,
    pub expected: String,
    pub got: String,
}

/// Every example that fails.
pub fn run(template: &Template) -> Vec<Mismatch> {
    let examples = template.examples.iter().enumerate();
    examples
        .filter_map(|(index, example)| {
            check(template, example).err().map(|(expected, got)| Mismatch { number: index + 1, expected, got })
        })
        .collect()
}

fn check(template: &Template, example: &Example) -> Result<(), (String, String)> {
    let expected = Value::Object(example.sends.clone()).to_string();
    let mut header = Row::default();
    header.clear(1);
    let mut row = Row::default();
    row.clear(2);
    for (column, cell) in &example.row {
        header.push(Cell::Text(column));
        row.push(match cell {
            ExampleCell::Text(text) => Cell::Text(text),
            ExampleCell::Number(number) => Cell::Number(*number),
            ExampleCell::Boolean(boolean) => Cell::Boolean(*boolean),
        });
    }
    let layout = bind(template, &[header]).map_err(|missing| {
        let columns: Vec<String> = missing.columns.iter().map(ToString::to_string).collect();
        (expected.clone(), columns.join("; "))
    })?;
    let got = match Mapper::new(template, &layout).map(&row) {
        Mapped::Record { body, .. } => body,
        Mapped::Skipped => "the row is skipped".to_owned(),
        Mapped::Rejected { problems, .. } => {
            let problems = problems.iter().map(|p| format!("{} '{}' {}", p.field, p.value, p.cause.message()));
            problems.collect::<Vec<_>>().join("; ")
        }
    };
    match serde_json::from_str::<Map<String, Value>>(&got) {
        Ok(body) if equal(&body, &example.sends) => Ok(()),
        _ => Err((expected, got)),
    }
}

/// Numbers are compared by value: an example's `1234.5` means the sheet's `1.234,50`.
fn equal(left: &Map<String, Value>, right: &Map<String, Value>) -> bool {
    left.len() == right.len()
        && left.iter().all(|(name, value)| right.get(name).is_some_and(|other| same(value, other)))
}

fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        _ => left == right,
    }
}

//! Explanation of a row: the cells, steps and result of each rule.

use sheetport_records::JsonType;
use sheetport_sheet::Row;
use sheetport_values::number::Percent;

use super::super::bind::{Columns, NumberedLine};
use super::super::model::{FieldRule, OnBlank, Otherwise, Place, Source, Translate};
use super::super::problem::Problem;
use super::mapper::{Draft, Mapper};

/// A rule applied to a row.
#[derive(Debug)]
pub struct Explained {
    pub field: &'static str,
    pub place: Place,
    /// Column indexes, each with the text of the cell.
    pub cells: Vec<(usize, String)>,
    /// Descriptions of the steps, in order.
    pub steps: Vec<String>,
    /// The JSON value, or `None` if the field is omitted.
    pub value: Result<Option<String>, Box<Problem>>,
}

/// Applies every rule of the template to one row.
pub fn explain(mapper: &Mapper<'_>, row: &Row) -> Vec<Explained> {
    let (template, layout) = (mapper.template(), mapper.layout());
    let mut draft = Draft::default();
    mapper.map(row, &mut draft);
    let beside_amounts = mapper.currency_of_amounts(&draft.gathered);
    let explained = |index: usize, rule: &FieldRule, columns: &Columns| {
        let (mut steps, mut value) = (steps(rule), mapper.try_rule(index, columns, row));
        if let (true, Ok(None), Some(currency)) = (rule.field.is_currency(), &value, beside_amounts) {
            steps.push("written beside the amounts, or the default of the sheet".to_owned());
            value = Ok(Some(format!("\"{}\"", currency.as_str())));
        }
        Explained { field: rule.field.name, place: rule.place, cells: mapper.cells(columns, row), steps, value }
    };
    let rules = template.rules().zip(&layout.columns).enumerate();
    let of_row: Vec<Explained> = rules.map(|(index, (rule, columns))| explained(index, rule, columns)).collect();
    let is_filled = |line: &&NumberedLine| line.own.iter().any(|column| !mapper.cell(row, *column).is_blank());
    let mut lines = layout.numbered_lines.iter().filter(is_filled).peekable();
    if lines.peek().is_none() {
        return of_row;
    }
    let mut all: Vec<Explained> = of_row.into_iter().take(template.fields.len()).collect();
    for line in lines {
        let rules = (template.fields.len()..).zip(template.lines.iter().zip(&line.columns));
        all.extend(rules.map(|(index, (rule, columns))| explained(index, rule, columns)));
    }
    all
}

/// Describes the steps of a rule in order.
fn steps(rule: &FieldRule) -> Vec<String> {
    let mut steps = Vec::new();
    match &rule.source {
        Source::Constant(_) => steps.push("set by the template".to_owned()),
        Source::Joined { .. } if rule.compares_several_columns() => {}
        Source::Joined { with, .. } => steps.push(format!("joined with '{with}'")),
        Source::Text { written, .. } => steps.push(written.clone()),
        Source::Column(_) => {}
    }
    if rule.trim {
        steps.push("trimmed".to_owned());
    }
    if let Some(clear) = &rule.clear {
        steps.push(format!("'{clear}' clears it"));
    }
    match &rule.on_blank {
        OnBlank::Omit => {}
        OnBlank::Null => steps.push("null if blank".to_owned()),
        OnBlank::Error => steps.push("must not be blank".to_owned()),
        OnBlank::Default(_) => steps.push("default if blank".to_owned()),
    }
    for replace in &rule.replace {
        steps.push(format!("every {} is replaced by '{}'", replace.pattern, replace.with));
    }
    if let Some(split) = &rule.split {
        steps.push(format!("part {} when split at '{}'", split.take, split.at));
    }
    match &rule.translate {
        Some(Translate::Map(map)) => steps.push(format!("translated by a map of {} values", map.entries.len())),
        Some(Translate::Lookup(lookup)) => steps.push(format!("looked up in a table of {} rows", lookup.len())),
        None => {}
    }
    match &rule.otherwise {
        Otherwise::Error => {}
        Otherwise::Keep => steps.push("other values are kept".to_owned()),
        Otherwise::Value(_) => steps.push("other values become the one in otherwise".to_owned()),
    }
    match rule.field.json {
        JsonType::Number | JsonType::Integer => {
            if let Some(locale) = rule.number.locale {
                steps.push(format!("a number with '{}' as its decimal separator", locale.decimal));
            }
            match rule.number.percent {
                Some(Percent::Whole) => steps.push("19% is 19".to_owned()),
                Some(Percent::Fraction) => steps.push("19% is 0.19".to_owned()),
                None => {}
            }
            steps.extend(rule.number.scale.map(|factor| format!("multiplied by {factor}")));
            steps.extend(rule.number.round.map(|places| format!("rounded to {places} decimals")));
        }
        JsonType::DateTime => {
            let patterns: Vec<&str> = rule.date.formats.iter().map(|format| format.pattern()).collect();
            if !patterns.is_empty() {
                steps.push(format!("a date written as {}", patterns.join(" or ")));
            }
            if let Some(name) = rule.date.time_zone.as_ref().and_then(|zone| zone.iana_name()) {
                steps.push(format!("times in the zone {name}"));
            }
        }
        JsonType::Boolean => steps.push("yes or no".to_owned()),
        JsonType::String | JsonType::Strings | JsonType::Object(_) | JsonType::Objects(_) => {}
    }
    if !rule.checks.allowed.is_empty() {
        steps.push(format!("one of {}", rule.checks.allowed.join(", ")));
    }
    steps.extend(rule.checks.pattern.as_ref().map(|pattern| format!("must match {pattern}")));
    steps.extend(rule.checks.check.map(|scheme| format!("the check digit of {} must be right", scheme.name)));
    if rule.checks.is_unique {
        let among = if rule.place == Place::Line { "the lines of the record" } else { "all records" };
        steps.push(format!("must be unique among {among}"));
    }
    steps.extend(rule.checks.minimum.as_ref().map(|bound| format!("at least {bound}")));
    steps.extend(rule.checks.maximum.as_ref().map(|bound| format!("at most {bound}")));
    steps
}

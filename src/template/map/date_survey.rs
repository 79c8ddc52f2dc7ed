//! Detection of date formats, column by column, before the first row is mapped.

use std::sync::Arc;

use super::super::bind::{Columns, Layout};
use super::super::model::{Source, Template};
use super::super::problem::Cause;
use super::super::value::date::{DateFormat, Detected, Detector, ParsedDate, iso};
use crate::records::JsonType;
use crate::sheet::{Cell, Row};

/// The detected date formats of a sheet.
#[derive(Clone, Debug, Default)]
pub struct DateSurvey {
    /// By rule. Empty if no column needed detection.
    dates: Vec<Detected>,
}

/// Detects the formats of date columns without a format in the template.
pub struct DateSurveyor {
    /// The rule, its column and its detector.
    columns: Vec<(usize, usize, Detector)>,
    rules: usize,
}

impl DateSurvey {
    /// Returns the detected format of a rule; for a rule with formats in the template, no dates were looked for.
    pub(super) fn column(&self, rule: usize) -> &Detected {
        self.dates.get(rule).unwrap_or(&Detected::NoDates)
    }
}

/// Parses a date by the template's formats, or else by the format of the column.
pub(super) fn parse_date(text: &str, formats: &[DateFormat], detected: &Detected) -> Result<ParsedDate, Cause> {
    if let [first, others @ ..] = formats {
        let by_others = || others.iter().find_map(|format| format.parse_date(text).ok());
        return first.parse_date(text).or_else(|error| by_others().ok_or(error)).map_err(Cause::NotADate);
    }
    match detected {
        Detected::NoDates => iso::parse(text).map_err(Cause::NotADate),
        Detected::Known(format) => format.parse_date(text).map_err(Cause::NotADate),
        Detected::Ambiguous(dates) => Err(Cause::AmbiguousDate(Arc::clone(dates))),
        Detected::Mixed(dates) => Err(Cause::MixedDates(Arc::clone(dates))),
    }
}

impl DateSurveyor {
    pub fn new(template: &Template, layout: &Layout) -> DateSurveyor {
        let unknown = template.rules().zip(&layout.columns).enumerate().filter_map(|(index, (rule, columns))| {
            let is_date = rule.field.json == JsonType::DateTime && rule.date.formats.is_empty();
            match (&rule.source, columns) {
                (Source::Column(_), Columns::One(column)) if is_date && !rule.changes_text() => {
                    Some((index, *column, Detector::new(rule.date.order)))
                }
                _ => None,
            }
        });
        DateSurveyor { columns: unknown.collect(), rules: layout.columns.len() }
    }

    /// Returns whether any column needs detection.
    pub fn is_needed(&self) -> bool {
        !self.columns.is_empty()
    }

    pub fn row(&mut self, row: &Row) {
        for (_, column, detector) in &mut self.columns {
            if let Cell::Text(text) = row.get(*column) {
                detector.add(row.number, text);
            }
        }
    }

    pub fn end(self) -> DateSurvey {
        let mut dates = vec![Detected::NoDates; if self.columns.is_empty() { 0 } else { self.rules }];
        for (rule, _, detector) in self.columns {
            dates[rule] = detector.finish();
        }
        DateSurvey { dates }
    }
}

//! What only a whole column can tell, found out before its first row is mapped: how its dates are written.

use std::sync::Arc;

use super::bind::{Columns, Layout};
use super::date::{Detected, Detector, Format, Read, iso};
use super::model::{Source, Template};
use super::problem::{AmbiguousDates, Cause, MixedDates};
use crate::records::JsonType;
use crate::sheet::{Cell, Row};

/// What was found out about each of a template's rules.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    dates: Vec<DateColumn>,
}

/// How the dates of a rule's column are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DateColumn {
    /// No date, or the template says it.
    #[default]
    Told,
    Known(Format),
    Ambiguous(Arc<AmbiguousDates>),
    Mixed(Arc<MixedDates>),
}

/// Looks through the columns that need it.
pub struct Surveyor {
    /// The rule, its column, and what was met there.
    columns: Vec<(usize, usize, Detector)>,
    rules: usize,
}

impl Survey {
    pub fn date(&self, rule: usize) -> &DateColumn {
        self.dates.get(rule).unwrap_or(&DateColumn::Told)
    }

    /// The rules whose dates were found out, with what was found.
    pub fn dates(&self) -> impl Iterator<Item = (usize, &DateColumn)> {
        self.dates.iter().enumerate().filter(|(_, date)| **date != DateColumn::Told)
    }
}

impl DateColumn {
    /// Reads a date by the template's formats, or by what the column was found to be.
    pub fn read(&self, text: &str, formats: &[Format]) -> Result<Read, Cause> {
        if let Some(first) = formats.first() {
            let others = formats.get(1..).unwrap_or_default();
            return first
                .read(text)
                .or_else(|fault| others.iter().find_map(|format| format.read(text).ok()).ok_or(fault))
                .map_err(Cause::NotADate);
        }
        match self {
            DateColumn::Told => iso::read(text).map_err(Cause::NotADate),
            DateColumn::Known(format) => format.read(text).map_err(Cause::NotADate),
            DateColumn::Ambiguous(dates) => Err(Cause::AmbiguousDate(Arc::clone(dates))),
            DateColumn::Mixed(dates) => Err(Cause::MixedDates(Arc::clone(dates))),
        }
    }
}

impl Surveyor {
    pub fn new(template: &Template, layout: &Layout) -> Surveyor {
        let unknown = template.rules().zip(&layout.columns).enumerate().filter_map(|(index, (rule, columns))| {
            let is_date = rule.field.json == JsonType::DateTime && rule.date.formats.is_empty();
            match (&rule.source, columns) {
                (Source::Column(_), Columns::One(column)) if is_date && !rule.changes_text() => {
                    Some((index, *column, Detector::new(rule.date.order)))
                }
                _ => None,
            }
        });
        Surveyor { columns: unknown.collect(), rules: layout.columns.len() }
    }

    pub fn is_needed(&self) -> bool {
        !self.columns.is_empty()
    }

    pub fn row(&mut self, row: &Row) {
        for (_, column, detector) in &mut self.columns {
            if let Cell::Text(text) = row.get(*column) {
                detector.feed(row.number, text);
            }
        }
    }

    pub fn end(self) -> Survey {
        let mut dates = vec![DateColumn::Told; if self.columns.is_empty() { 0 } else { self.rules }];
        for (rule, _, detector) in self.columns {
            let found = match detector.finish() {
                Detected::Known(format) => DateColumn::Known(format),
                Detected::Ambiguous { example, readings, .. } => {
                    DateColumn::Ambiguous(Arc::new(AmbiguousDates { example, readings }))
                }
                Detected::Mixed { example, row, pattern } => {
                    DateColumn::Mixed(Arc::new(MixedDates { example, row, pattern }))
                }
                Detected::Nothing => DateColumn::Told,
            };
            if let Some(place) = dates.get_mut(rule) {
                *place = found;
            }
        }
        Survey { dates }
    }
}

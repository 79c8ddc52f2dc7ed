//! Surveys of whole columns: the notation of their numbers and dates.
//!
//! The notation is derived from all cells of the column, then from the other number columns, and for counts from the language of the header.
//! Usually the sheet is still read only once: the first rows decide, `plan` surveys all rows on the way, and only if a later row changes the
//! meaning of an earlier row is the plan cleared and the sheet read again.

mod identifiers;
pub(super) mod numbers;
pub(super) mod rows;
mod shifted;
mod turned_dates;

use std::collections::BTreeMap;
use std::sync::Arc;

use sheetport_records::JsonType;
use sheetport_sheet::{Cell, Row};
use sheetport_values::date::{DateFormat, Detected, Detector, ParsedDate, iso};
use sheetport_values::number::Mark;
use sheetport_values::number::style::ColumnStyle;

use self::numbers::NumberSurveyor;
use self::rows::{RowSurvey, RowSurveyor};
use self::turned_dates::TurnedDates;
use super::super::bind::Layout;
use super::super::columns::column_of_header_text;
use super::super::model::{Source, Template};
use super::super::problem::Cause;

/// The notation of the columns of a sheet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    /// By rule. Empty if no column needed detection.
    dates: Vec<Detected>,
    /// By column.
    numbers: BTreeMap<usize, ColumnStyle>,
    /// Rules of columns with dates whose days and months were swapped.
    turned: Vec<usize>,
    pub(super) rows: RowSurvey,
}

/// Collects the notation of numbers, and of dates without a format in the template.
#[derive(Clone, Debug)]
pub struct Surveyor {
    /// The rule, its columns and their detector.
    dates: Vec<(usize, Vec<usize>, Detector)>,
    rules: usize,
    numbers: NumberSurveyor,
    /// The rule, its columns and their dates.
    turned: Vec<(usize, Vec<usize>, TurnedDates)>,
    row_surveyor: RowSurveyor,
}

impl Survey {
    /// Returns the detected format of a rule; for a rule with formats in the template, no dates were looked for.
    pub(super) fn dates(&self, rule: usize) -> &Detected {
        self.dates.get(rule).unwrap_or(&Detected::NoDates)
    }

    /// Returns whether a program has swapped days and months in the date cells of a rule.
    pub(super) fn are_turned(&self, rule: usize) -> bool {
        self.turned.contains(&rule)
    }

    /// Returns the notation of the numbers of a column.
    pub(super) fn numbers(&self, column: usize) -> &ColumnStyle {
        static UNKNOWN: ColumnStyle = ColumnStyle::UNKNOWN;
        self.numbers.get(&column).unwrap_or(&UNKNOWN)
    }

    /// Returns whether the numbers of a column have a decimal point.
    pub fn has_decimal_point(&self) -> bool {
        self.numbers.values().any(|style| style.decimal() == Some(Mark::Point))
    }

    /// Returns whether a later survey of more rows would map the same rows in the same way.
    pub fn agrees_with(&self, later: &Survey) -> bool {
        let reads_like = |(column, style): (&usize, &ColumnStyle)| {
            !style.has_ambiguous_numbers() || style.reads_like(self.numbers(*column))
        };
        let is_same = self.dates == later.dates && self.turned == later.turned && self.rows == later.rows;
        is_same && later.numbers.iter().all(reads_like)
    }
}

/// Parses a date by the template's formats, or else by the format of the column.
pub(super) fn parse_date(text: &str, formats: &[DateFormat], detected: &Detected) -> Result<ParsedDate, Cause> {
    let by_any = |first: &DateFormat, others: &[DateFormat]| {
        let by_others = || others.iter().find_map(|format| format.parse_date(text).ok());
        first.parse_date(text).or_else(|error| by_others().ok_or(error)).map_err(Cause::NotADate)
    };
    if let [first, others @ ..] = formats {
        return by_any(first, others);
    }
    match detected {
        Detected::WithoutMidnight([with_time, date_alone]) => by_any(with_time, std::slice::from_ref(date_alone)),
        Detected::NoDates => iso::parse(text).map_err(Cause::NotADate),
        Detected::Known(format) => format.parse_date(text).map_err(Cause::NotADate),
        Detected::Ambiguous(dates) => Err(Cause::AmbiguousDate(Arc::clone(dates))),
        Detected::Mixed(dates) => Err(Cause::MixedDates(Arc::clone(dates))),
    }
}

impl Surveyor {
    pub fn new(template: &Template, layout: &Layout) -> Surveyor {
        let (mut dates, mut turned) = (Vec::new(), Vec::new());
        for (index, rule) in template.rules().enumerate() {
            let columns = layout.columns_of(index);
            if matches!(rule.source, Source::Column(_))
                && rule.field.json == JsonType::DateTime
                && rule.date.formats.is_empty()
                && !rule.changes_text()
                && !columns.is_empty()
            {
                let mut detector = Detector::new(rule.date.order);
                let headers = columns.iter().filter_map(|column| column_of_header_text(*column));
                for name in headers.filter_map(|column| layout.header.names.get(column)) {
                    detector.add(layout.header.row, name);
                }
                turned.push((index, columns.clone(), TurnedDates::default()));
                dates.push((index, columns, detector));
            }
        }
        let (numbers, row_surveyor) = (NumberSurveyor::new(template, layout), RowSurveyor::new(template, layout));
        Surveyor { dates, rules: layout.columns.len(), numbers, turned, row_surveyor }
    }

    /// Returns whether any column needs detection.
    pub fn is_needed(&self) -> bool {
        !self.dates.is_empty() || self.numbers.is_needed() || self.row_surveyor.is_needed()
    }

    pub fn row(&mut self, row: &Row) {
        self.row_surveyor.row(row);
        self.notation(row);
    }

    /// Adds a row that tells how numbers and dates are written, and is not itself read: one of the file of which this is a report.
    pub fn notation(&mut self, row: &Row) {
        for (_, columns, turned) in &mut self.turned {
            columns.iter().for_each(|column| turned.add(row.get(*column)));
        }
        for (_, columns, detector) in &mut self.dates {
            for column in columns.iter() {
                if let Cell::Text(text) = row.get(*column) {
                    detector.add(row.number, text);
                }
            }
        }
        self.numbers.row(row);
    }

    /// Returns the notation according to the rows so far.
    pub fn survey(&self) -> Survey {
        let mut dates = vec![Detected::NoDates; if self.dates.is_empty() { 0 } else { self.rules }];
        for (rule, _, detector) in &self.dates {
            dates[*rule] = detector.finish();
        }
        let turned = self.turned.iter().filter(|(_, _, dates)| dates.are_turned()).map(|(rule, _, _)| *rule);
        let (numbers, turned) = (self.numbers.styles(), turned.collect());
        Survey { dates, numbers, turned, rows: self.row_surveyor.survey() }
    }
}

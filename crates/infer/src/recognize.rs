//! How well a template fits a sheet, judged by the first rows of the sheet.

use std::collections::HashMap;

use sheetport_mapping::Mapper;
use sheetport_mapping::bind::{Columns, Layout, bind};
use sheetport_mapping::builtin;
use sheetport_mapping::map::fill_down::Filler;
use sheetport_mapping::map::survey::Surveyor;
use sheetport_mapping::map::{Draft, RowKind};
use sheetport_mapping::model::{Duplicates, FieldRule, Place, Source, Template};
use sheetport_records::RecordKind;
use sheetport_sheet::Row;

use crate::{foreign_sheet, is_list_of_orders};

/// How well a template fits a sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Number of columns of the sheet used by the template.
    pub used: usize,
    /// Columns of the sheet with a name.
    pub columns: usize,
    /// Number of rows judged, without rows skipped by the template.
    pub rows: usize,
    /// Number of rows without a problem and with a unique key.
    pub valid: usize,
    /// Whether the sheet is probably about something else.
    pub is_foreign: bool,
    /// Whether the template is for any sheet, so that its names alone say little about a sheet.
    is_general: bool,
}

/// Whether lines would be sent without a field that identifies their subject, such as an order's lines without an item.
fn has_lines_about_nothing(template: &Template, layout: &Layout) -> bool {
    let input = template.record.input();
    let is_sent = |rule: &FieldRule, columns: &Columns| {
        !matches!(rule.source, Source::Column(_) | Source::Joined { .. }) || *columns != Columns::None
    };
    let sent = || template.rules().zip(&layout.columns).filter(|(rule, columns)| is_sent(rule, columns));
    let needed = input.needs_one_of;
    !needed.is_empty()
        && sent().any(|(rule, _)| rule.place == Place::Line)
        && !sent().any(|(rule, _)| needed.contains(&rule.field.name))
}

/// Returns the number of columns of the sheet used by a template.
pub fn used_columns(layout: &Layout) -> usize {
    let names = &layout.header.names;
    let columns = names.iter().filter(|name| !name.trim().is_empty()).count();
    let used = (0..names.len()).filter(|column| !layout.unused.contains(column)).count();
    used.min(columns)
}

impl Fit {
    /// Maps the first rows of a sheet. Returns `None` if the sheet lacks a required column.
    pub fn of(template: &Template, top: &[Row]) -> Option<Fit> {
        bind(template, top).ok().map(|layout| Fit::with_layout(template, layout, top))
    }

    /// Returns the fit of a template that uses more columns than `least`. Only the rows of such a template are mapped.
    pub fn above(template: &Template, top: &[Row], least: usize) -> Option<Fit> {
        let layout = bind(template, top).ok().filter(|layout| used_columns(layout) > least)?;
        Some(Fit::with_layout(template, layout, top))
    }

    fn with_layout(template: &Template, layout: Layout, top: &[Row]) -> Fit {
        let mut filler = Filler::new(&layout);
        let mut rows: Vec<Row> =
            top.iter().filter(|row| row.number > layout.header.row && !row.is_blank()).cloned().collect();
        rows.iter_mut().for_each(|row| filler.row(row));
        let mut surveyor = Surveyor::new(template, &layout);
        rows.iter().for_each(|row| surveyor.row(row));
        let survey = surveyor.survey();
        let mapper = Mapper::new(0, template, &layout, &survey);
        let columns = layout.header.names.iter().filter(|name| !name.trim().is_empty()).count();
        let used = used_columns(&layout);
        let is_foreign = foreign_sheet(template, &layout).is_some() || has_lines_about_nothing(template, &layout);
        let is_general = builtin::is_general(&template.name);
        let mut fit = Fit { used, columns, rows: 0, valid: 0, is_foreign, is_general };
        let mut draft = Draft::default();
        let mut keys: HashMap<String, usize> = HashMap::new();
        for row in &rows {
            mapper.map(row, &mut draft);
            if matches!(draft.kind, RowKind::Skipped(_)) {
                continue;
            }
            // The rows of a group are complete only together.
            if template.group.is_none() && draft.kind == RowKind::Record {
                mapper.finish(&mut draft.gathered);
            }
            fit.rows += 1;
            if draft.gathered.problems.is_empty() {
                fit.valid += 1;
                if let Some(key) = unique_key(template, &draft) {
                    *keys.entry(key).or_default() += 1;
                }
            }
        }
        // Rows with the same key are no records, as in a list of the prices of each day.
        fit.valid -= keys.values().filter(|rows| **rows > 1).sum::<usize>();
        // Judged last, because it looks at every column.
        let may_be_orders = is_general && template.record == RecordKind::Item && fit.is_good();
        fit.is_foreign |= may_be_orders && is_list_of_orders(top);
        fit
    }

    /// Returns whether most rows are valid and have more than an identifier, and the sheet is about such records.
    pub fn is_good(&self) -> bool {
        // A list of orders has a name, a price and a number, too, among many other columns.
        const LEAST_SHARE: usize = 4;
        let covers = !self.is_general || self.used * LEAST_SHARE >= self.columns;
        covers && !self.is_foreign && self.used > 1 && self.valid > 0 && self.valid * 2 >= self.rows
    }

    /// Returns a rank for comparing templates: good templates first, then by the number of columns in use.
    pub fn rank(&self) -> (bool, usize) {
        (self.is_good(), self.used)
    }
}

/// Returns the key of a single-row record as JSON, if keys must be unique.
fn unique_key(template: &Template, draft: &Draft) -> Option<String> {
    if template.group.is_some() || template.duplicates != Duplicates::Error {
        return None;
    }
    let is_key =
        |rule: usize| template.rule(rule).is_some_and(|rule| template.record.input().key.contains(&rule.field.name));
    let mut key = None;
    draft.gathered.visit_values(template, &mut |rule, json| {
        if key.is_none() && is_key(rule) {
            key = Some(json.to_owned());
        }
    });
    key
}

//! Mapped columns without any value: one problem of the file instead of one for each row.

use sheetport_findings::Code;
use sheetport_ledger::Problem;
use sheetport_mapping::bind::{Columns, own_column};
use sheetport_mapping::model::{OnBlank, Source};
use sheetport_mapping::{Layout, Template};
use sheetport_sheet::Row;

use super::super::table::Table;

/// Minimum number of rows. With fewer rows, blank cells are problems of their rows.
const MIN_ROWS: u64 = 2;
/// The price. Sheets with a price column rarely leave it blank.
const PRICE: &str = "price";

/// Columns without values so far that should have some: required columns, and prices.
pub(crate) struct BlankColumns {
    columns: Vec<BlankColumn>,
    rows: u64,
}

struct BlankColumn {
    column: usize,
    field: &'static str,
    is_required: bool,
}

impl BlankColumns {
    /// Creates the check. Skips reports, whose rows are only a part of a sheet, and exports, because they have every column.
    pub(crate) fn new(template: &Template, layout: &Layout) -> BlankColumns {
        // Each cell of an unpivoted row has a different column.
        let varies = |index: usize| template.unpivot.is_some() && layout.columns_of(index).len() > 1;
        let rules = template.rules().zip(&layout.columns).enumerate();
        let rules = rules.filter(|(index, _)| !layout.is_report && !layout.is_defused && !varies(*index));
        let columns = rules.filter_map(|(_, (rule, columns))| {
            let is_required = matches!(rule.on_blank, OnBlank::Error);
            let is_omitted = matches!(rule.on_blank, OnBlank::Omit);
            let (Source::Column(_), Columns::One(column)) = (&rule.source, columns) else { return None };
            let should_have_values = is_required || is_omitted && rule.field.name == PRICE;
            let should_have_values = should_have_values && *column == own_column(*column);
            should_have_values.then_some(BlankColumn { column: *column, field: rule.field.name, is_required })
        });
        BlankColumns { columns: columns.collect(), rows: 0 }
    }

    pub(crate) fn row(&mut self, row: &Row) {
        self.rows += 1;
        if !self.columns.is_empty() {
            self.columns.retain(|blank| row.get(blank.column).is_blank());
        }
    }

    /// Returns the first required column without a value in any row, and the number of rows.
    pub(crate) fn required(&self) -> Option<(usize, u64)> {
        self.found().find(|blank| blank.is_required).map(|blank| (blank.column, self.rows))
    }

    /// Returns a warning for each column of prices without a value in any row.
    pub(crate) fn warnings(&self, table: &Table) -> impl Iterator<Item = Problem> {
        self.found().filter(|blank| !blank.is_required).map(move |blank| {
            let message = format!("is blank in all {} rows, so nothing is sent for it", self.rows);
            let remedy = "check whether the values are in another column, or were lost".to_owned();
            let field = blank.field.to_owned();
            table.of_column(blank.column, Problem { field, remedy, ..Problem::of_record(Code::BlankColumn, message) })
        })
    }

    fn found(&self) -> impl Iterator<Item = &BlankColumn> {
        self.columns.iter().filter(|_| self.rows >= MIN_ROWS)
    }
}

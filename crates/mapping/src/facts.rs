//! Facts about the file for expressions, in addition to the cells of a row.

use jiff::civil;
use sheetport_sheet::Row;

use super::language::{Expression, FixedCell};
use super::model::{Source, Template, Tested};
use crate::typed_value::Value;

/// Facts about the file and the sheet. Unknown facts are `None`.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub file: Option<String>,
    pub sheet: Option<String>,
    pub today: Option<civil::Date>,
    /// The delimiter of a CSV.
    pub delimiter: Option<u8>,
    /// The cells named in the template.
    cells: Vec<(FixedCell, Value<'static>)>,
}

impl Facts {
    /// Returns the cells named in the template, from the first rows `top` of the sheet.
    pub(super) fn of_cells(template: &Template, top: &[Row]) -> Facts {
        let value = |cell: FixedCell| {
            let row = top.iter().find(|row| row.number == cell.row);
            let value = row.map_or(Ok(Value::Blank), |row| Value::from_cell(&row.get(cell.column)));
            value.ok().map(|value| (cell, value.into_owned()))
        };
        let cells = expressions(template).flat_map(|expression| expression.cells()).filter_map(value).collect();
        Facts { cells, ..Facts::default() }
    }

    pub(super) fn cell(&self, wanted: FixedCell) -> Option<&Value<'static>> {
        self.cells.iter().find(|(cell, _)| *cell == wanted).map(|(_, value)| value)
    }
}

fn expressions(template: &Template) -> impl Iterator<Item = &Expression> {
    let texts = template.rules().filter_map(|rule| match &rule.source {
        Source::Text { expression, .. } => Some(&**expression),
        Source::Column(_) | Source::Joined { .. } | Source::Constant(_) => None,
    });
    let tests = template.sheet.row_tests().filter_map(|test| match &test.subject {
        Tested::Condition { condition, .. } => Some(&condition.expression),
        Tested::Matches { .. } => None,
    });
    texts.chain(tests).chain(template.record_rules.iter().map(|rule| &rule.condition.expression))
}

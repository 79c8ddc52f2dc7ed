//! Where the values of a column come from.

use jiff::civil;
use sheetport_sheet::write::Value;

use super::columns::{Columns, Row};
use super::remembered::SavedColumn;
use crate::error::Error;
use crate::template::model::{Field, Format, Formula};

/// A column of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableColumn {
    pub(super) name: SavedColumn,
    pub(super) source: CellSource,
}

/// The source of a column's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CellSource {
    /// A field, by its index in [`Columns`].
    Field(usize),
    /// A formatted field of the export template, and its index in [`Columns`].
    Formatted(Field, Option<usize>),
    /// A computed column, and the indices of its fields in [`Columns`].
    Computed(Formula, Format, Vec<Option<usize>>),
    Constant(String),
    /// All fields without a separate column.
    OtherFields,
}

impl CellSource {
    /// Returns the value of a cell.
    ///
    /// # Errors
    /// Returns a message if the value can't be computed.
    pub(super) fn value<'a>(
        &self,
        columns: &Columns,
        row: &Row<'a>,
        today: Option<civil::Date>,
    ) -> Result<Value<'a>, String> {
        Ok(match self {
            CellSource::Field(index) => columns.value(row, *index),
            CellSource::Formatted(field, Some(index)) => field.format.apply(columns.value(row, *index)),
            CellSource::Formatted(field, None) => field.format.apply(Value::Blank),
            CellSource::Computed(formula, format, places) => {
                let json = |index: usize| row.json(places.get(index).copied().flatten()?);
                format.apply(formula.compute(&json, today)?)
            }
            CellSource::Constant(text) => Value::Text(text.clone().into()),
            CellSource::OtherFields => columns.value(row, columns.len()),
        })
    }

    /// Whether a column of the export template has the values.
    pub(super) fn is_of_template(&self) -> bool {
        matches!(self, CellSource::Formatted(..) | CellSource::Computed(..) | CellSource::Constant(_))
    }

    fn has_format(&self) -> bool {
        match self {
            CellSource::Formatted(field, _) => field.format != Format::default(),
            CellSource::Field(_) | CellSource::Constant(_) | CellSource::OtherFields => false,
            CellSource::Computed(..) => true,
        }
    }

    /// Whether the column has the values of a field as they are.
    pub(super) fn is_of(&self, columns: &Columns, path: &str) -> bool {
        match self {
            CellSource::Field(index) | CellSource::Formatted(_, Some(index)) => {
                !self.has_format() && columns.path(*index) == Some(path)
            }
            CellSource::Formatted(_, None)
            | CellSource::Computed(..)
            | CellSource::Constant(_)
            | CellSource::OtherFields => false,
        }
    }
}

/// Refuses two columns with the same header.
pub(super) fn check_headers(columns: &[TableColumn]) -> Result<(), Error> {
    let mut headers: Vec<&str> = columns.iter().map(|column| column.name.header.as_str()).collect();
    headers.sort_unstable();
    match headers.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Error::SameColumns(pair[0].to_owned())),
    }
}

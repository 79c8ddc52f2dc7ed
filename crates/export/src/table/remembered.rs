//! The columns that exports to a name have had: an empty list, the changes and the whole list have the same columns.

use serde::{Deserialize, Serialize};
use sheetport_datasets::{Kind, ListInDatabase};

use super::columns::OTHER_FIELDS;
use crate::template::Template;
use crate::template::model::ColumnSource;

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedColumn {
    pub(crate) header: String,
    /// Unique path of the field. `None` for columns of a template, and for the column of all other fields.
    pub(crate) field: Option<String>,
    /// The source of a column of a template. `None` for other columns, and in the state of an earlier version.
    #[serde(default)]
    pub(crate) source: Option<String>,
}

/// A column, and the type of its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TypedColumn {
    pub(crate) name: SavedColumn,
    /// `None` as long as there are no values.
    pub(crate) kind: Option<Kind>,
}

/// The columns of the last complete export.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RememberedColumns {
    /// What the columns depend on besides the records.
    shape: String,
    pub(crate) columns: Vec<TypedColumn>,
    /// Until when the types were so: a date.
    pub(crate) until: String,
}

impl SavedColumn {
    pub(super) fn is_same(&self, other: &SavedColumn) -> bool {
        self.field == other.field && (self.field.is_some() || self.header == other.header)
    }

    /// Whether the column has all fields without a column.
    pub(super) fn is_other_fields(&self) -> bool {
        self.field.is_none() && self.header == OTHER_FIELDS
    }
}

impl RememberedColumns {
    pub(crate) fn new(shape: String, columns: Vec<TypedColumn>, until: String) -> RememberedColumns {
        RememberedColumns { shape, columns, until }
    }

    /// Returns the columns of a list in a database.
    pub(crate) fn of_database(shape: String, list: &ListInDatabase) -> RememberedColumns {
        let column = |column: &sheetport_datasets::DatabaseColumn| TypedColumn {
            name: SavedColumn { header: column.header.clone(), field: column.field.clone(), source: None },
            kind: column.kind,
        };
        let until = list.started.get(.."2026-11-27".len()).unwrap_or(&list.started).to_owned();
        RememberedColumns { shape, columns: list.columns.iter().map(column).collect(), until }
    }

    /// Returns the paths of all fields with a column.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.columns.iter().filter_map(|column| column.name.field.clone()).collect()
    }

    /// Returns these columns if they are of this shape: those of another template are no guide.
    pub(crate) fn of_shape(self, shape: &str) -> Option<RememberedColumns> {
        (self.shape == shape).then_some(self)
    }

    pub(super) fn find(&self, name: &SavedColumn) -> Option<&TypedColumn> {
        self.columns.iter().find(|column| column.name.is_same(name))
    }
}

/// Returns what the columns of an export depend on besides the records: its template, and the array with a row for each element.
pub(crate) fn shape(template: Option<&Template>, explode: Option<&str>) -> String {
    let columns = template.iter().flat_map(|template| &template.columns).map(|column| match &column.source {
        ColumnSource::Field(field) => (column.name.as_str(), field.path.as_str()),
        ColumnSource::Computed(formula, _) => (column.name.as_str(), formula.source.as_str()),
        ColumnSource::Constant(_) => (column.name.as_str(), ""),
    });
    let columns: Vec<(&str, &str)> = columns.collect();
    let others = template.is_none_or(|template| template.others || template.columns.is_empty());
    serde_json::json!({"columns": columns, "others": others, "explode": explode}).to_string()
}

/// Returns the types of columns. Without values, a column has texts.
pub(super) fn kinds(columns: &[TypedColumn]) -> Vec<Kind> {
    columns.iter().map(|column| column.kind.unwrap_or(Kind::Text)).collect()
}

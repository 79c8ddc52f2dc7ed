//! What is known of a table once it is finished.

use super::remembered::TypedColumn;
use crate::changes::RecordHashes;
use crate::error::ChangedType;

/// Numbers of records and rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// Records in the table.
    pub(crate) records: u64,
    pub(crate) rows: u64,
    /// Records omitted by the selection.
    pub(crate) older: u64,
    /// Records excluded by the export template.
    pub(crate) left_out: u64,
    /// Texts truncated to the maximum length of a workbook's cell.
    pub(crate) cut: u64,
    /// Number of texts with an apostrophe added, to keep them from running as formulas.
    pub(crate) defused: u64,
    /// Values in the column for fields beyond the maximum number of columns.
    pub(crate) other_fields: u64,
}

/// A finished table.
pub(crate) struct FinishedTable {
    pub(crate) columns: Vec<TypedColumn>,
    /// Headers of the columns that no earlier export to the same name had.
    pub(crate) new_columns: Vec<String>,
    /// Columns whose values have other types than before, in a file without types.
    pub(crate) changed_types: Vec<ChangedType>,
    pub(crate) counts: Counts,
    /// Fields of the export template or of `--explode` that are blank in every record.
    pub(crate) unused_fields: Vec<UnusedField>,
    /// Named fields that the records have, now or in an earlier export.
    pub(crate) known_fields: Vec<String>,
    /// The records of the list, in the table or not. `None` if the next export will not compare with this export.
    pub(crate) hashes: Option<RecordHashes>,
}

/// A field that is blank in every record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnusedField {
    pub(crate) path: String,
    /// A similar field with values.
    pub(crate) nearest: Option<String>,
    /// Whether the field is the array of `--explode`.
    pub(crate) is_exploded: bool,
}

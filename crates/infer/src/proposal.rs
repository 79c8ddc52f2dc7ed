//! A proposed template, as shown to the user.

use sheetport_mapping::model::{ColumnName, Constant, Place};
use sheetport_records::{Field, RecordKind};

use super::previous_templates::PreviousRule;

/// A proposed template, with the reason for each field.
#[derive(Clone, Debug)]
pub struct Proposal {
    pub kind: RecordKind,
    /// Whether a person must confirm the kind: a program has chosen it, or the sheet contradicts it.
    pub is_kind_guess: bool,
    /// Whether the rows are probably records of another kind.
    pub is_other_kind: bool,
    pub fields: Vec<FieldProposal>,
    /// Required fields without a column.
    pub missing: Vec<MissingField>,
    /// Headers of the columns without a field.
    pub unplaced: Vec<String>,
    /// All columns of the sheet.
    pub columns: Vec<SheetColumn>,
    /// The grouping column, unless a field uses the same column.
    pub grouped_by: Option<FieldProposal>,
    /// Possible problems for the user to check.
    pub warnings: Vec<String>,
    /// Text of the template.
    pub toml: String,
}

/// A column of the sheet, for a person to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SheetColumn {
    /// Counted from 0.
    pub index: usize,
    pub label: String,
    /// Name of the column in the template.
    pub name: ColumnName,
    /// Its first different values.
    pub samples: Vec<String>,
}

/// The proposal for a single field.
#[derive(Clone, Debug)]
pub struct FieldProposal {
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
    pub(super) place: Place,
    pub source: ProposedSource,
    pub reason: String,
    pub confidence: Confidence,
    pub(super) trim: bool,
    /// Further keys of the field, as lines of TOML.
    pub(super) keys: Vec<String>,
    pub(super) comments: Vec<String>,
    /// Keys for the user to choose from, written as comments.
    pub(super) drafts: Vec<String>,
    /// Further matching columns, counted from 0.
    pub alternatives: Vec<usize>,
}

/// Source of a field's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProposedSource {
    Column {
        /// Counted from 0.
        index: usize,
        label: String,
        /// Name of the column in the template.
        name: ColumnName,
    },
    Constant(Constant),
    /// Several columns, as in an earlier template.
    Computed {
        /// Counted from 0.
        columns: Vec<usize>,
        /// The value of the key, for people.
        label: String,
        /// The key and its value as TOML.
        line: String,
    },
}

/// How certain a proposal is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// An earlier template of the user assigns the column to this field.
    AsIn(String),
    Sure,
    Likely,
    Guess,
}

/// A required field without a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingField {
    pub(super) field: &'static Field,
    pub(super) place: Place,
    /// Unused columns that could be meant, for the user to choose from.
    pub candidates: Vec<SheetColumn>,
    /// Whether the candidates are unique names, of a sheet without codes.
    pub(super) are_names: bool,
}

/// The grouping column.
#[derive(Clone, Debug)]
pub(super) struct GroupProposal {
    pub column: FieldProposal,
    /// Rows without a value belong to the record above.
    pub blank_is_above: bool,
}

/// A filter for rows that are not records.
#[derive(Clone, Debug)]
pub(super) struct SkipProposal {
    pub comment: String,
    pub column: ColumnName,
    pub pattern: String,
    /// Whether the rows certainly are no records; otherwise, the filter is a comment.
    pub is_certain: bool,
}

impl Proposal {
    /// Returns a score for how well the sheet fits the kind of record, for choosing a sheet of a workbook.
    pub fn score(&self) -> usize {
        let score = |field: &FieldProposal| match field.confidence {
            Confidence::AsIn(_) => 5,
            Confidence::Sure => 4,
            Confidence::Likely => 3,
            Confidence::Guess => 1,
        };
        let fields: usize = self.fields.iter().map(score).sum();
        fields + if self.missing.is_empty() { 3 } else { 0 }
    }

    /// Whether the sheet of this proposal has all columns that another proposal uses.
    pub fn has_columns_of(&self, other: &Proposal) -> bool {
        let columns = |proposal: &'_ Proposal| -> Vec<String> {
            let sources = proposal.fields.iter().chain(&proposal.grouped_by).map(|field| &field.source);
            sources
                .filter_map(|source| match source {
                    ProposedSource::Column { label, .. } => Some(label.to_lowercase()),
                    ProposedSource::Constant(_) | ProposedSource::Computed { .. } => None,
                })
                .collect()
        };
        let own: Vec<String> =
            columns(self).into_iter().chain(self.unplaced.iter().map(|label| label.to_lowercase())).collect();
        let wanted = columns(other);
        !wanted.is_empty() && wanted.iter().all(|label| own.contains(label))
    }
}

impl FieldProposal {
    pub(super) fn new(
        field: &'static Field,
        place: Place,
        source: ProposedSource,
        reason: String,
        confidence: Confidence,
    ) -> FieldProposal {
        FieldProposal {
            name: field.name,
            doc: field.doc,
            place,
            source,
            reason,
            confidence,
            trim: false,
            keys: Vec::new(),
            comments: Vec::new(),
            drafts: Vec::new(),
            alternatives: Vec::new(),
        }
    }

    /// Returns the name in templates: `price`, or `lines.price`.
    pub fn path(&self) -> String {
        path(self.place, self.name)
    }

    /// Marks a field taken from an earlier template as a guess, if it was one there.
    pub(super) fn keep_guess(&mut self, previous: &PreviousRule) {
        if let (true, Confidence::AsIn(name)) = (previous.is_guess, &self.confidence) {
            self.reason = format!("a guess in {name}, too, which nobody has confirmed");
            self.confidence = Confidence::Guess;
        }
    }

    /// Whether the field has this name, among the fields of the record or of lines.
    pub(super) fn is(&self, place: Place, name: &str) -> bool {
        (self.place == Place::Line) == (place == Place::Line) && self.name == name
    }

    pub(super) fn is_from_column(&self, wanted: usize) -> bool {
        match &self.source {
            ProposedSource::Column { index, .. } => *index == wanted,
            ProposedSource::Computed { columns, .. } => columns.contains(&wanted),
            ProposedSource::Constant(_) => false,
        }
    }
}

impl ProposedSource {
    /// Returns the column's header, the constant, or the expression.
    pub fn label(&self) -> String {
        match self {
            ProposedSource::Column { label, .. } | ProposedSource::Computed { label, .. } => label.clone(),
            ProposedSource::Constant(Constant::Text(text)) => text.clone(),
            ProposedSource::Constant(Constant::Number(number)) => number.to_string(),
            ProposedSource::Constant(Constant::Boolean(boolean)) => boolean.to_string(),
            ProposedSource::Constant(Constant::Null) => "null".to_owned(),
        }
    }
}

impl std::fmt::Display for Confidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Confidence::AsIn(name) => write!(f, "as in {name}"),
            Confidence::Sure => f.write_str("sure"),
            Confidence::Likely => f.write_str("likely"),
            Confidence::Guess => f.write_str("a guess"),
        }
    }
}

impl MissingField {
    /// Returns the name in templates: `price`, or `lines.price`.
    pub fn path(&self) -> String {
        path(self.place, self.field.name)
    }

    /// Returns the headers of the unused columns that could be meant.
    pub fn candidates(&self) -> impl Iterator<Item = &str> {
        self.candidates.iter().map(|candidate| candidate.label.as_str())
    }

    /// Returns the column, from 0, with unique names that can identify the records of a sheet without codes, and its header.
    pub fn unique_names(&self) -> Option<(usize, &str)> {
        self.candidates.first().filter(|_| self.are_names).map(|candidate| (candidate.index, candidate.label.as_str()))
    }
}

fn path(place: Place, name: &str) -> String {
    match place {
        Place::Line => format!("lines.{name}"),
        Place::Id | Place::Record | Place::Option | Place::Command => name.to_owned(),
    }
}

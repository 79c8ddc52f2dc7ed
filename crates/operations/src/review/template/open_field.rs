//! The fields of a proposed template that a person decides: guesses, fields that several columns may be meant for, and required ones without a
//! column.

use sheetport_infer::{Confidence, FieldProposal, Proposal, ProposedSource, SheetColumn};
use sheetport_mapping::model::{ColumnName, same_header};

use super::column_key::ColumnKey;
use super::draft::Draft;
use super::edit::TemplateEdit;
use crate::error::Error;

/// Unplaced columns that are shown for a required field that is a guess.
const FURTHER: usize = 4;

/// A field that a person decides.
#[derive(Clone, Debug)]
pub struct OpenField {
    /// The name in templates, such as `lines.price`.
    pub path: String,
    /// What may be meant; what was proposed comes first.
    pub choices: Vec<FieldChoice>,
    /// Further columns of the sheet, which no other field has.
    others: Vec<FieldChoice>,
    /// Whether the service demands the field.
    pub is_required: bool,
}

/// A source of the values of a field.
#[derive(Clone, Debug)]
pub struct FieldChoice {
    /// The header of a column, or a value for all records.
    pub label: String,
    /// The first different values of the column.
    pub samples: Vec<String>,
    source: ChosenSource,
}

#[derive(Clone, Debug)]
enum ChosenSource {
    AsProposed,
    Column(ColumnKey),
}

impl FieldChoice {
    fn of(column: &SheetColumn) -> FieldChoice {
        let key = match &column.name {
            ColumnName::Named(name) => ColumnKey::Name(name.clone()),
            ColumnName::Number(number) => ColumnKey::Number(*number as u64),
        };
        let (label, samples) = (column.label.clone(), column.samples.clone());
        FieldChoice { label, samples, source: ChosenSource::Column(key) }
    }

    fn proposed(field: &FieldProposal, columns: &[SheetColumn]) -> FieldChoice {
        let samples = match &field.source {
            ProposedSource::Column { index, .. } => columns.iter().find(|column| column.index == *index),
            ProposedSource::Constant(_) | ProposedSource::Computed { .. } => None,
        };
        let samples = samples.map(|column| column.samples.clone()).unwrap_or_default();
        FieldChoice { label: field.source.label(), samples, source: ChosenSource::AsProposed }
    }
}

impl OpenField {
    /// Returns the fields of a proposal that a person decides, those that are missing first.
    pub fn of(proposal: &Proposal) -> Vec<OpenField> {
        let column = |index: usize| proposal.columns.iter().find(|column| column.index == index).map(FieldChoice::of);
        let unplaced = || -> Vec<FieldChoice> {
            let columns = proposal.columns.iter().filter(|column| proposal.unplaced.contains(&column.label));
            columns.map(FieldChoice::of).collect()
        };
        let missing = proposal.missing.iter().map(|missing| OpenField {
            path: missing.path(),
            choices: missing.candidates.iter().map(FieldChoice::of).collect(),
            others: unplaced(),
            is_required: true,
        });
        let is_open = |field: &&FieldProposal| field.confidence == Confidence::Guess || !field.alternatives.is_empty();
        let input = proposal.kind.input();
        let guessed = proposal.fields.iter().filter(is_open).map(|field| {
            let path = field.path();
            let lines = input.lines().map_or(&[][..], |(_, fields)| fields);
            let known = match path.strip_prefix("lines.") {
                Some(name) => lines.iter().find(|known| known.name == name),
                None => input.field(&path),
            };
            let is_required = known.is_some_and(|known| known.required);
            let alternatives = field.alternatives.iter().copied().filter_map(column);
            // What identifies the records may have a name that nobody knows.
            let further = unplaced().into_iter().take(if is_required { FURTHER } else { 0 });
            let mut choices: Vec<FieldChoice> = [FieldChoice::proposed(field, &proposal.columns)].into();
            for choice in alternatives.chain(further) {
                if choices.iter().all(|known| known.label != choice.label) {
                    choices.push(choice);
                }
            }
            OpenField { choices, others: unplaced(), is_required, path }
        });
        missing.chain(guessed).collect()
    }

    /// Returns what an answer means: the number of a choice, counted from 1, or the name of a column. Blank is the first choice.
    pub fn choice(&self, answer: &str) -> Option<&FieldChoice> {
        let answer = answer.trim();
        if answer.is_empty() {
            return self.choices.first();
        }
        let by_number = answer.parse::<usize>().ok().and_then(|number| self.choices.get(number.checked_sub(1)?));
        by_number.or_else(|| self.choices.iter().chain(&self.others).find(|it| same_header(&it.label, answer)))
    }
}

impl Draft {
    /// Sets where a field gets its values from, and notes that a person has said so. `None` leaves the field out.
    ///
    /// # Errors
    /// If the text of the template is not TOML.
    pub fn decide(&mut self, field: &OpenField, choice: Option<&FieldChoice>) -> Result<(), Error> {
        let path = || field.path.clone();
        match choice.map(|choice| &choice.source) {
            None => self.edit(&TemplateEdit::Remove { field: path() }),
            Some(ChosenSource::AsProposed) => self.edit(&TemplateEdit::Confirm { field: path() }),
            Some(ChosenSource::Column(column)) => {
                self.edit(&TemplateEdit::Column { field: path(), column: column.clone() })?;
                self.edit(&TemplateEdit::Confirm { field: path() })
            }
        }
    }
}

//! The user's earlier templates, and the assignments in them.

use super::super::model::{ColumnName, Constant, FieldRule, Place, Source, Template, Translate, same_header};
use super::sample::Column;
use super::slots::{Slot, Slots};
use crate::records::{Field, RecordKind};

/// An earlier template of the user.
#[derive(Clone, Debug)]
pub struct PreviousTemplate {
    /// Name shown to the user: a file or a run.
    pub(super) name: String,
    kind: RecordKind,
    rules: Vec<PreviousRule>,
    /// Names of the grouping column.
    group_columns: Vec<String>,
}

/// A field of such a template.
#[derive(Clone, Debug)]
pub(super) struct PreviousRule {
    pub place: Place,
    pub field: &'static Field,
    /// Names of the column; empty for a constant.
    columns: Vec<String>,
    pub constant: Option<Constant>,
    /// Values in the sheet with the values to send.
    pub map: Vec<(String, Constant)>,
}

impl PreviousTemplate {
    pub fn new(name: &str, template: &Template) -> PreviousTemplate {
        let rule = |rule: &FieldRule| {
            let (columns, constant) = match &rule.source {
                Source::Column(columns) => (header_names(columns), None),
                Source::Constant(constant) => (Vec::new(), Some(constant.clone())),
                Source::Joined { .. } | Source::Text { .. } => return None,
            };
            let map = match &rule.translate {
                Some(Translate::Map(map)) => map.entries.clone(),
                Some(Translate::Lookup(_)) | None => Vec::new(),
            };
            Some(PreviousRule { place: rule.place, field: rule.field, columns, constant, map })
        };
        let by = template.group.as_ref().map_or(Vec::new(), |group| group.by.concat());
        PreviousTemplate {
            name: name.to_owned(),
            kind: template.record,
            rules: template.rules().filter_map(rule).collect(),
            group_columns: header_names(&by),
        }
    }

    /// Returns the rule of a field, if the template is for this kind of record.
    pub(super) fn rule(&self, kind: RecordKind, place: Place, field: &str) -> Option<&PreviousRule> {
        self.rules.iter().find(|rule| self.kind == kind && rule.place == place && rule.field.name == field)
    }

    /// Returns the rules with a constant, if the template is for this kind of record.
    pub(super) fn constants(&self, kind: RecordKind) -> impl Iterator<Item = &PreviousRule> {
        self.rules.iter().filter(move |rule| self.kind == kind && rule.constant.is_some())
    }

    /// Returns the assignments of the template, if the template is for this kind of record.
    pub(super) fn assignments<'a>(&self, slots: &'a Slots, columns: &'a [Column]) -> Vec<(&'a Slot, &'a Column)> {
        if slots.kind != self.kind {
            return Vec::new();
        }
        // As in binding: the first name in the header, unless two columns have the same.
        let find = |names: &[String]| {
            names.iter().find_map(|name| {
                let mut found = columns.iter().filter(|column| same_header(&column.bound_header, name));
                found.next().filter(|_| found.next().is_none())
            })
        };
        let fields =
            self.rules.iter().filter_map(|rule| Some((slots.find(rule.place, rule.field.name)?, find(&rule.columns)?)));
        fields.chain(slots.group().zip(find(&self.group_columns))).collect()
    }
}

fn header_names(columns: &[ColumnName]) -> Vec<String> {
    let named = columns.iter().filter_map(|column| match column {
        ColumnName::Named(name) => Some(name.clone()),
        ColumnName::Number(_) => None,
    });
    named.collect()
}

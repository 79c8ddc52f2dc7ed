//! What templates that a user made before say of a sheet's headers.

use super::super::model::same_header as same;
use super::super::model::{ColumnName, Constant, FieldRule, Place, Source, Template, Translate};
use super::choose::Slots;
use crate::records::RecordKind;

/// A template from before: which names stand for which field.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// What a person knows it by.
    pub name: String,
    record: RecordKind,
    fields: Vec<Rule>,
    group: Vec<String>,
}

/// What such a template says of a field.
#[derive(Clone, Debug)]
pub struct Rule {
    pub place: Place,
    pub field: &'static str,
    pub doc: &'static str,
    /// The columns' names; none for a constant.
    names: Vec<String>,
    /// The text or the number that every record gets.
    pub constant: Option<Constant>,
    /// What each value in the sheet is sent as.
    pub map: Vec<(String, Constant)>,
}

impl Earlier {
    pub fn of(name: &str, template: &Template) -> Earlier {
        let named = |columns: &[ColumnName]| {
            let text = |column: &ColumnName| match column {
                ColumnName::Named(name) => Some(name.clone()),
                ColumnName::Number(_) => None,
            };
            columns.iter().filter_map(text).collect::<Vec<_>>()
        };
        let rule = |rule: &FieldRule| {
            let (names, constant) = match &rule.source {
                Source::Column(columns) => (named(columns), None),
                Source::Constant(constant) => (Vec::new(), Some(constant.clone())),
                Source::Joined { .. } | Source::Text { .. } => return None,
            };
            let map = match &rule.translate {
                Some(Translate::Map(map)) => map.entries.clone(),
                _ => Vec::new(),
            };
            Some(Rule { place: rule.place, field: rule.field.name, doc: rule.field.doc, names, constant, map })
        };
        let fields = template.rules().filter_map(rule);
        let group = template.group.as_ref().map_or_else(Vec::new, |group| named(&group.by.concat()));
        Earlier { name: name.to_owned(), record: template.record, fields: fields.collect(), group }
    }

    /// What it says of a field, if it is for records of that kind.
    pub fn rule(&self, record: RecordKind, place: Place, field: &str) -> Option<&Rule> {
        self.fields.iter().find(|rule| self.record == record && rule.place == place && rule.field == field)
    }

    /// The fields that it gives a constant, if it is for records of that kind.
    pub fn constants(&self, record: RecordKind) -> impl Iterator<Item = &Rule> {
        self.fields.iter().filter(move |rule| self.record == record && rule.constant.is_some())
    }

    /// Where the sheet has this template's columns: pairs of slot and column.
    pub(super) fn columns(&self, slots: &Slots, labels: &[&str]) -> Vec<(usize, usize)> {
        if slots.kind() != self.record {
            return Vec::new();
        }
        // As a template does: of several names the first that the header has, if it is there once.
        let column = |names: &[String]| {
            names.iter().find_map(|name| {
                let mut there = (0..labels.len()).filter(|index| same(labels[*index], name));
                there.next().filter(|_| there.next().is_none())
            })
        };
        let fields =
            self.fields.iter().filter_map(|rule| Some((slots.index(rule.place, rule.field)?, column(&rule.names)?)));
        let group = slots.group().zip(column(&self.group));
        fields.chain(group).collect()
    }
}

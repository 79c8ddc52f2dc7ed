//! What templates that a user made before say of a sheet's headers.

use super::super::bind::same;
use super::super::model::{ColumnName, Place, Source, Template};
use super::choose::Slots;
use crate::records::RecordKind;

/// A template from before: which names stand for which field.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// What a person knows it by.
    pub name: String,
    record: RecordKind,
    fields: Vec<(Place, &'static str, Vec<String>)>,
    group: Vec<String>,
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
        let fields = template.rules().filter_map(|rule| match &rule.source {
            Source::Column(columns) => Some((rule.place, rule.field.name, named(columns))),
            _ => None,
        });
        let group = template.group.as_ref().map_or_else(Vec::new, |group| named(&group.by));
        Earlier { name: name.to_owned(), record: template.record, fields: fields.collect(), group }
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
            self.fields.iter().filter_map(|(place, field, names)| Some((slots.index(*place, field)?, column(names)?)));
        let group = slots.group().zip(column(&self.group));
        fields.chain(group).collect()
    }
}

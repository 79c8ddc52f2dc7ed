//! The values of a file that name records of the service: orders, and what they refer to. The file is read once for all of them.

use std::collections::BTreeMap;

use sheetport_mapping::Template;
use sheetport_mapping::model::Source as FieldSource;

use crate::error::Error;
use crate::plan::{Source, values_of_rules};

/// The different values of some rules, with the number of rows that have each.
#[derive(Debug, Default)]
pub struct NamedValues {
    rules: Vec<(usize, BTreeMap<String, u64>)>,
}

static NO_VALUES: BTreeMap<String, u64> = BTreeMap::new();

impl NamedValues {
    /// Reads the values of these rules. Does not read the file if it has none of them.
    ///
    /// # Errors
    /// If the file can't be read.
    pub(super) fn of_rules(
        source: &Source,
        template: &Template,
        rules: impl Iterator<Item = usize>,
    ) -> Result<NamedValues, Error> {
        let rules: Vec<usize> = rules.filter(|rule| has_values(source, template, *rule)).collect();
        if rules.is_empty() {
            return Ok(NamedValues::default());
        }
        let values = values_of_rules(source, template, &rules)?;
        Ok(NamedValues { rules: rules.into_iter().zip(values).collect() })
    }

    /// Returns the values of a rule.
    pub(super) fn of(&self, rule: usize) -> &BTreeMap<String, u64> {
        self.rules.iter().find(|(index, _)| *index == rule).map_or(&NO_VALUES, |(_, values)| values)
    }
}

/// Whether a sheet has a column for a rule, or the template a constant.
fn has_values(source: &Source, template: &Template, rule: usize) -> bool {
    let is_constant = template.rule(rule).is_some_and(|rule| matches!(rule.source, FieldSource::Constant(_)));
    // The columns of several lines in a row, and of several records, are not those of the rule.
    is_constant
        || source.tables.iter().any(|table| {
            let layout = &table.layout;
            !layout.numbered_lines.is_empty() || !table.cells.is_empty() || layout.columns[rule].first().is_some()
        })
}

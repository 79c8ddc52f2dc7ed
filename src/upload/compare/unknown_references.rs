//! References of a file to records missing in the service.

use std::collections::HashSet;

use crate::records::Reference;
use crate::sheet::Row;
use crate::template::map::{Parts, unquoted};
use crate::template::{Cause, Mapper, Problem};

/// The values of a file without a record in the service.
#[derive(Debug, Default)]
pub struct UnknownReferences {
    pub(super) fields: Vec<UnknownValues>,
}

#[derive(Debug)]
pub(super) struct UnknownValues {
    /// The index of the rule, as in `Template::rules`.
    pub(super) rule: usize,
    pub(super) reference: &'static Reference,
    pub(super) values: HashSet<String>,
}

impl UnknownReferences {
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns the problems of a mapped row, each at the cell with the value.
    pub(in crate::upload) fn problems(&self, mapper: &Mapper<'_>, row: &Row, parts: &Parts) -> Vec<Problem> {
        let mut found = Vec::new();
        let mut compare = |rule: usize, json: &str| {
            let value = unquoted(json);
            let unknown = self.fields.iter().find(|field| field.rule == rule && field.values.contains(value.as_ref()));
            if let Some(UnknownValues { reference, .. }) = unknown {
                let cause = Cause::UnknownReference { what: reference.what, created_with: reference.created_with };
                found.push(mapper.value_problem(row, rule, &value, cause));
            }
        };
        parts.visit_values(mapper.template(), &mut compare);
        found
    }
}

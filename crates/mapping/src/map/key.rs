//! The identifier of a row, whatever else the row is or lacks.

use sheetport_sheet::Row;

use super::super::model::Place;
use super::super::problem::Problem;
use super::mapper::Mapper;

impl Mapper<'_> {
    /// Returns the identifier of a row as JSON, also of a row that is left out or has other problems. `None` without one.
    ///
    /// # Errors
    /// If its cells can't be read as an identifier.
    pub fn identifier_of(&self, row: &Row) -> Result<Option<String>, Box<Problem>> {
        let Some(rule) = self.identifier_rule() else { return Ok(None) };
        let (_, columns) = self.rule(rule);
        self.try_rule(rule, columns, row)
    }

    /// Whether a problem is about the identifier: its field, or one of its columns.
    pub fn is_of_identifier(&self, field: &str, column: Option<usize>) -> bool {
        let Some(rule) = self.identifier_rule() else { return false };
        let (rule, columns) = self.rule(rule);
        field == rule.field.name || column.is_some_and(|column| columns.iter().any(|of_key| of_key == column))
    }

    fn identifier_rule(&self) -> Option<usize> {
        let template = self.template();
        let key = template.record.input().key;
        template.rules().position(|rule| rule.place == Place::Record && key.contains(&rule.field.name))
    }
}

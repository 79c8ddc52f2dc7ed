//! The lines of a row: one, or several in numbered columns such as `Item 1` and `Item 2`.

use super::super::bind::Columns;
use super::super::model::Source;
use super::super::problem::Problem;
use super::convert::Written;
use super::mapper::Mapper;
use super::parts::Parts;
use crate::sheet::Row;

impl Mapper<'_> {
    /// Adds the lines of a row. A line without a value is left out.
    pub(super) fn map_lines(&self, row: &Row, parts: &mut Parts) {
        let own = &self.layout().columns[self.template().fields.len()..];
        let further = self.layout().further_lines.iter().map(Vec::as_slice);
        let (mut has_lines, mut of_blank_line) = (false, Vec::new());
        for columns in std::iter::once(own).chain(further) {
            let mut problems = Vec::new();
            let has_values = self.map_line(row, columns, parts, &mut problems);
            if has_values {
                parts.problems.append(&mut problems);
                self.check_line_rules(parts, columns);
                has_lines = true;
            } else if of_blank_line.is_empty() {
                of_blank_line = problems;
            }
            parts.end_line(has_values);
        }
        // A row of a group without any value of a line has no line.
        if !has_lines && self.layout().group.is_empty() {
            parts.problems.append(&mut of_blank_line);
        }
    }

    /// Maps the values of one line. Returns whether it has any, besides those that all lines of the row share. `problems`
    /// receives those of blank cells.
    fn map_line(&self, row: &Row, columns: &[Columns], parts: &mut Parts, problems: &mut Vec<Problem>) -> bool {
        let first = self.template().fields.len();
        let is_numbered = !self.layout().further_lines.is_empty();
        let mut has_values = false;
        for (nth, (rule, columns)) in self.template().lines.iter().zip(columns).enumerate() {
            let index = first + nth;
            let is_shared = matches!(rule.source, Source::Constant(_)) || is_numbered && !rule.is_numbered();
            let start = parts.values.len();
            match self.write_value(index, columns, row, &mut parts.values) {
                Ok(Written::Value { currency }) => {
                    has_values |= !is_shared;
                    parts.push_line_value(rule.field.name, start);
                    self.push_money(parts, currency, index, row.number);
                }
                Ok(Written::Blank) => match self.write_replacement(rule, &mut parts.values) {
                    Ok(true) => parts.push_line_value(rule.field.name, start),
                    Ok(false) => {}
                    Err(cause) => problems.push(self.problem(rule, columns, row, cause)),
                },
                Err(cause) => {
                    parts.values.truncate(start);
                    has_values = true;
                    parts.problems.push(self.problem(rule, columns, row, cause));
                }
            }
        }
        has_values
    }
}

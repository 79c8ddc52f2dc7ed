//! Numbers and dates with another value in a second column that fits the field.

use sheetport_sheet::Row;

use crate::bind::Columns;
use crate::map::mapper::Mapper;
use crate::model::Place;
use crate::problem::{Cause, Problem, excerpt};
use crate::rivals::Rival;

impl Mapper<'_> {
    /// Returns the problem of a value that differs from the value in another column for the field.
    pub(crate) fn other_value(&self, index: usize, columns: &Columns, row: &Row) -> Option<Problem> {
        let rival = self.rivals(index, columns).find(|rival| rival.differs(row))?;
        Some(self.contradicted(rival, columns, row, false))
    }

    /// Returns the problem of a blank beside a value in another column for the field.
    pub(crate) fn only_other_value(&self, index: usize, columns: &Columns, row: &Row) -> Option<Problem> {
        // A field of the record may be filled in one of the record's rows only.
        if self.template().group.is_some() && self.rule(index).0.place == Place::Record {
            return None;
        }
        let rival = self.rivals(index, columns).find(|rival| rival.has_other(row))?;
        Some(self.contradicted(rival, columns, row, true))
    }

    fn rivals(&self, index: usize, columns: &Columns) -> impl Iterator<Item = &Rival> {
        let is_of = move |rival: &&Rival| rival.is_measure && rival.rule == index && columns.contains(rival.used);
        self.layout().rivals.iter().filter(is_of)
    }

    fn contradicted(&self, rival: &Rival, columns: &Columns, row: &Row, is_blank: bool) -> Problem {
        let (rule, _) = self.rule(rival.rule);
        let header = self.layout().header.names.get(rival.column).map_or("", |name| name.trim());
        let other = excerpt(row.get(rival.column).shown().trim());
        let table = if rule.place == Place::Line { "lines" } else { "fields" };
        let table = format!("{table}.{}", rule.field.name);
        self.problem(rule, columns, row, Cause::SeveralColumns { other, header: excerpt(header), table, is_blank })
    }
}

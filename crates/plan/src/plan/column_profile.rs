//! What is known about a column of a spreadsheet: the evidence by which an upload judges its values.

use sheetport_checks::{ColumnProfile, ColumnSurvey};
use sheetport_mapping::Template;

use super::Source;
use super::read::{Chunk, Reader};
use crate::error::Error;

/// Returns what is known about a column of the table at `place`. Reads the file twice, as an upload does.
pub fn column_profile(
    source: &Source,
    template: &Template,
    place: usize,
    column: usize,
) -> Result<ColumnProfile, Error> {
    let mut chunk = Chunk::default();
    let mut reader = Reader::new(source, template);
    while reader.next(&mut chunk)? > 0 {}
    let known = reader.known();
    let mut survey = ColumnSurvey::new(&known[place].evidence, column);
    let mut reader = Reader::new(source, template);
    while reader.next(&mut chunk)? > 0 {
        // With a record in each cell, a row is read once for each.
        let rows = chunk.rows_mut().iter().map(|(read, _)| read);
        rows.filter(|read| read.table == place && !read.is_further_cell).for_each(|read| survey.row(&read.row));
    }
    Ok(survey.finish())
}

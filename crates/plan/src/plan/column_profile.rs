//! What is known about a column of a spreadsheet: the evidence by which its values are judged.

use sheetport_checks::{ColumnProfile, ColumnSurvey, Survey};
use sheetport_mapping::Template;
use sheetport_sheet::Row;

use super::Source;
use crate::error::Error;

/// Returns what is known about a column of the table at `place`. Reads the file twice, as an upload does.
pub fn column_profile(
    source: &Source,
    template: &Template,
    place: usize,
    column: usize,
) -> Result<ColumnProfile, Error> {
    let each = |see: &mut dyn FnMut(&Row)| -> Result<(), Error> {
        let (mut rows, mut row) = (source.rows(), Row::default());
        while let Some(of) = rows.next(&mut row)? {
            if of == place {
                see(&row);
            }
        }
        Ok(())
    };
    let mut survey = Survey::new(template, &source.tables[place].layout);
    each(&mut |row| survey.row(row))?;
    let evidence = survey.evidence();
    let mut survey = ColumnSurvey::new(&evidence, column);
    each(&mut |row| survey.row(row))?;
    Ok(survey.finish())
}

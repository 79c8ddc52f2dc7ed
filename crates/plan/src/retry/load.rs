//! Loading the history of a report's rows from the ledger, before mapping.

use futures_util::future::BoxFuture;

use sheetport_ledger::{Family, Ledger, RowQuery, Run, SourceRow};
use sheetport_mapping::Template;
use sheetport_sheet::Row;

use super::fingerprint::{CommonColumns, common_columns};
use super::history::ReportHistory;
use super::lossy::LossyFields;
use super::report::Report;
use crate::error::Error;
use crate::plan::Source;

/// Loads the history of the rows of `run` for the report `source`, as read with `template`. `sends_accepted` treats accepted
/// rows as open.
///
/// # Errors
/// [`Error::TooMuchLost`] if the report lost more values than fit in memory.
pub fn load_history<'a>(
    ledger: &'a Ledger,
    run: &'a Run,
    family: &'a Family,
    report: &'a Report,
    source: &'a Source,
    template: &'a Template,
    sends_accepted: bool,
) -> BoxFuture<'a, Result<ReportHistory, Error>> {
    Box::pin(async move {
        let (shared, of_tables) = common_columns(&run.about.header, &source.tables);
        let lossy = match source.book.has_named_sheets() {
            true => LossyFields::LongTexts,
            false if report.has_cut => LossyFields::Both,
            false => LossyFields::Types,
        };
        let has_other_template = run.about.template_toml != template.source;
        let answers = source.answers(template, has_other_template, run.about.settings.strict && !source.is_strict);
        let query = RowQuery {
            non_idempotent: template.record.input().must_not_repeat(),
            holds: &|code| answers.holds(code),
            fingerprints: &|member: &Run| {
                let columns = shared.of_run(member);
                Box::new(move |row: &SourceRow| columns.fingerprint_in_ledger(&row.cells, lossy, &mut Row::default()))
            },
        };
        let mut states = ledger.row_states(run.id, family, &query).await?;
        if sends_accepted {
            states.reopen();
        }
        let mut history = ReportHistory::new(run, states, template, &source.tables, of_tables, lossy);
        add_rows(&mut history, ledger, run, lossy, &shared.of_run(run)).await?;
        Ok(history)
    })
}

/// Adds what is needed of the rows of the run: lost cells, those for which rows are held back, and what all of them show.
async fn add_rows(
    history: &mut ReportHistory,
    ledger: &Ledger,
    run: &Run,
    lossy: LossyFields,
    of_run: &CommonColumns,
) -> Result<(), Error> {
    let (mut cells, mut laid_out) = (Row::default(), Row::default());
    let mut from = 0;
    while let Some(block) = ledger.source_block(run.id, from).await? {
        from = block.end();
        for row in &block.rows {
            history.add_held_row(row, &mut cells);
            history.add_shown(row, &mut cells, &mut laid_out);
        }
        if !block.rows.iter().all(|row| history.add_lossy_row(row, of_run, &mut cells)) {
            return Err(Error::TooMuchLost { run: run.id, lossy });
        }
    }
    history.end_run();
    Ok(())
}

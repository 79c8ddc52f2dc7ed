//! What the ledger knows of the rows of a report's run, read before any of them is mapped again.

use std::sync::atomic::{AtomicBool, Ordering};

use super::fingerprint::{CommonColumns, common_columns};
use super::lost::Lost;
use super::origin::{PastRun, SUSPICIOUS};
use super::report::Report;
use crate::ledger::{Family, Ledger, RowQuery, Run, SourceRow};
use crate::sheet::Row;
use crate::template::Template;
use crate::upload::error::Error;
use crate::upload::source::Source;

impl PastRun {
    /// Of `run`, whose report is handed back as `source`, as `template` reads it.
    pub async fn load(
        ledger: &Ledger,
        run: &Run,
        family: &Family,
        report: &Report,
        source: &Source,
        template: &Template,
    ) -> Result<PastRun, Error> {
        let (of_run, of_parts) = common_columns(&run.about.header, &source.parts);
        let lost = match source.book.has_named_sheets() {
            true => Lost::Ends,
            false if report.has_cut => Lost::Both,
            false => Lost::Types,
        };
        let has_lost = AtomicBool::new(false);
        let question = RowQuery {
            non_idempotent: template.record.input().must_not_repeat(),
            fingerprint: &|row: &SourceRow| {
                has_lost.fetch_or(lost.may_be_of(&row.cells), Ordering::Relaxed);
                of_run.fingerprint_of_kept(&row.cells, lost, &mut Row::default())
            },
            suspicious: SUSPICIOUS,
        };
        let states = ledger.row_states(run.id, family, &question).await?;
        let sends_whole = template.group.is_some() && !question.non_idempotent;
        let mut past_run = PastRun::new(run, states, sends_whole, &source.parts, of_parts, lost);
        if has_lost.into_inner() {
            past_run.take_lost_cells(ledger, run, lost, &of_run).await?;
        }
        Ok(past_run)
    }

    async fn take_lost_cells(
        &mut self,
        ledger: &Ledger,
        run: &Run,
        lost: Lost,
        of_run: &CommonColumns,
    ) -> Result<(), Error> {
        let mut cells = Row::default();
        let mut from = 0;
        while let Some(block) = ledger.source_block(run.id, from).await? {
            from = block.end();
            if !block.rows.iter().all(|row| self.take_lost(row, of_run, &mut cells)) {
                return Err(Error::TooMuchLost { run: run.id, lost });
            }
        }
        Ok(())
    }
}

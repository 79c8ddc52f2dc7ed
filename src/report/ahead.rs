//! Reads a run's rows and what became of them ahead of whoever writes them, each on another thread where there is one.
//!
//! It goes by windows of rows: within one, records are looked up in their order, so that rows that stand all over the
//! sheet cost a reading of each block a window, and not one each.

use std::mem;
use std::sync::Arc;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use super::outcome::{Outcomes, RecordOutcome};
use crate::ledger::{self, Ledger, RunId, Seq, SourceRow};

/// A window ends after so many bytes of cells, or so many rows. Up to three are held at a time.
const WINDOW_BYTES: usize = 2 * 1024 * 1024;
const WINDOW_ROWS: usize = 8 * 1024;
/// Windows are so many times as long where what became of records doesn't fit into memory.
const CROWDED: usize = 4;

/// Rows of the sheet, in its order, and what became of their records.
pub(super) type Window = Vec<(SourceRow, Arc<RecordOutcome>)>;

/// Who reads. It ends on its own when nobody takes its windows any more.
pub(super) struct Reader([JoinHandle<Result<(), ledger::Error>>; 2]);

impl Reader {
    /// Why there are no more windows: the end of the rows, or an error.
    pub async fn end(self) -> Result<(), ledger::Error> {
        for task in self.0 {
            match task.await {
                Ok(ended) => ended?,
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    Err(_) => return Err(ledger::Error::Corrupt("the rows could not be read to their end".to_owned())),
                },
            }
        }
        Ok(())
    }
}

/// Begins to read the rows of `run`. After the last window, [`Reader::end`] tells whether it was the last.
pub(super) fn read(ledger: &Ledger, run: RunId) -> (Receiver<Window>, Reader) {
    let (give_rows, rows) = channel(2);
    let (give, windows) = channel(1);
    let rows_read = tokio::spawn(read_rows(ledger.clone(), run, give_rows));
    let outcomes = Outcomes::new(ledger, run);
    (windows, Reader([rows_read, tokio::spawn(look_up(outcomes, rows, give))]))
}

async fn read_rows(ledger: Ledger, run: RunId, give: Sender<Vec<SourceRow>>) -> Result<(), ledger::Error> {
    let mut from = 0;
    while let Some((first, block)) = ledger.source_block(run, from).await? {
        from = first + block.len() as i64;
        if give.send(block).await.is_err() {
            break;
        }
    }
    Ok(())
}

async fn look_up(
    mut outcomes: Outcomes,
    mut blocks: Receiver<Vec<SourceRow>>,
    give: Sender<Window>,
) -> Result<(), ledger::Error> {
    let (mut rows, mut bytes) = (Vec::new(), 0);
    while let Some(block) = blocks.recv().await {
        bytes += block.iter().map(|row| row.cells.get().len()).sum::<usize>();
        rows.extend(block);
        let times = if outcomes.is_crowded { CROWDED } else { 1 };
        if rows.len() >= times * WINDOW_ROWS || bytes >= times * WINDOW_BYTES {
            bytes = 0;
            if give.send(window(&mut outcomes, mem::take(&mut rows)).await?).await.is_err() {
                return Ok(());
            }
        }
    }
    let _ = give.send(window(&mut outcomes, rows).await?).await;
    Ok(())
}

async fn window(outcomes: &mut Outcomes, rows: Vec<SourceRow>) -> Result<Window, ledger::Error> {
    let seqs: Vec<Seq> = rows.iter().map(|row| row.seq).collect();
    Ok(rows.into_iter().zip(outcomes.of_all(&seqs).await?).collect())
}

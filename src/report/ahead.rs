//! Reads a run's rows and what became of them ahead of whoever writes them, each on another thread where there is one.
//!
//! It goes by windows of rows: within one, records are looked up in their order, so that rows that stand all over the
//! sheet cost a reading of each block a window, and not one each.

use std::mem;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use super::outcome::{Found, Outcomes, RecordOutcome};
use crate::ledger::{self, Ledger, RunId, Seq, SourceBlock, SourceRow};

/// A window ends after so many bytes of cells, or so many rows. Up to three are held at a time.
const WINDOW_BYTES: usize = 2 * 1024 * 1024;
const WINDOW_ROWS: usize = 8 * 1024;
/// Blocks that are read together, where they are small: each reading hands over from one thread to another.
const MOST_BLOCKS: u32 = 8;
/// Windows are so many times as long where what became of records doesn't fit into memory.
const CROWDED: usize = 4;

/// Rows of the sheet, in its order, and what became of their records.
pub(super) struct Window {
    blocks: Vec<SourceBlock>,
    found: Found,
}

impl Window {
    pub fn rows(&self) -> impl Iterator<Item = (&SourceRow, RecordOutcome<'_>)> {
        self.blocks.iter().flat_map(|block| &block.rows).zip(self.found.iter())
    }
}

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
    let (give_rows, rows) = channel(1);
    let (give, windows) = channel(1);
    let rows_read = tokio::spawn(read_rows(ledger.clone(), run, give_rows));
    let outcomes = Outcomes::new(ledger, run);
    (windows, Reader([rows_read, tokio::spawn(look_up(outcomes, rows, give))]))
}

async fn read_rows(ledger: Ledger, run: RunId, give: Sender<Vec<SourceBlock>>) -> Result<(), ledger::Error> {
    let mut from = 0;
    // It begins with one, because blocks of large rows are as large as many others.
    let mut most = 1;
    loop {
        let blocks = ledger.source_blocks(run, from, most).await?;
        let Some(last) = blocks.last() else { return Ok(()) };
        from = last.end();
        most = if blocks.iter().map(SourceBlock::bytes).sum::<usize>() < WINDOW_BYTES {
            MOST_BLOCKS.min(2 * most)
        } else {
            1
        };
        if give.send(blocks).await.is_err() {
            return Ok(());
        }
    }
}

async fn look_up(
    mut outcomes: Outcomes,
    mut read: Receiver<Vec<SourceBlock>>,
    give: Sender<Window>,
) -> Result<(), ledger::Error> {
    let (mut blocks, mut rows, mut bytes) = (Vec::new(), 0, 0);
    while let Some(more) = read.recv().await {
        rows += more.iter().map(|block| block.rows.len()).sum::<usize>();
        bytes += more.iter().map(SourceBlock::bytes).sum::<usize>();
        blocks.extend(more);
        let times = if outcomes.is_crowded { CROWDED } else { 1 };
        if rows >= times * WINDOW_ROWS || bytes >= times * WINDOW_BYTES {
            (rows, bytes) = (0, 0);
            if give.send(window(&mut outcomes, mem::take(&mut blocks)).await?).await.is_err() {
                return Ok(());
            }
        }
    }
    let _ = give.send(window(&mut outcomes, blocks).await?).await;
    Ok(())
}

async fn window(outcomes: &mut Outcomes, blocks: Vec<SourceBlock>) -> Result<Window, ledger::Error> {
    let seqs: Vec<Seq> = blocks.iter().flat_map(|block| &block.rows).map(|row| row.seq).collect();
    Ok(Window { found: outcomes.of_all(&seqs).await?, blocks })
}

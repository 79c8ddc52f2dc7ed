//! Reads a run's rows with the results of their records, a window at a time, ahead of the writer.

use std::collections::{BTreeMap, BTreeSet};

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use super::records::{RecordResult, load};
use crate::ledger::{self, Ledger, RunId, Seq, SourceBlock, SourceRow};

/// Maximum number of rows and bytes per window. A large window limits how often a block of records is read if the rows of
/// records are scattered over the sheet. Up to three windows are in memory.
const WINDOW_ROWS: usize = 16 * 1024;
const WINDOW_BYTES: usize = 4 << 20;
/// Number of blocks of rows per query.
const BLOCKS: u32 = 4;

/// Consecutive rows of the sheet with the results of their records.
pub(super) struct Window {
    blocks: Vec<SourceBlock>,
    records: BTreeMap<Seq, RecordResult>,
}

impl Window {
    pub(super) fn rows(&self) -> impl Iterator<Item = (&SourceRow, &RecordResult)> {
        let rows = self.blocks.iter().flat_map(|block| &block.rows);
        rows.map(|row| (row, self.records.get(&row.seq).expect("the records of all rows are loaded")))
    }
}

/// Starts reading the rows of `run`. The task ends with the last window, or with an error.
pub(super) fn read(ledger: &Ledger, run: RunId) -> (Receiver<Window>, JoinHandle<Result<(), ledger::Error>>) {
    let (send, windows) = channel(1);
    (windows, tokio::spawn(read_windows(ledger.clone(), run, send)))
}

async fn read_windows(ledger: Ledger, run: RunId, send: Sender<Window>) -> Result<(), ledger::Error> {
    let mut from = 0;
    loop {
        let (mut blocks, mut rows, mut bytes) = (Vec::new(), 0, 0);
        while rows < WINDOW_ROWS && bytes < WINDOW_BYTES {
            let more = ledger.source_blocks(run, from, BLOCKS).await?;
            let Some(last) = more.last() else { break };
            from = last.end();
            rows += more.iter().map(|block| block.rows.len()).sum::<usize>();
            bytes += more.iter().map(SourceBlock::bytes).sum::<usize>();
            blocks.extend(more);
        }
        if blocks.is_empty() {
            return Ok(());
        }
        let seqs: BTreeSet<Seq> = blocks.iter().flat_map(|block| &block.rows).map(|row| row.seq).collect();
        let records = load(&ledger, run, &seqs).await?;
        if send.send(Window { blocks, records }).await.is_err() {
            return Ok(());
        }
    }
}

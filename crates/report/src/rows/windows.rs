//! Reads a run's rows with the results of their records, a window at a time, ahead of the writer.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use sheetport_ledger::{self as ledger, Ledger, RunId, Seq, SourceBlock, SourceRow};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use super::records::{RecordResult, load};

/// Maximum number of rows and bytes per window. A large window limits how often a block of records is read if the rows of
/// records are scattered over the sheet. Up to three windows are in memory.
const WINDOW_ROWS: usize = 16 * 1024;
const WINDOW_BYTES: usize = 4 << 20;
/// Number of blocks of rows per query.
const BLOCKS: u32 = 4;

/// Consecutive rows of the sheet, and the results of their records.
pub(super) struct Window {
    rows: Vec<SourceRow>,
    records: BTreeMap<Seq, RecordResult>,
}

impl Window {
    /// Iterates over the rows. If every cell of a row is a separate record, the row has the results of all its cells.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&SourceRow, Cow<'_, RecordResult>)> {
        let mut rows = self.rows.iter().peekable();
        let result = |row: &SourceRow| self.records.get(&row.seq).expect("the records of all rows are loaded");
        std::iter::from_fn(move || {
            let row = rows.next()?;
            let mut record = Cow::Borrowed(result(row));
            while let Some(cell) = rows.next_if(|next| is_same_row(row, next)) {
                record.to_mut().add_cell(result(cell));
            }
            Some((row, record))
        })
    }
}

/// Whether two entries are cells of the same row.
fn is_same_row(one: &SourceRow, other: &SourceRow) -> bool {
    one.cell.is_some() && other.cell.is_some() && (one.number, &one.sheet) == (other.number, &other.sheet)
}

/// Starts reading the rows of `run`. The task ends with the last window, or with an error.
pub(super) fn read(ledger: &Ledger, run: RunId) -> (Receiver<Window>, JoinHandle<Result<(), ledger::Error>>) {
    let (send, windows) = channel(1);
    (windows, tokio::spawn(read_windows(ledger.clone(), run, send)))
}

async fn read_windows(ledger: Ledger, run: RunId, send: Sender<Window>) -> Result<(), ledger::Error> {
    let mut from = 0;
    let mut carried = Vec::new();
    loop {
        let (mut rows, mut bytes, mut is_last) = (std::mem::take(&mut carried), 0, false);
        while rows.len() < WINDOW_ROWS && bytes < WINDOW_BYTES {
            let more = ledger.source_blocks(run, from, BLOCKS).await?;
            let Some(last) = more.last() else {
                is_last = true;
                break;
            };
            from = last.end();
            bytes += more.iter().map(SourceBlock::bytes).sum::<usize>();
            rows.extend(more.into_iter().flat_map(|block| block.rows));
        }
        // Keeps all cells of a row in one window.
        if let Some(last) = rows.last().filter(|row| row.cell.is_some() && !is_last) {
            let start = rows.iter().rposition(|row| !is_same_row(row, last)).map_or(0, |before| before + 1);
            carried = rows.split_off(start);
        }
        if rows.is_empty() && is_last {
            return Ok(());
        }
        let seqs: BTreeSet<Seq> = rows.iter().map(|row| row.seq).collect();
        let records = load(&ledger, run, &seqs).await?;
        if send.send(Window { rows, records }).await.is_err() {
            return Ok(());
        }
    }
}

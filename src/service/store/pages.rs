//! The queue of pages to read. Pages that are wanted at the same time are read by one statement: under load, handing a statement to
//! a connection and waiting for it takes as long as reading a page.

use std::sync::Arc;

use tokio::sync::{Mutex, mpsc, oneshot};

use super::model::{Page, PageRange};
use super::records;
use crate::sql::Readers;

/// Pages that wait for a connection. Further requests wait to enter the queue.
const QUEUE: usize = 1024;
/// Maximum number of pages per statement.
const MAX_PAGES: usize = 16;
/// No further page is added to a statement with this number of records.
const MAX_RECORDS: u64 = 1000;

/// Reads pages on all connections.
pub(super) struct Pages {
    queue: mpsc::Sender<Wanted>,
}

/// A page to be read.
struct Wanted {
    range: PageRange,
    reply: oneshot::Sender<Result<Page, sqlx::Error>>,
}

impl Pages {
    /// Starts a task for each connection. They end when this is dropped.
    pub(super) fn start(readers: &Arc<Readers>) -> Pages {
        let (queue, wanted) = mpsc::channel(QUEUE);
        let wanted = Arc::new(Mutex::new(wanted));
        for _ in 0..readers.connections() {
            tokio::spawn(read_all(readers.clone(), wanted.clone()));
        }
        Pages { queue }
    }

    /// Reads a page and the total number of records, both of the same moment.
    pub(super) async fn read(&self, range: PageRange) -> Result<Page, sqlx::Error> {
        let (reply, page) = oneshot::channel();
        self.queue.send(Wanted { range, reply }).await.map_err(|_| sqlx::Error::PoolClosed)?;
        page.await.map_err(|_| sqlx::Error::PoolClosed)?
    }
}

/// Reads pages until the queue is closed.
async fn read_all(readers: Arc<Readers>, queue: Arc<Mutex<mpsc::Receiver<Wanted>>>) {
    loop {
        let batch = next(&mut *queue.lock().await).await;
        if batch.is_empty() {
            return;
        }
        read(&readers, batch).await;
    }
}

/// Waits for a page, and takes those that wait with it. Returns none if the queue is closed.
async fn next(queue: &mut mpsc::Receiver<Wanted>) -> Vec<Wanted> {
    let (mut batch, mut records) = (Vec::new(), 0);
    let mut next = queue.recv().await;
    while let Some(wanted) = next {
        records += wanted.range.limit;
        batch.push(wanted);
        let is_full = batch.len() == MAX_PAGES || records >= MAX_RECORDS;
        next = if is_full { None } else { queue.try_recv().ok() };
    }
    batch
}

/// Reads pages and replies to each.
async fn read(readers: &Readers, mut batch: Vec<Wanted>) {
    batch.retain(|wanted| !wanted.reply.is_closed());
    let ranges: Vec<&PageRange> = batch.iter().map(|wanted| &wanted.range).collect();
    let pages = records::pages(readers, &ranges).await;
    match pages {
        // A caller that has gone needs no page.
        Ok(pages) => batch.into_iter().zip(pages).for_each(|(wanted, page)| drop(wanted.reply.send(Ok(page)))),
        // A page that can't be read must not fail the others.
        Err(_) if batch.len() > 1 => {
            for wanted in batch {
                let page = records::page(readers, &wanted.range).await;
                let _ = wanted.reply.send(page);
            }
        }
        Err(error) => drop(batch.pop().map(|wanted| wanted.reply.send(Err(error)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::store::Kind;

    fn wanted(limit: u64) -> (Wanted, oneshot::Receiver<Result<Page, sqlx::Error>>) {
        let (reply, page) = oneshot::channel();
        (Wanted { range: PageRange { workspace: "w".to_owned(), kind: Kind::Item, page: 1, limit }, reply }, page)
    }

    #[tokio::test]
    async fn waiting_pages_are_taken_together_up_to_a_limit() {
        for (limit, expected) in [(100, vec![10, 10, 10]), (1000, vec![1; 30]), (1, vec![16, 14]), (600, vec![2; 15])] {
            let (queue, mut receiver) = mpsc::channel(30);
            for _ in 0..30 {
                queue.send(wanted(limit).0).await.expect("open");
            }
            drop(queue);
            let mut taken = Vec::new();
            loop {
                match next(&mut receiver).await.len() {
                    0 => break,
                    pages => taken.push(pages),
                }
            }
            assert_eq!(taken, expected, "{limit} records per page");
        }
    }
}

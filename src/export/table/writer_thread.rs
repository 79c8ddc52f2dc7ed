//! A thread that writes rows while further pages are fetched.

use std::thread::JoinHandle;

use tokio::sync::mpsc;

use super::builder::TableBuilder;
use crate::client::pages::Page;
use crate::export::error::Error;

/// Maximum number of pages waiting to be written.
const MAX_QUEUED: usize = 32;

/// Runs a [`TableBuilder`] on a separate thread. Dropping waits for the thread and removes unfinished files.
pub(in crate::export) struct WriterThread {
    pages: Option<mpsc::Sender<(Page, Vec<bool>)>>,
    thread: Option<JoinHandle<Result<TableBuilder, Error>>>,
}

impl WriterThread {
    pub(in crate::export) fn spawn(mut builder: TableBuilder) -> WriterThread {
        let (pages, mut queue) = mpsc::channel::<(Page, Vec<bool>)>(MAX_QUEUED);
        let thread = std::thread::spawn(move || {
            while let Some((page, new)) = queue.blocking_recv() {
                builder.insert_page(&page, &new)?;
            }
            Ok(builder)
        });
        WriterThread { pages: Some(pages), thread: Some(thread) }
    }

    /// Queues a page with a flag for each entry that is new. Waits while the queue is full.
    ///
    /// # Errors
    /// Returns the error of an earlier page.
    pub(in crate::export) async fn send(&mut self, page: Page, new: Vec<bool>) -> Result<(), Error> {
        let is_sent = match &self.pages {
            Some(pages) => pages.send((page, new)).await.is_ok(),
            None => false,
        };
        if is_sent { Ok(()) } else { self.join().and(Err(Error::Internal("the writer thread ended early"))) }
    }

    /// Waits for all pages to be written.
    pub(in crate::export) fn finish(mut self) -> Result<TableBuilder, Error> {
        self.join()
    }

    fn join(&mut self) -> Result<TableBuilder, Error> {
        self.pages = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) | None => Err(Error::Internal("the writer thread panicked")),
        }
    }
}

impl Drop for WriterThread {
    fn drop(&mut self) {
        drop(self.join());
    }
}

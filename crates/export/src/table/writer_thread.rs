//! A thread that writes rows while further pages are being fetched.

use std::sync::Arc;
use std::thread::JoinHandle;

use sheetport_client::pages::Page;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::builder::TableBuilder;
use crate::error::Error;

/// Maximum number of pages waiting to be written.
const MAX_QUEUED: usize = 32;
/// Maximum size of the pages waiting to be written, in KiB. A larger page waits alone.
const MAX_QUEUED_KIB: u32 = 16 << 10;

/// A page waiting to be written.
struct Queued {
    page: Page,
    /// A flag for each entry, true if new.
    new: Vec<bool>,
    /// Share of [`MAX_QUEUED_KIB`], held until the page is written.
    _room: Option<OwnedSemaphorePermit>,
}

/// Runs a [`TableBuilder`] on a separate thread. Dropping waits for the thread and removes unfinished files.
pub(crate) struct WriterThread {
    pages: Option<mpsc::Sender<Queued>>,
    room: Arc<Semaphore>,
    thread: Option<JoinHandle<Result<TableBuilder, Error>>>,
}

impl WriterThread {
    pub(crate) fn spawn(mut builder: TableBuilder) -> WriterThread {
        let (pages, mut queue) = mpsc::channel::<Queued>(MAX_QUEUED);
        let thread = std::thread::spawn(move || {
            while let Some(Queued { page, new, _room }) = queue.blocking_recv() {
                builder.insert_page(&page, &new)?;
            }
            Ok(builder)
        });
        WriterThread {
            pages: Some(pages),
            room: Arc::new(Semaphore::new(MAX_QUEUED_KIB as usize)),
            thread: Some(thread),
        }
    }

    /// Queues a page with a flag for each new entry. Waits while the queue is full.
    ///
    /// # Errors
    /// Returns the error of an earlier page.
    pub(crate) async fn send(&mut self, page: Page, new: Vec<bool>) -> Result<(), Error> {
        let size = u32::try_from(page.text().len() >> 10).unwrap_or(MAX_QUEUED_KIB).clamp(1, MAX_QUEUED_KIB);
        let room = Arc::clone(&self.room).acquire_many_owned(size).await.ok();
        let is_sent = match &self.pages {
            Some(pages) => pages.send(Queued { page, new, _room: room }).await.is_ok(),
            None => false,
        };
        if is_sent { Ok(()) } else { self.join().and(Err(Error::Internal("the writer thread ended early"))) }
    }

    /// Waits for all pages to be written.
    pub(crate) fn finish(mut self) -> Result<TableBuilder, Error> {
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

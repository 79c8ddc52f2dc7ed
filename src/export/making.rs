//! The maker of rows on a thread of its own, so that writing goes on while pages are fetched.

use std::thread::JoinHandle;

use tokio::sync::mpsc;

use super::Error;
use super::rows::Maker;
use crate::api::pages::Page;

/// Pages that wait to be written.
const WAITING: usize = 32;

/// A maker at work. Dropped, it ends, and leaves nothing behind.
pub struct Making {
    pages: Option<mpsc::Sender<(Page, Vec<bool>)>>,
    thread: Option<JoinHandle<Result<Maker, Error>>>,
}

impl Making {
    pub fn begin(mut maker: Maker) -> Making {
        let (pages, mut received) = mpsc::channel::<(Page, Vec<bool>)>(WAITING);
        let thread = std::thread::spawn(move || {
            while let Some((page, new)) = received.blocking_recv() {
                maker.page(&page, &new)?;
            }
            Ok(maker)
        });
        Making { pages: Some(pages), thread: Some(thread) }
    }

    /// Hands a page over, and waits while too many do already.
    pub async fn page(&mut self, page: Page, new: Vec<bool>) -> Result<(), Error> {
        let sent = match &self.pages {
            Some(pages) => pages.send((page, new)).await.is_ok(),
            None => false,
        };
        if sent {
            return Ok(());
        }
        // It ended before its time, and says why.
        self.join().and(Err(Error::Stuck))
    }

    /// Waits for the last page to be written.
    pub fn end(mut self) -> Result<Maker, Error> {
        self.join()
    }

    fn join(&mut self) -> Result<Maker, Error> {
        self.pages = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            Some(Err(_)) | None => Err(Error::Stuck),
        }
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        drop(self.join());
    }
}

//! The maker of rows on a thread of its own, so that writing goes on while pages are fetched.

use std::thread::JoinHandle;

use tokio::sync::mpsc;

use super::Error;
use super::layout::Made;
use super::rows::Maker;
use crate::client::pages::Page;

/// Pages that wait to be written.
const WAITING: usize = 32;
/// Pages whose rows are made already are handed over some at once: so many of them, or of so many bytes.
const TOGETHER: usize = 16;
const BYTES_TOGETHER: usize = 256 * 1024;

/// A maker at work. Dropped, it ends, and leaves nothing behind.
pub struct Making {
    pages: Option<mpsc::Sender<Vec<Given>>>,
    /// What was not handed over yet, and the bytes of its rows.
    given: Vec<Given>,
    bytes: usize,
    thread: Option<JoinHandle<Result<Maker, Error>>>,
}

/// A page, which of its entries are new, and its rows where they are made.
pub enum Given {
    Page(Page, Vec<bool>),
    Made(Made),
}

impl Making {
    pub fn begin(mut maker: Maker) -> Making {
        let (pages, mut received) = mpsc::channel::<Vec<Given>>(WAITING);
        let thread = std::thread::spawn(move || {
            while let Some(given) = received.blocking_recv() {
                for given in given {
                    match given {
                        Given::Page(page, new) => maker.page(&page, &new)?,
                        Given::Made(made) => maker.made(made)?,
                    }
                }
            }
            Ok(maker)
        });
        Making { pages: Some(pages), given: Vec::new(), bytes: 0, thread: Some(thread) }
    }

    /// Hands a page over, and waits while too many do already.
    pub async fn give(&mut self, given: Given) -> Result<(), Error> {
        let are_few = match &given {
            Given::Page(..) => false,
            Given::Made(made) => {
                self.bytes += made.bytes.len();
                self.bytes < BYTES_TOGETHER && self.given.len() + 1 < TOGETHER
            }
        };
        self.given.push(given);
        if are_few { Ok(()) } else { self.hand_over().await }
    }

    /// Waits for the last page to be written.
    pub async fn end(mut self) -> Result<Maker, Error> {
        self.hand_over().await?;
        self.join()
    }

    async fn hand_over(&mut self) -> Result<(), Error> {
        let given = std::mem::take(&mut self.given);
        self.bytes = 0;
        let sent = match &self.pages {
            Some(pages) => pages.send(given).await.is_ok(),
            None => false,
        };
        if sent {
            return Ok(());
        }
        // It ended before its time, and says why.
        self.join().and(Err(Error::Stuck))
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

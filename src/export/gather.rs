//! Fetching: a page of a list, and several records at once, given in their order.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::Error;
use super::ids::{IdFile, Ids, Wanted};
use super::spool::Kind;
use crate::client::pages::read::read_into;
use crate::client::pages::{self, Page};
use crate::client::{self, Client, Pace, fetch};
use crate::records::{List, Single};

/// Entries asked for on a page. The service may give fewer.
pub const PAGE_SIZE: u32 = 100;
/// Ids read ahead of those that are asked for.
const IDS_AHEAD: usize = 1024;

/// Who asks whom, and how many at once.
#[derive(Clone)]
pub struct Asking {
    pub client: Arc<Client>,
    pub pace: Arc<Pace>,
    pub concurrency: usize,
}

/// What came of one request.
#[derive(Debug)]
pub enum Fetched {
    Page(Page),
    /// The list has no such page.
    NoPage,
    Missing(Missing),
}

/// An id that was asked for in vain.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Missing {
    pub id: String,
    pub row: u64,
    pub reason: String,
}

impl Fetched {
    /// A page without entries where none came.
    pub fn into_page(self) -> Page {
        match self {
            Fetched::Page(page) => page,
            Fetched::NoPage | Fetched::Missing(_) => Page::empty(),
        }
    }

    /// As what it is kept in the spool.
    pub fn in_spool(&self) -> (Kind, Cow<'_, [u8]>) {
        match self {
            Fetched::Page(page) => (Kind::Page, Cow::Borrowed(page.text().as_bytes())),
            Fetched::NoPage => (Kind::NoPage, Cow::Borrowed(&[])),
            Fetched::Missing(missing) => (Kind::Missing, Cow::Owned(serde_json::to_vec(missing).unwrap_or_default())),
        }
    }
}

/// Requests under way, the oldest first. They end with the value.
struct UnderWay(VecDeque<JoinHandle<Result<Fetched, Error>>>);

/// Records by their ids.
pub struct Records {
    asking: Asking,
    single: &'static Single,
    by_external_id: bool,
    ids: mpsc::Receiver<Result<Wanted, Error>>,
    under_way: UnderWay,
}

impl Records {
    /// Begins behind the first `done` ids of the file.
    pub fn new(
        asking: Asking,
        single: &'static Single,
        by_external_id: bool,
        file: &IdFile,
        done: u64,
    ) -> Result<Records, Error> {
        let mut ids = Ids::open(&file.path, file.column.as_deref())?;
        let (sender, receiver) = mpsc::channel(IDS_AHEAD);
        tokio::task::spawn_blocking(move || {
            let mut seen = 0;
            while let Some(wanted) = ids.next().transpose() {
                seen += 1;
                // Whoever does not want more has let go of the other end.
                if (seen > done || wanted.is_err()) && sender.blocking_send(wanted).is_err() {
                    return;
                }
            }
        });
        Ok(Records { asking, single, by_external_id, ids: receiver, under_way: UnderWay(VecDeque::new()) })
    }

    /// The next record, or what was not found; nothing after the last.
    pub async fn next(&mut self) -> Result<Option<Fetched>, Error> {
        while self.under_way.0.len() < self.asking.concurrency {
            let Some(wanted) = self.ids.recv().await.transpose()? else { break };
            let record = record(self.asking.clone(), self.single, self.by_external_id, wanted);
            self.under_way.0.push_back(tokio::spawn(record));
        }
        self.under_way.next().await.transpose()
    }
}

impl UnderWay {
    async fn next(&mut self) -> Option<Result<Fetched, Error>> {
        let oldest = self.0.front_mut()?;
        let fetched = oldest.await;
        self.0.pop_front();
        Some(fetched.unwrap_or(Err(Error::Stuck)))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

/// A page of a list, by its number from 1, in the memory of one that nobody needs any more.
pub async fn page(asking: &Asking, list: &List, number: u64, mut spare: Page) -> Result<Fetched, Error> {
    let path = format!("{}?page={number}&{}={PAGE_SIZE}", list.path, list.size);
    match fetch::fetch(&asking.client, &asking.pace, &path, |body| read_into(body, std::mem::take(&mut spare))).await {
        Ok(page) => Ok(Fetched::Page(page)),
        // Some services have no page past the last one, where others have an empty one.
        Err(client::Error::Status { status: 404, .. }) if number > 1 => Ok(Fetched::NoPage),
        Err(client::Error::Unreadable(reason)) => Err(Error::Page { page: number, reason }),
        Err(error) => Err(error.into()),
    }
}

async fn record(
    asking: Asking,
    single: &'static Single,
    by_external_id: bool,
    wanted: Wanted,
) -> Result<Fetched, Error> {
    let missing = |reason: String| -> Result<Fetched, Error> {
        Ok(Fetched::Missing(Missing { id: wanted.id.clone(), row: wanted.row, reason }))
    };
    let Some(path) = fetch::record_path(single.path, &wanted.id, by_external_id) else {
        return missing("it can't be asked for".to_owned());
    };
    match fetch::fetch(&asking.client, &asking.pace, &path, pages::read::read_one).await {
        Ok(page) => Ok(Fetched::Page(page)),
        Err(client::Error::Status { status: 404 | 410, .. }) => missing("not found".to_owned()),
        Err(client::Error::Status { status: status @ (400 | 422), message }) => {
            missing(format!("the service answered {status}: {message}"))
        }
        Err(error) => Err(error.into()),
    }
}

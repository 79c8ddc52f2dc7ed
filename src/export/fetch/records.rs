//! Single records by their IDs.

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};

use super::ids::{IdFile, IdRow, Ids};
use super::response::{Fetched, Fetcher, MissingRecord};
use crate::client::pages::Page;
use crate::client::{self, fetch};
use crate::export::error::Error;
use crate::records::Single;

/// The records of a file of IDs in order, with several requests in flight.
pub(in crate::export) struct RecordsById<'a> {
    results: BoxStream<'a, Result<Fetched, Error>>,
}

impl<'a> RecordsById<'a> {
    /// Skips the first `done` IDs of the file.
    pub(in crate::export) fn new(
        fetcher: &'a Fetcher,
        single: &'static Single,
        by_external_id: bool,
        file: &IdFile,
        done: u64,
    ) -> Result<RecordsById<'a>, Error> {
        let mut ids = Ids::open(&file.path, file.column.as_deref())?;
        for _ in 0..done {
            ids.next_id()?;
        }
        let ids = std::iter::from_fn(move || ids.next_id().transpose());
        let requests =
            stream::iter(ids).map(move |id| async move { fetch_record(fetcher, single, by_external_id, id?).await });
        Ok(RecordsById { results: requests.buffered(fetcher.concurrency).boxed() })
    }

    /// Returns the result for the next ID, or `None` after the last.
    pub(in crate::export) async fn next(&mut self) -> Result<Option<Fetched>, Error> {
        self.results.next().await.transpose()
    }
}

async fn fetch_record(
    fetcher: &Fetcher,
    single: &Single,
    by_external_id: bool,
    IdRow { id, row }: IdRow,
) -> Result<Fetched, Error> {
    let path = fetch::record_path(single.path, &id, by_external_id);
    let missing = |reason: String| Ok(Fetched::Missing(MissingRecord { id, row, reason }));
    let Some(path) = path else { return missing("not a valid ID".to_owned()) };
    match fetch::fetch(&fetcher.client, &fetcher.pace, &path, Page::parse_record).await {
        Ok(page) => Ok(Fetched::Page(page)),
        Err(client::Error::Status { status: 404 | 410, .. }) => missing("not found".to_owned()),
        Err(client::Error::Status { status: status @ (400 | 422), message }) => {
            missing(format!("the service answered {status}: {message}"))
        }
        Err(error) => Err(error.into()),
    }
}

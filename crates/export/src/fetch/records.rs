//! Single records, requested by ID.

use std::collections::HashSet;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use sheetport_client::pages::Page;
use sheetport_client::{self as client, fetch};
use sheetport_records::Single;

use super::ids::{IdFile, IdRow, Ids};
use super::response::{Fetched, Fetcher, MissingRecord};
use crate::error::Error;

/// Maximum size of a response with one record, in bytes.
const MAX_RECORD: usize = 8 << 20;
/// Maximum size of a response while others are in flight, in bytes. Larger responses are requested again, one at a time.
const READ_AHEAD: usize = 512 << 10;

/// The records of a file of IDs in order, with several requests in flight.
pub(crate) struct RecordsById<'a> {
    results: BoxStream<'a, Result<(IdRow, Fetched), Error>>,
    single: &'static Single,
    /// The records so far, by their first ID.
    seen: HashSet<String>,
}

impl<'a> RecordsById<'a> {
    /// Skips the first `done` IDs of the file.
    pub(crate) fn new(
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
        Ok(RecordsById { results: requests.buffered(fetcher.concurrency).boxed(), single, seen: HashSet::new() })
    }

    /// Returns the result for the next ID, or `None` after the last.
    pub(crate) async fn next(&mut self) -> Result<Option<Fetched>, Error> {
        let Some((IdRow { id, row }, fetched)) = self.results.next().await.transpose()? else { return Ok(None) };
        // A response to an external ID does not contain that ID, so a wrong record is recognized only by its second occurrence.
        if let Fetched::Page(page) = &fetched
            && let Some(own) = ids_of(page, self.single).into_iter().next()
            && !self.seen.insert(own.clone())
        {
            let reason = format!("the service answered the record {own}, as for another ID");
            return Ok(Some(Fetched::Missing(MissingRecord { id, row, reason, is_other: true })));
        }
        Ok(Some(fetched))
    }
}

/// Requests a single record.
pub(crate) async fn fetch_record(
    fetcher: &Fetcher,
    single: &Single,
    by_external_id: bool,
    asked: IdRow,
) -> Result<(IdRow, Fetched), Error> {
    let IdRow { id, row } = asked.clone();
    let path = fetch::record_path(single.path, &id, by_external_id);
    let missing = |reason: String, is_other| {
        let record = MissingRecord { id: id.clone(), row, reason, is_other };
        Ok((asked.clone(), Fetched::Missing(record)))
    };
    let Some(path) = path else { return missing("not a valid ID".to_owned(), false) };
    let fetched =
        async |most| fetch::fetch_within(&fetcher.client, &fetcher.pace, &path, most, Page::parse_record).await;
    let page = match fetched(READ_AHEAD).await {
        Err(client::Error::TooLong(_)) => {
            let _alone = fetcher.large.lock().await;
            fetched(MAX_RECORD).await
        }
        page => page,
    };
    match page {
        Ok(page) => match other_record(&page, single, (!by_external_id).then_some(&*id)) {
            Some(reason) => missing(reason, true),
            None => Ok((asked.clone(), Fetched::Page(page))),
        },
        Err(client::Error::Status { status: 404 | 410, .. }) => missing("not found".to_owned(), false),
        Err(client::Error::Status { status: status @ (400 | 422), message, .. }) => {
            missing(format!("the service answered {status}: {message}"), false)
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns a message if the response is not the requested record. `asked` is the requested ID, if responses contain this kind.
fn other_record(page: &Page, single: &Single, asked: Option<&str>) -> Option<String> {
    let ids = ids_of(page, single);
    let Some(first) = ids.first() else {
        return Some("the answer of the service has no ID, so it may be something else".to_owned());
    };
    let is_other = asked.is_some_and(|asked| !ids.iter().any(|id| id.eq_ignore_ascii_case(asked)));
    is_other.then(|| format!("the service answered the record {first} instead"))
}

/// Returns the IDs of the record in an answer.
fn ids_of(page: &Page, single: &Single) -> Vec<String> {
    let record = page.entries().next();
    let ids = record.iter().flat_map(|record| single.id_fields.iter().filter_map(|name| record.text(name)));
    ids.map(|id| id.into_owned()).collect()
}

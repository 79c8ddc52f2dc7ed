//! The result of one request.

use std::borrow::Cow;
use std::sync::Arc;

use crate::client::pages::Page;
use crate::client::{Client, Pace};
use crate::export::spool::FrameKind;

/// Connection settings of all requests of an export.
pub(in crate::export) struct Fetcher {
    pub(in crate::export) client: Arc<Client>,
    pub(in crate::export) pace: Arc<Pace>,
    /// Maximum number of simultaneous requests.
    pub(in crate::export) concurrency: usize,
    /// Held while reading a large response, so that only one is in memory.
    pub(in crate::export) large: tokio::sync::Mutex<()>,
}

/// The result of one request.
#[derive(Debug)]
pub(in crate::export) enum Fetched {
    Page(Page),
    /// The list has no page of this number.
    NoPage,
    Missing(MissingRecord),
}

/// An ID for which the service returned no record.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(in crate::export) struct MissingRecord {
    pub(in crate::export) id: String,
    pub(in crate::export) row: u64,
    pub(in crate::export) reason: String,
    /// The service answered with something else than the record.
    #[serde(default)]
    pub(in crate::export) is_other: bool,
}

impl Fetched {
    /// Returns the kind and the payload of the spool frame for this result.
    pub(in crate::export) fn to_frame(&self) -> (FrameKind, Cow<'_, [u8]>) {
        match self {
            Fetched::Page(page) => (FrameKind::Page, Cow::Borrowed(page.text().as_bytes())),
            Fetched::NoPage => (FrameKind::NoPage, Cow::Borrowed(&[])),
            Fetched::Missing(missing) => {
                let json = serde_json::to_vec(missing).expect("strings and a number always serialize");
                (FrameKind::Missing, Cow::Owned(json))
            }
        }
    }

    /// Returns the page, or an empty page if the list has no page of this number.
    pub(in crate::export) fn into_page(self) -> Page {
        match self {
            Fetched::Page(page) => page,
            Fetched::NoPage | Fetched::Missing(_) => Page::default(),
        }
    }
}

//! The result of one request.

use std::borrow::Cow;
use std::sync::Arc;

use sheetport_client::pages::Page;
use sheetport_client::{Client, Pace};

use crate::spool::FrameKind;

/// Connection settings of all requests of an export.
pub(crate) struct Fetcher {
    pub(crate) client: Arc<Client>,
    pub(crate) pace: Arc<Pace>,
    /// Maximum number of simultaneous requests.
    pub(crate) concurrency: usize,
    /// Held while reading a large response, so that only one is in memory.
    pub(crate) large: tokio::sync::Mutex<()>,
}

/// The result of one request.
#[derive(Debug)]
pub(crate) enum Fetched {
    Page(Page),
    /// The list has no page of this number.
    NoPage,
    Missing(MissingRecord),
}

/// An ID for which the service returned no record.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct MissingRecord {
    pub(crate) id: String,
    pub(crate) row: u64,
    pub(crate) reason: String,
    /// The service answered with something else than the record.
    #[serde(default)]
    pub(crate) is_other: bool,
}

impl Fetched {
    /// Returns the kind and the payload of the spool frame for this result.
    pub(crate) fn to_frame(&self) -> (FrameKind, Cow<'_, [u8]>) {
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
    pub(crate) fn into_page(self) -> Page {
        match self {
            Fetched::Page(page) => page,
            Fetched::NoPage | Fetched::Missing(_) => Page::default(),
        }
    }
}

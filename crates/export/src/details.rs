//! The details of listed records: `--lines` requests each order of the list, because the list shows no lines.
//!
//! The list decides which records are new or changed: the hashes that an export keeps are those of the list's entries, never of
//! details. Conditions about fields of the list are decided before the details are requested. Details are spooled with their IDs, so an
//! interrupted export goes on with the others.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use jiff::civil;
use sheetport_client::pages::{Completeness, Entry, Page, Walk};
use sheetport_records::{List, Single};

use super::changes::{Hashes, RecordHashes, hash_of_id, hashes};
use super::error::Error;
use super::fetch::{Fetched, Fetcher, IdRow, ListPages, MissingRecord, fetch_record};
use super::session::{ExportSession, Progress};
use super::spool::FrameKind;
use super::spooled::{Entries, PageIterator, detail, detail_payload};
use super::table::Selection;
use super::template::Template;
use super::template::model::json_at;

/// The listed records, apart from their details.
#[derive(Debug, Default)]
pub(super) struct ListedRecords {
    /// Records that have not changed.
    pub(super) older: u64,
    /// Records whose entries do not meet the conditions.
    pub(super) left_out: u64,
    /// The hashes of the entries of all records in the table, and of unchanged ones.
    pub(super) hashes: RecordHashes,
    /// Records that were removed after the list was read.
    pub(super) gone: u64,
    /// Listed records without an ID.
    pub(super) unnamed: u64,
    /// Listed records for which the service returned no details, by the hash of their ID.
    pub(super) unanswered: Arc<HashSet<u64>>,
}

/// The records whose details are to be requested, in the order of the list.
struct Wanted<'a> {
    pages: PageIterator<'a>,
    selection: &'a Selection,
    template: Option<&'a Template>,
    ready: VecDeque<WantedRecord>,
    /// Place of the last record in the list, from 1.
    row: u64,
    /// `None` once the list has been counted.
    listed: Option<&'a mut ListedRecords>,
}

struct WantedRecord {
    id: IdRow,
    /// The hashes of the entry of the list.
    hashes: Hashes,
}

impl Wanted<'_> {
    fn next(&mut self) -> Result<Option<WantedRecord>, Error> {
        while self.ready.is_empty() {
            let Some(page) = self.pages.next() else { return Ok(None) };
            let (page, new) = page?;
            for (entry, _) in page.entries().zip(new).filter(|(_, is_new)| *is_new) {
                self.row += 1;
                self.add(&entry)?;
            }
        }
        Ok(self.ready.pop_front())
    }

    fn add(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        let hashes = hashes(entry);
        let id = entry.id();
        let is_left_out = is_left_out(self.template, entry)?;
        let has_changed = self.selection.has_changed(entry);
        if let Some(listed) = &mut self.listed {
            listed.left_out += u64::from(is_left_out);
            listed.older += u64::from(!is_left_out && !has_changed);
            listed.unnamed += u64::from(!is_left_out && has_changed && id.is_none());
            if !is_left_out && !has_changed {
                listed.hashes.push(hashes);
            }
        }
        if let (false, true, Some(id)) = (is_left_out, has_changed, id) {
            let id = IdRow { id: id.into_owned(), row: self.row };
            self.ready.push_back(WantedRecord { id, hashes });
        }
        Ok(())
    }
}

/// Returns whether the entry of a list shows that the record does not meet a condition. The details decide about fields that the
/// list does not have.
fn is_left_out(template: Option<&Template>, entry: &Entry<'_>) -> Result<bool, Error> {
    for condition in template.iter().flat_map(|template| &template.conditions) {
        let is_shown = |path: &String| json_at(entry, path).is_some_and(|json| json != "null");
        let today: Option<civil::Date> = template.and_then(|template| template.today);
        if condition.paths().iter().all(is_shown) && !condition.holds(entry, today)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl ExportSession {
    /// Requests the details of the selected records of a list that has been read.
    pub(super) async fn fetch_details(
        &mut self,
        (list, single): (&'static List, &'static Single),
        selection: &Selection,
        template: Option<&Template>,
        fetcher: &Fetcher,
        progress: &Progress<'_>,
    ) -> Result<ListedRecords, Error> {
        let mut listed = ListedRecords::default();
        let known = self.use_spooled_details(selection, template, &mut listed, progress).await?;
        let mut missing: HashSet<u64> = known.missing;
        let pages = self.repeated.clone();
        let mut wanted = Wanted {
            pages: PageIterator::new(&self.spool, Entries::Pages, &pages)?,
            selection,
            template,
            ready: VecDeque::new(),
            row: 0,
            listed: Some(&mut listed),
        };
        let mut found: Vec<Hashes> = Vec::new();
        {
            let others = std::iter::from_fn(|| {
                loop {
                    match wanted.next().transpose()? {
                        Ok(record) if known.done.contains(&record.hashes.0) => {}
                        other => return Some(other),
                    }
                }
            });
            let requests = stream::iter(others).map(|record| async move {
                let WantedRecord { id, hashes } = record?;
                Ok::<_, Error>((hashes, fetch_record(fetcher, single, false, id).await?))
            });
            let mut results = requests.buffered(fetcher.concurrency).boxed();
            while let Some((hashes, (IdRow { id, .. }, fetched))) = results.next().await.transpose()? {
                match fetched {
                    Fetched::Page(page) => {
                        self.spool.append(FrameKind::Detail, &detail_payload(&id, &page))?;
                        self.frames += 1;
                        if self.add_detail(page, template).await? {
                            found.push(hashes);
                        }
                    }
                    Fetched::Missing(record) => {
                        self.add_missing(&record)?;
                        missing.insert(hashes.0);
                    }
                    Fetched::NoPage => return Err(Error::Internal("a single record was answered as a page")),
                }
                progress(self.details, None);
            }
        }
        found.into_iter().for_each(|hashes| listed.hashes.push(hashes));
        if !missing.is_empty() {
            let unanswered = self.still_listed(list, &missing, fetcher).await?;
            listed.gone = missing.len().saturating_sub(unanswered.len()) as u64;
            listed.unanswered = Arc::new(unanswered);
        }
        Ok(listed)
    }

    /// Adds a detail that is in the spool. Returns whether it meets the conditions.
    async fn add_detail(&mut self, page: Page, template: Option<&Template>) -> Result<bool, Error> {
        self.details += 1;
        let is_selected = match (template, page.entries().next()) {
            (Some(template), Some(entry)) => template.selects(&entry)?,
            _ => true,
        };
        let new = vec![true; page.entries().len()];
        self.writer.send(page, new).await?;
        Ok(is_selected)
    }

    fn add_missing(&mut self, record: &MissingRecord) -> Result<(), Error> {
        let missing = Fetched::Missing(record.clone());
        let (kind, payload) = missing.to_frame();
        self.spool.append(kind, &payload)?;
        self.frames += 1;
        Ok(())
    }

    /// Adds the details that an interrupted export requested.
    async fn use_spooled_details(
        &mut self,
        selection: &Selection,
        template: Option<&Template>,
        listed: &mut ListedRecords,
        progress: &Progress<'_>,
    ) -> Result<KnownDetails, Error> {
        let mut known = KnownDetails::default();
        if self.spooled_details == 0 {
            return Ok(known);
        }
        let mut wanted: HashMap<u64, Hashes> = HashMap::new();
        {
            let pages = PageIterator::new(&self.spool, Entries::Pages, &self.repeated)?;
            let mut all = Wanted { pages, selection, template, ready: VecDeque::new(), row: 0, listed: None };
            while let Some(record) = all.next()? {
                wanted.insert(record.hashes.0, record.hashes);
            }
        }
        let mut frames = self.spool.frames()?;
        let mut position = 0;
        while let Some(frame) = frames.next()? {
            let here = position;
            position += 1;
            match frame.kind {
                FrameKind::Detail => {
                    let (id, page) = detail(frame.payload).ok_or(Error::Internal("a detail has no ID"))?;
                    let Some(hashes) = wanted.remove(&hash_of_id(&id)) else {
                        // The record has not changed after all, or is there twice.
                        self.repeated.insert(here, vec![false; page.entries().len()]);
                        continue;
                    };
                    known.done.insert(hashes.0);
                    if self.add_detail(page, template).await? {
                        listed.hashes.push(hashes);
                    }
                    progress(self.details, None);
                }
                FrameKind::Missing => {
                    let record = serde_json::from_slice::<MissingRecord>(&frame.payload).ok();
                    let hash = record.map(|record| hash_of_id(record.id.as_bytes()));
                    if let Some(hashes) = hash.and_then(|hash| wanted.remove(&hash)) {
                        known.done.insert(hashes.0);
                        known.missing.insert(hashes.0);
                    }
                }
                _ => {}
            }
        }
        Ok(known)
    }

    /// Reads the list once more, and returns which of these records are still in the list. If the reading proves nothing, all count as
    /// listed.
    async fn still_listed(
        &self,
        list: &'static List,
        missing: &HashSet<u64>,
        fetcher: &Fetcher,
    ) -> Result<HashSet<u64>, Error> {
        let mut again: Walk = self.walk.restarted();
        let mut listed = HashSet::new();
        let mut pages = ListPages::new(fetcher, list, self.size, 1);
        while let Some(fetched) = pages.next(&again).await? {
            let page = fetched.into_page();
            listed.extend(page.entries().map(|entry| hashes(&entry).0).filter(|id| missing.contains(id)));
            again.insert(&page);
        }
        let is_proven = !matches!(again.completeness(), Completeness::Moved(_) | Completeness::Unproven(_));
        Ok(if is_proven { listed } else { missing.clone() })
    }
}

/// What an interrupted export requested.
#[derive(Debug, Default)]
struct KnownDetails {
    /// The records whose answers are in the spool, by the hash of their ID.
    done: HashSet<u64>,
    missing: HashSet<u64>,
}

//! Runs an export: fetches and spools all pages, writes the table and concludes.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::changes::{Comparison, PreviousRecords};
use super::conclude::{
    ComparedRecords, ExportResults, Exported, History, Reading, Verdict, check_existing, conclude, incomplete,
    records_before, resolve,
};
use super::error::Error;
use super::fetch::{Fetched, Fetcher, ListPages, MissingRecord, PAGE_SIZE, RecordsById, fetch_page};
use super::job::{Job, Output, Since, Source};
use super::spool::{FrameKind, Frames, Spool};
use super::table::{FinishedTable, Selection, TableBuilder, TableOptions, WriterThread};
use crate::client::pages::{Completeness, Page, Walk};
use crate::client::{Client, Pace};
use crate::digest;
use crate::records::List;
use crate::sheet;
use crate::sheet::compression::Compression;
use crate::sheet::write::{Existing, Shape, WholeFile, folder};

/// How often a list is read if it changes meanwhile in a way that may hide records.
const MAX_READINGS: u32 = 3;

/// Fewer entries than this are no page of a longer list.
const MIN_PAGE_SIZE: u64 = 10;

/// Called with the number of records so far and the total, if known.
pub(super) type Progress<'a> = dyn Fn(u64, Option<u64>) + Sync + 'a;

/// Runs an export.
pub async fn export(
    client: Arc<Client>,
    pace: Arc<Pace>,
    job: &Job,
    progress: &Progress<'_>,
) -> Result<Exported, Error> {
    let path = file_path(job)?;
    check_existing(job, path.as_deref())?;
    let identity = identity(job)?;
    let history = History::open(&job.home, &identity)?;
    history.delete_old_spools(&job.home, (job.clock.now)());
    let previous = history.state();
    let records_before = records_before(job, path.as_deref(), previous.as_ref());
    let concluded = previous.as_ref().map(|previous| previous.started);
    let compared = previous.and_then(|previous| previous.compared);
    let fetcher = Fetcher { client, pace, concurrency: job.concurrency.max(1) };

    let mut readings = 1;
    let (session, since, completeness) = loop {
        let (options, since) = table_options(job, path.as_deref(), &history, compared.as_ref())?;
        let writer = WriterThread::spawn(TableBuilder::new(options));
        let is_fresh = job.fresh || readings > 1;
        let mut session = ExportSession::start(job, &identity, &history, concluded, is_fresh, writer)?;
        let completeness = session.fetch_all(job, &fetcher, progress).await?;
        match completeness {
            Completeness::Moved(_) if readings < MAX_READINGS => readings += 1,
            completeness => break (session, since, completeness),
        }
    };
    let reading = Reading { times: readings, is_verified: session.is_verified };
    let verdict = Verdict::new(job, &completeness, &session.walk, reading, records_before);
    let path = path.map(|path| if verdict.is_complete { path } else { incomplete(&path) });

    let ExportSession { walk, spool, writer, repeated, missing, was_resumed, is_verified, started, .. } = session;
    let file = path.clone().unwrap_or_else(|| PathBuf::from("-"));
    let new_records = History::new_records(started);
    let hashes = (compared.as_ref().map(|compared| history.hashes(compared)), history.hashes(&new_records));
    let finishing = tokio::task::spawn_blocking(move || finish_table(writer, file, spool, repeated, hashes));
    let finished = finishing.await.unwrap_or(Err(Error::Internal("writing the file panicked")))?;
    let (table, comparison, spool) = finished;
    let new_records = comparison.is_saved().then_some(new_records);
    let results = ExportResults {
        job,
        history: &history,
        verdict,
        walk,
        table,
        comparison,
        path,
        since,
        compared: [compared, new_records],
        missing,
        was_resumed,
        is_verified,
        started,
    };
    conclude(results, spool)
}

/// An export while pages are being fetched.
struct ExportSession {
    walk: Walk,
    spool: Spool,
    writer: WriterThread,
    /// Flags for the new entries of pages with repeated entries, by position in the spool.
    repeated: HashMap<u64, Vec<bool>>,
    /// Number of frames in the spool.
    frames: u64,
    /// Number of IDs that were not found.
    missing: u64,
    /// Number of these for which the service answered something else.
    others: u64,
    was_resumed: bool,
    /// All IDs of the list were read a second time.
    is_verified: bool,
    /// When the first page was requested, possibly by an interrupted export.
    started: jiff::Timestamp,
}

impl ExportSession {
    /// Opens the spool of an interrupted export unless `is_fresh`, or creates one. `concluded` is the start time of the
    /// last export that was not interrupted.
    fn start(
        job: &Job,
        identity: &str,
        history: &History,
        concluded: Option<jiff::Timestamp>,
        is_fresh: bool,
        writer: WriterThread,
    ) -> Result<ExportSession, Error> {
        let now = (job.clock.now)();
        let interrupted = match is_fresh {
            true => None,
            false => Spool::open_interrupted(history.folder(), identity, concluded, now)?,
        };
        let was_resumed = interrupted.is_some();
        let (spool, started) = match interrupted {
            Some(interrupted) => interrupted,
            None => {
                let started = job.clock.timestamp();
                (Spool::create(history.folder(), identity, started)?, started)
            }
        };
        Ok(ExportSession {
            walk: Walk::default(),
            spool,
            writer,
            repeated: HashMap::new(),
            frames: 0,
            missing: 0,
            others: 0,
            was_resumed,
            is_verified: false,
            started,
        })
    }

    async fn fetch_all(
        &mut self,
        job: &Job,
        fetcher: &Fetcher,
        progress: &Progress<'_>,
    ) -> Result<Completeness, Error> {
        if self.was_resumed {
            self.replay(progress).await?;
        }
        match &job.source {
            Source::List(list) => {
                let mut pages = ListPages::new(fetcher, list, self.walk.fetched() + 1);
                while let Some(fetched) = pages.next(&self.walk).await? {
                    self.insert(fetched).await?;
                    progress(self.walk.entries, self.walk.total);
                }
                for page in pages.rest(&self.walk).await {
                    self.walk.observe_total(&page);
                }
                if self.walk.is_unpaged() {
                    return self.read_unpaged(fetcher, list).await;
                }
                self.look_again(fetcher, list).await?;
                progress(self.walk.entries, self.walk.total);
                let completeness = self.walk.completeness();
                // Pages of different ages can agree by chance.
                self.is_verified = job.verify || self.was_resumed || self.walk.needs_second_walk();
                if !self.is_verified || matches!(completeness, Completeness::Moved(_) | Completeness::Unproven(_)) {
                    return Ok(completeness);
                }
                let mut second = self.walk.restarted();
                let mut pages = ListPages::new(fetcher, list, 1);
                while let Some(fetched) = pages.next(&second).await? {
                    second.insert(&fetched.into_page());
                    progress(second.entries, second.total);
                }
                Ok(self.walk.confirmed_by(&second))
            }
            Source::Ids { single, file, by_external_id } => {
                let mut records = RecordsById::new(fetcher, single, *by_external_id, file, self.frames)?;
                while let Some(fetched) = records.next().await? {
                    self.insert(fetched).await?;
                    progress(self.frames, None);
                }
                Ok(match self.others {
                    0 => Completeness::RequestedById,
                    others => Completeness::Unproven(format!(
                        "{others} answers of the service are not the record that was asked for; their IDs are listed with \
                         those that were not found"
                    )),
                })
            }
        }
    }

    /// Reads the first and perhaps the last pages again, until all their entries are known: those that were inserted
    /// while the list was being read are there.
    async fn look_again(&mut self, fetcher: &Fetcher, list: &'static List) -> Result<(), Error> {
        for ends in [Walk::first_look, Walk::last_look] {
            let mut number = ends(&self.walk);
            while let Some(page) = number.filter(|_| !self.walk.has_looked_enough()) {
                let fetched = fetch_page(fetcher, list, page, PAGE_SIZE).await?;
                let has_new = self.insert_again(fetched.into_page()).await?;
                number = has_new.then_some(page + 1);
            }
        }
        Ok(())
    }

    /// Finds out whether a list without total and with a single page, whatever its number, is a page of a longer list.
    async fn read_unpaged(&mut self, fetcher: &Fetcher, list: &'static List) -> Result<Completeness, Error> {
        let mut size = PAGE_SIZE;
        loop {
            let (entries, is_full) = (self.walk.entries, self.walk.entries >= size);
            if !is_full {
                let is_whole = entries < MIN_PAGE_SIZE || !is_typical_page_size(entries);
                return Ok(if is_whole { Completeness::Unpaged } else { self.walk.completeness() });
            }
            size = entries.saturating_mul(2);
            let fetched = fetch_page(fetcher, list, 1, size).await?;
            let has_new = self.insert_again(fetched.into_page()).await?;
            if !has_new || self.walk.has_looked_enough() {
                // The service ignores the page size as well, or has a largest one.
                let is_whole = !is_typical_page_size(entries);
                return Ok(if is_whole { Completeness::Unpaged } else { self.walk.completeness() });
            }
        }
    }

    /// Reads the pages of an interrupted export.
    async fn replay(&mut self, progress: &Progress<'_>) -> Result<(), Error> {
        let mut frames = self.spool.frames()?;
        let mut valid_len = frames.valid_len();
        while let Some(frame) = frames.next()? {
            match frame.kind {
                FrameKind::Missing => {
                    let missing = serde_json::from_slice::<MissingRecord>(&frame.payload);
                    self.count_missing(missing.is_ok_and(|missing| missing.is_other));
                }
                FrameKind::Begin => {}
                FrameKind::NoPage => self.insert_page(Page::default()).await?,
                FrameKind::PageAgain => match Page::parse(frame.payload) {
                    Ok(page) => drop(self.insert_known(page).await?),
                    Err(_) => break,
                },
                // An unreadable page and all later pages are requested again.
                FrameKind::Page => match Page::parse(frame.payload) {
                    Ok(page) => self.insert_page(page).await?,
                    Err(_) => break,
                },
            }
            valid_len = frames.valid_len();
            progress(self.walk.entries, self.walk.total);
        }
        self.spool.truncate(valid_len)
    }

    /// Spools a result and adds it to the table.
    async fn insert(&mut self, fetched: Fetched) -> Result<(), Error> {
        let (kind, payload) = fetched.to_frame();
        self.spool.append(kind, &payload)?;
        match fetched {
            Fetched::Missing(missing) => {
                self.count_missing(missing.is_other);
                Ok(())
            }
            Fetched::Page(_) | Fetched::NoPage => self.insert_page(fetched.into_page()).await,
        }
    }

    async fn insert_page(&mut self, page: Page) -> Result<(), Error> {
        let new = self.walk.insert(&page);
        self.write(page, new).await
    }

    /// Spools a page that was read again, and adds its new entries to the table. Returns whether there are any.
    async fn insert_again(&mut self, page: Page) -> Result<bool, Error> {
        // A page of its own for a list that has no page of this number would be empty as well.
        if page.len() == 0 {
            return Ok(false);
        }
        self.spool.append(FrameKind::PageAgain, page.text().as_bytes())?;
        self.insert_known(page).await
    }

    async fn insert_known(&mut self, page: Page) -> Result<bool, Error> {
        let new = self.walk.look_again(&page);
        let has_new = new.contains(&true);
        self.write(page, new).await?;
        Ok(has_new)
    }

    async fn write(&mut self, page: Page, new: Vec<bool>) -> Result<(), Error> {
        if new.contains(&false) {
            self.repeated.insert(self.frames, new.clone());
        }
        self.frames += 1;
        self.writer.send(page, new).await
    }

    fn count_missing(&mut self, is_other: bool) {
        self.frames += 1;
        self.missing += 1;
        self.others += u64::from(is_other);
    }
}

/// The pages of a spool, with a flag for each entry that is new.
struct SpooledPages {
    frames: Frames,
    repeated: HashMap<u64, Vec<bool>>,
    /// Position of the next frame.
    position: u64,
}

impl SpooledPages {
    fn next_page(&mut self) -> Result<Option<(Page, Vec<bool>)>, Error> {
        while let Some(frame) = self.frames.next()? {
            let position = self.position;
            self.position += 1;
            if matches!(frame.kind, FrameKind::Page | FrameKind::PageAgain) {
                let page = Page::parse(frame.payload).map_err(|reason| Error::Page { page: position + 1, reason })?;
                let new = self.repeated.remove(&position).unwrap_or_else(|| vec![true; page.len()]);
                return Ok(Some((page, new)));
            }
        }
        Ok(None)
    }
}

impl Iterator for SpooledPages {
    type Item = Result<(Page, Vec<bool>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_page().transpose()
    }
}

/// Finishes the table under the name `file`, and compares the records with the previous export.
fn finish_table(
    writer: WriterThread,
    file: PathBuf,
    spool: Spool,
    repeated: HashMap<u64, Vec<bool>>,
    hashes: (Option<PathBuf>, PathBuf),
) -> Result<(FinishedTable, Comparison, Spool), Error> {
    let pages = SpooledPages { frames: spool.frames()?, repeated, position: 0 };
    let mut table = writer.finish()?.finish(file, pages)?;
    let (previous, new) = hashes;
    let comparison = table.hashes.take().map(|hashes| hashes.compare(previous.as_deref(), &new)).transpose()?;
    Ok((table, comparison.unwrap_or_default(), spool))
}

/// Whether a list with this number of entries may be a page of a longer list.
fn is_typical_page_size(entries: u64) -> bool {
    entries.is_multiple_of(5) || entries.is_multiple_of(12) || entries.is_power_of_two()
}

/// Returns the path of the file. Creates missing folders, and fails if the folder is not writable.
fn file_path(job: &Job) -> Result<Option<PathBuf>, Error> {
    let Output::File { pattern, .. } = &job.output else { return Ok(None) };
    let path = resolve(pattern, job.clock.local.datetime(), &job.workspace).map_err(Error::Name)?;
    let failed = |source| sheet::Error::Write { path: path.clone(), source };
    std::fs::create_dir_all(folder(&path)).map_err(failed)?;
    drop(WholeFile::create(&path, Existing::Replace)?);
    Ok(Some(path))
}

/// Returns the identity of an export. Exports with the same identity share a history and resume each other.
fn identity(job: &Job) -> Result<String, Error> {
    let source = match &job.source {
        Source::List(list) => json!({"list": list.path}),
        Source::Ids { single, file, by_external_id } => {
            let hash = sha256(&file.path).map_err(|source| sheet::Error::Open { path: file.path.clone(), source })?;
            json!({"single": single.path, "ids": hash, "column": file.column, "external": by_external_id})
        }
    };
    let name = match &job.output {
        Output::File { pattern, .. } => std::path::absolute(pattern).unwrap_or_else(|_| PathBuf::from(pattern)),
        Output::Stdout { .. } => PathBuf::from("-"),
    };
    let (base_url, workspace, language) = (&job.base_url, &job.workspace, &job.language);
    let identity =
        json!({"base_url": base_url, "workspace": workspace, "what": source, "name": name, "language": language});
    Ok(identity.to_string())
}

fn sha256(path: &Path) -> io::Result<String> {
    Ok(digest::of_reader(&mut File::open(path)?)?.0)
}

/// Returns the selection of records, and since when the omitted ones have not changed.
fn selection(
    job: &Job,
    history: &History,
    compared: Option<&ComparedRecords>,
) -> Result<(Selection, Option<jiff::Timestamp>), Error> {
    Ok(match job.since {
        Since::Ever => (Selection::All, None),
        Since::Moment(moment) => (Selection::Since(moment), Some(moment)),
        Since::Last => {
            let previous =
                compared.map(|records| PreviousRecords::read(&history.hashes(records))).transpose()?.flatten();
            let since = compared.filter(|_| previous.is_some()).map(|records| records.started);
            (Selection::ChangedFrom(previous), since)
        }
    })
}

fn table_options(
    job: &Job,
    path: Option<&Path>,
    history: &History,
    compared: Option<&ComparedRecords>,
) -> Result<(TableOptions, Option<jiff::Timestamp>), Error> {
    let (fields, sheet) = match &job.source {
        Source::List(list) => (list.fields, list.name),
        Source::Ids { single, .. } => (single.fields, single.name),
    };
    let (path, shape) = match &job.output {
        Output::File { pattern, shape } => (Some(path.unwrap_or(Path::new(pattern)).to_owned()), *shape),
        Output::Stdout { kind } => (None, Shape::Text { kind: *kind, packing: Compression::None }),
    };
    let (selection, since) = selection(job, history, compared)?;
    let options = TableOptions {
        fields,
        sheet,
        path,
        shape,
        style: job.template.as_ref().map_or(job.style, |template| job.style.or(template.style)),
        template: job.template.clone(),
        explode: job.explode.clone(),
        selection,
        scratch: history.folder().to_owned(),
    };
    Ok((options, since))
}

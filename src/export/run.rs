//! Runs an export: fetches and spools all pages, writes the table and concludes.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::changes::Comparison;
use super::conclude::{
    ExportResults, Exported, History, State, Verdict, conclude, incomplete, records_before, resolve,
};
use super::error::Error;
use super::fetch::{Fetched, Fetcher, ListPages, MissingRecord, RecordsById};
use super::job::{Job, Output, Since, Source};
use super::spool::{FrameKind, Frames, Spool};
use super::table::{FinishedTable, TableBuilder, TableOptions, WriterThread};
use crate::client::pages::{Completeness, Page, Walk};
use crate::client::{Client, Pace};
use crate::digest;
use crate::sheet;
use crate::sheet::compression::Compression;
use crate::sheet::write::{Existing, Shape, WholeFile};

/// Subtracted from the start of the previous export for `--since last`: a record may have changed while it was read, and
/// clocks differ.
const OVERLAP: jiff::SignedDuration = jiff::SignedDuration::from_mins(10);

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
    let identity = identity(job)?;
    let history = History::open(&job.home, &identity)?;
    history.delete_old_spools(&job.home, (job.clock.now)());
    let previous = history.state();
    let since = since(job, previous.as_ref());
    let records_before = records_before(job, path.as_deref(), previous.as_ref());
    let table = TableBuilder::new(table_options(job, path.as_deref(), &history, since));
    let fetcher = Fetcher { client, pace, concurrency: job.concurrency.max(1) };

    let mut session = ExportSession::start(job, &identity, &history, table)?;
    let completeness = session.fetch_all(job, &fetcher, progress).await?;
    let verdict = Verdict::new(job, &completeness, &session.walk, records_before);
    let path = path.map(|path| if verdict.is_complete { path } else { incomplete(&path) });

    let ExportSession { walk, spool, writer, repeated, missing, was_resumed, started, .. } = session;
    let (file, hashes_path) = (path.clone().unwrap_or_else(|| PathBuf::from("-")), history.hashes());
    let finishing = tokio::task::spawn_blocking(move || finish_table(writer, file, spool, repeated, &hashes_path));
    let finished = finishing.await.unwrap_or(Err(Error::Internal("writing the file panicked")))?;
    let (table, comparison, spool) = finished;
    let results = ExportResults {
        job,
        history: &history,
        verdict,
        walk,
        table,
        comparison,
        path,
        since,
        missing,
        was_resumed,
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
    /// When the first page was requested, possibly by an interrupted export.
    started: jiff::Timestamp,
}

impl ExportSession {
    fn start(job: &Job, identity: &str, history: &History, table: TableBuilder) -> Result<ExportSession, Error> {
        let interrupted = match job.fresh {
            true => None,
            false => Spool::open_interrupted(history.folder(), identity, (job.clock.now)())?,
        };
        let was_resumed = interrupted.is_some();
        let (spool, started) = match interrupted {
            Some(interrupted) => interrupted,
            None => {
                let started = job.clock.started;
                (Spool::create(history.folder(), identity, started)?, started)
            }
        };
        Ok(ExportSession {
            walk: Walk::default(),
            spool,
            writer: WriterThread::spawn(table),
            repeated: HashMap::new(),
            frames: 0,
            missing: 0,
            others: 0,
            was_resumed,
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
                let mut pages = ListPages::new(fetcher, list, self.frames + 1);
                while let Some(fetched) = pages.next(&self.walk).await? {
                    self.insert(fetched).await?;
                    progress(self.walk.entries, self.walk.total);
                }
                if !job.verify {
                    return Ok(self.walk.completeness());
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
            if frame.kind == FrameKind::Page {
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
    hashes_path: &Path,
) -> Result<(FinishedTable, Comparison, Spool), Error> {
    let pages = SpooledPages { frames: spool.frames()?, repeated, position: 0 };
    let mut table = writer.finish()?.finish(file, pages)?;
    let comparison = table.hashes.take().map(|hashes| hashes.compare(hashes_path)).transpose()?;
    Ok((table, comparison.unwrap_or_default(), spool))
}

/// Returns the path of the file. Fails if the folder is not writable.
fn file_path(job: &Job) -> Result<Option<PathBuf>, Error> {
    let Output::File { pattern, .. } = &job.output else { return Ok(None) };
    let path = resolve(pattern, job.clock.today, &job.workspace).map_err(Error::Name)?;
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

/// Returns the time since when a record must have changed to be exported.
fn since(job: &Job, previous: Option<&State>) -> Option<jiff::Timestamp> {
    match job.since {
        Since::Ever => None,
        Since::Moment(moment) => Some(moment),
        Since::Last => {
            let until: jiff::Timestamp = previous?.changed_until.parse().ok()?;
            Some(until.saturating_sub(OVERLAP).unwrap_or(jiff::Timestamp::MIN))
        }
    }
}

fn table_options(job: &Job, path: Option<&Path>, history: &History, since: Option<jiff::Timestamp>) -> TableOptions {
    let (fields, sheet) = match &job.source {
        Source::List(list) => (list.fields, list.name),
        Source::Ids { single, .. } => (single.fields, single.name),
    };
    let (path, shape) = match &job.output {
        Output::File { pattern, shape } => (Some(path.unwrap_or(Path::new(pattern)).to_owned()), *shape),
        Output::Stdout { kind } => (None, Shape::Text { kind: *kind, packing: Compression::None }),
    };
    TableOptions {
        fields,
        sheet,
        path,
        shape,
        style: job.template.as_ref().map_or(job.style, |template| job.style.or(template.style)),
        template: job.template.clone(),
        explode: job.explode.clone(),
        since,
        reads_changes: job.since != Since::Ever,
        scratch: history.folder().to_owned(),
    }
}

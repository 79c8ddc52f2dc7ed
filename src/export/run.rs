//! Runs an export: fetches all pages, writes the table and concludes.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::changes::{Comparison, PreviousRecords};
use super::conclude::{
    ComparedRecords, ExportResults, Exported, History, Reading, Verdict, behind_links, check_existing, conclude,
    incomplete, records_before, resolve,
};
use super::error::Error;
use super::fetch::Fetcher;
use super::job::{Job, Output, Since, Source};
use super::session::{ExportSession, Progress};
use super::spool::{FrameKind, Frames, Spool};
use super::table::{FinishedTable, Selection, TableBuilder, TableOptions, WriterThread};
use crate::client::pages::{Completeness, Page};
use crate::client::{Client, Pace};
use crate::digest;
use crate::sheet;
use crate::sheet::compression::Compression;
use crate::sheet::write::{Existing, Shape, WholeFile, folder};

/// How often a list is read if it changes meanwhile in a way that may hide records.
const MAX_READINGS: u32 = 3;

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

/// Returns the path of the file. Creates missing folders, and fails if the folder is not writable.
fn file_path(job: &Job) -> Result<Option<PathBuf>, Error> {
    let Output::File { pattern, .. } = &job.output else { return Ok(None) };
    let path = resolve(pattern, job.clock.local.datetime(), &job.workspace).map_err(Error::Name)?;
    let failed = |source| sheet::Error::Write { path: path.clone(), source };
    std::fs::create_dir_all(folder(&path)).map_err(failed)?;
    let path = behind_links(path);
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

//! Runs an export: fetches all pages, writes the table and concludes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::json;
use sheetport_client::pages::Completeness;
use sheetport_client::{Client, KnownSizes, Pace, PageSize, SAFE, may_depend_on_size, try_page};
use sheetport_datasets::{self as datasets, Found, ListInDatabase};
use sheetport_files::absolute_path::absolute;
use sheetport_files::digest;
use sheetport_sheet as sheet;
use sheetport_sheet::compression::Compression;
use sheetport_sheet::write::{Existing, FileFormat, WholeFile, folder};
use tokio::sync::Mutex;

use super::change_list::ListLayout;
use super::changes::PreviousRecords;
use super::conclude::{
    Appending, ExportResults, Exported, FinishedExport, History, LatestLink, Reading, Requested, State, Verdict,
    WrittenFiles, behind_links, check_existing, check_existing_changes, conclude, incomplete, records_before, resolve,
};
use super::details::ListedRecords;
use super::error::Error;
use super::fetch::Fetcher;
use super::format::Format;
use super::job::{Job, Output, Since, Source};
use super::session::{ExportSession, Progress};
use super::spool;
use super::spooled::Entries;
use super::table::{
    Begins, DatabaseTarget, RememberedColumns, Selection, TableBuilder, TableOptions, WriterThread, shape,
};
use super::tables::{SpooledPages, UnfinishedFile, UnfinishedList, UnfinishedTable, finish_tables};

/// Maximum number of readings of a list, if changes during a reading may have hidden records.
const MAX_READINGS: u32 = 3;

/// Runs an export.
pub fn export<'a>(
    client: Arc<Client>,
    pace: Arc<Pace>,
    job: &'a Job,
    progress: &'a Progress<'a>,
) -> BoxFuture<'a, Result<Exported, Error>> {
    Box::pin(async move {
        let exported = export_together(client, pace, std::slice::from_ref(job), progress).await?;
        exported.into_iter().next().ok_or(Error::Internal("an export has no result"))
    })
}

/// Forgets the records that were read if they are to blame: corrected ones are read by the same command.
fn forget_refused(error: &Error, spools: &[PathBuf]) {
    if error.is_of_records() {
        spools.iter().for_each(|spool| drop(std::fs::remove_file(spool)));
    }
}

/// Runs exports into one file. The output of several exports must be the same workbook, with a sheet for each. The file is
/// replaced only if all exports are complete.
pub fn export_together<'a>(
    client: Arc<Client>,
    pace: Arc<Pace>,
    jobs: &'a [Job],
    progress: &'a Progress<'a>,
) -> BoxFuture<'a, Result<Vec<Exported>, Error>> {
    Box::pin(async move {
        let is_shared = jobs.len() > 1;
        let mut started = Vec::new();
        for job in jobs {
            started.push(StartedExport::start(job)?);
        }
        let mut read: Vec<ReadExport<'_>> = Vec::new();
        for export in started {
            let before: u64 = read.iter().map(|export| export.session.walk.entries).sum();
            let progress = |records, total: Option<u64>| progress(before + records, total.map(|total| before + total));
            let fetcher = Fetcher {
                client: Arc::clone(&client),
                pace: Arc::clone(&pace),
                concurrency: usize::from(export.job.options.concurrency.max(1)),
                large: Mutex::default(),
            };
            let spool = export.history.folder().join(spool::FILE_NAME);
            let exported = export.read(&fetcher, is_shared, &progress).await;
            read.push(exported.inspect_err(|error| forget_refused(error, std::slice::from_ref(&spool)))?);
        }
        let is_complete = read.iter().all(|export| export.verdict.is_complete);
        let path = read.first().and_then(|export| export.started.path.as_deref());
        let path = path.map(|path| if is_complete { path.to_owned() } else { incomplete(path) });
        let file = path.clone().unwrap_or_else(|| PathBuf::from("-"));
        let latest = read.first_mut().and_then(|export| export.started.latest.take()).filter(|_| is_complete);
        let spools: Vec<PathBuf> =
            read.iter().map(|export| export.started.history.folder().join(spool::FILE_NAME)).collect();
        let (mut unfinished, mut results) = (Vec::new(), Vec::new());
        for export in read {
            let (rows, result) = export.split(is_complete);
            unfinished.push(rows);
            results.push(result);
        }
        let written = jobs.first().map(|job| WrittenFiles::of(&job.home));
        let finishing = tokio::task::spawn_blocking(move || finish_tables(unfinished, file, written.as_ref()));
        let finished = finishing.await.unwrap_or(Err(Error::Internal("writing the file panicked")));
        let finished = finished.inspect_err(|error| forget_refused(error, &spools))?;
        let finished = finished.into_iter().zip(results);
        let results = finished.map(|(finished, result)| result(finished)).collect();
        let mut exported = conclude(results, path.as_deref(), is_complete)?;
        if let (Some(latest), Some(path)) = (latest, path) {
            let link = latest.place(&path)?;
            exported.iter_mut().for_each(|exported| exported.latest = Some(link.clone()));
        }
        Ok(exported)
    })
}

/// An export with known files and state, locked against other processes.
struct StartedExport<'a> {
    job: &'a Job,
    path: Option<PathBuf>,
    changes: Option<PathBuf>,
    identity: String,
    history: History,
    previous: Option<State>,
    appending: Option<Appending>,
    /// A file that may contain the appended changes of an interrupted export.
    uncertain: Option<PathBuf>,
    /// The link to the newest of several dated files.
    latest: Option<LatestLink>,
    records_before: Option<u64>,
    /// The list in the database that is updated.
    in_database: Option<ListInDatabase>,
}

/// An export after its list was read.
struct ReadExport<'a> {
    started: StartedExport<'a>,
    session: ExportSession,
    since: Option<jiff::Timestamp>,
    details: Option<ListedRecords>,
    verdict: Verdict,
    requested: Requested,
}

impl<'a> StartedExport<'a> {
    fn start(job: &'a Job) -> Result<StartedExport<'a>, Error> {
        let identity = identity(job)?;
        let history = History::open(&job.home, &identity)?;
        // Must look for temporary files first: creating other files removes them.
        let (previous, uncertain) = history.state()?;
        let path = match &job.output {
            Output::File { pattern, .. } => Some(file_path(job, pattern)?),
            Output::Stdout { .. } => None,
        };
        let changes = job.changes.as_ref().map(|file| file_path(job, &file.pattern)).transpose()?;
        check_existing(job, path.as_deref())?;
        let latest = LatestLink::of(job, path.as_deref())?;
        let in_database = database_list(job, path.as_deref())?;
        let written = WrittenFiles::of(&job.home);
        written.check(job, path.as_deref(), previous.as_ref())?;
        written.check_changes(job, changes.as_deref(), path.as_deref(), previous.as_ref())?;
        history.delete_old_spools(&job.home, (job.clock.now)());
        check_existing_changes(job, changes.as_deref(), previous.as_ref())?;
        let uncertain = uncertain.filter(|_| job.options.since == Since::Last);
        let appending = Appending::to(job, path.as_deref(), previous.as_ref(), uncertain.as_deref())?;
        let records_before = records_before(job, path.as_deref(), previous.as_ref());
        Ok(StartedExport {
            job,
            path,
            changes,
            identity,
            history,
            previous,
            appending,
            uncertain,
            latest,
            records_before,
            in_database,
        })
    }

    /// Returns the columns of earlier exports: those of the database, whose tables have them, or those of the last file.
    fn remembered_columns(&self) -> RememberedColumns {
        let shape = shape(self.job.template.as_ref(), self.job.exploded());
        match (&self.in_database, self.previous.as_ref().and_then(|previous| previous.columns.clone())) {
            (Some(list), _) => RememberedColumns::of_database(shape, list),
            (None, Some(columns)) => columns.of_shape(&shape).unwrap_or_default(),
            (None, None) => RememberedColumns::default(),
        }
    }

    /// Reads the list. Starts again if changes during the reading may have hidden records.
    async fn read(self, fetcher: &Fetcher, is_shared: bool, progress: &Progress<'_>) -> Result<ReadExport<'a>, Error> {
        let StartedExport { job, path, history, previous, in_database, .. } = &self;
        let concluded = previous.as_ref().map(|previous| previous.started);
        let requests_before = fetcher.client.requests();
        let mut readings = 1;
        let mut page_size = job.page_size;
        let mut is_fresh = job.options.fresh;
        let (mut session, since, completeness, selection) = loop {
            let (selection, since) = selection(job, history, previous.as_ref(), in_database.as_ref())?;
            if let Some(appending) = &self.appending {
                appending.check(&selection)?;
            }
            let is_continued = is_shared || self.appending.is_some();
            let (of_table, of_list) = match (job.details, selection) {
                (None, selection) => (selection, Selection::All),
                (Some(_), Selection::Since(moment)) => (Selection::Since(moment), Selection::Since(moment)),
                (Some(_), selection) => (Selection::All, selection),
            };
            let remembered = self.remembered_columns();
            let mut options = table_options(job, path.as_deref(), history, of_table, is_continued, remembered);
            options.known_fields = previous.as_ref().map(|previous| previous.fields.clone()).unwrap_or_default();
            let writer = WriterThread::spawn(TableBuilder::new(options));
            let mut session = ExportSession::start(job, &self.identity, history, concluded, is_fresh, writer)?;
            let completeness = match session.fetch_all(job, page_size, fetcher, progress).await {
                Ok(completeness) => completeness,
                Err(error) => {
                    page_size = smaller_pages(&error, job, page_size, session.size, fetcher).await.ok_or(error)?;
                    is_fresh = true;
                    continue;
                }
            };
            if let (Some(known), PageSize::Largest(_)) = (session.known, page_size) {
                page_size = PageSize::Largest(known);
            }
            match completeness {
                Completeness::Moved(_) if readings < MAX_READINGS => (readings, is_fresh) = (readings + 1, true),
                completeness => break (session, since, completeness, of_list),
            }
        };
        let reading = Reading { times: readings, is_verified: session.is_verified };
        let mut verdict = Verdict::new(job, &completeness, &session.walk, reading, self.records_before);
        let details = match (&job.source, job.details) {
            (Source::List(list), Some(single)) => {
                let template = job.template.as_ref();
                let listed = session.fetch_details((list, single), &selection, template, fetcher, progress).await?;
                session.missing = listed.unanswered.len() as u64;
                verdict = verdict.with_details(&listed);
                Some(listed)
            }
            _ => None,
        };
        let is_list = matches!(job.source, Source::List(_));
        let requested = Requested {
            known_sizes: match page_size {
                PageSize::Largest(known) if is_list => Some(known),
                PageSize::Largest(_) | PageSize::Chosen(_) => None,
            },
            page_size: is_list.then_some(session.size),
            requests: fetcher.client.requests() - requests_before,
        };
        Ok(ReadExport { started: self, session, since, details, verdict, requested })
    }
}

/// Returns the page size for another reading from the start, after an error with pages of `size` entries. The service may be
/// unable to return later pages of this size. Returns `None` if smaller pages fail too.
async fn smaller_pages(
    error: &Error,
    job: &Job,
    page_size: PageSize,
    size: u64,
    fetcher: &Fetcher,
) -> Option<PageSize> {
    let (Source::List(list), PageSize::Largest(known)) = (&job.source, page_size) else { return None };
    let may_depend_on_size = match error {
        Error::Page { .. } => true,
        Error::Api(error) => may_depend_on_size(error),
        _ => false,
    };
    if size <= SAFE || !may_depend_on_size {
        return None;
    }
    try_page(&fetcher.client, &fetcher.pace, list, 1, SAFE).await.ok()?;
    Some(PageSize::Largest(KnownSizes { granted: Some(SAFE), ..known.refusing(SAFE + 1) }))
}

impl<'a> ReadExport<'a> {
    /// Returns the table, for a blocking thread, and what makes the results of the finished table. Changes are listed only if the
    /// export is complete.
    fn split(self, is_complete: bool) -> (UnfinishedTable, impl FnOnce(FinishedExport) -> ExportResults<'a>) {
        let ReadExport { started, session, since, details, verdict, requested } = self;
        let remembered = started.remembered_columns().paths();
        let StartedExport { job, path, changes, history, previous, appending, uncertain, .. } = started;
        let ExportSession { walk, spool, writer, repeated, missing, was_resumed, is_verified, started, .. } = session;
        let session_started = started;
        let compared = previous.as_ref().and_then(|previous| previous.compared.as_ref());
        let new_records = History::new_records(started);
        let hashes = (compared.map(|compared| history.saved(compared)), history.saved(&new_records));
        let listed = previous.as_ref().and_then(|previous| previous.listed.as_ref());
        let list = job.changes.as_ref().zip(changes).filter(|_| is_complete).map(|(file, path)| {
            let (fields, sheet) = job.source.layout();
            let new = History::new_listed(started);
            UnfinishedList {
                previous: listed.map(|listed| history.saved(&listed.records)),
                new: history.saved(&new),
                layout: ListLayout { path, format: file.format, style: job.table_style(), sheet, fields, remembered },
                template: job.template.clone(),
                scratch: history.folder().to_owned(),
                records: new,
            }
        });
        let database = match (&job.output, path) {
            (Output::File { format: Format::Sqlite, .. }, Some(path)) => Some(DatabaseTarget {
                begins: match path.metadata().map(|found| found.len()) {
                    _ if job.options.replace => Begins::Replacing,
                    Ok(0) => Begins::Replacing,
                    Ok(_) => Begins::Updating,
                    Err(_) => Begins::New,
                },
                path,
                scratch: history.folder().to_owned(),
                table: job.database_table(),
                has_positions: job.exploded().is_some(),
                workspace: job.workspace.clone(),
                base_url: job.base_url.clone(),
                started: session_started.to_string(),
            }),
            _ => None,
        };
        let entries = if details.is_some() { Entries::Details } else { Entries::Pages };
        let pages = SpooledPages { spool, repeated, entries };
        let gone = details.as_ref().map_or(0, |listed| listed.gone);
        let unanswered = details.as_ref().map(|listed| Arc::clone(&listed.unanswered));
        let appended = appending.filter(|_| is_complete).map(|appending| UnfinishedFile {
            appending,
            state: State {
                written: None,
                distinct: walk.entries,
                started,
                finished: job.clock.timestamp().to_string(),
                compared: Some(new_records.clone()),
                // Changes not listed now are left for the next export.
                listed: previous.as_ref().and_then(|previous| previous.listed.clone()),
                fields: Vec::new(),
                columns: Some(RememberedColumns::new(
                    shape(job.template.as_ref(), job.exploded()),
                    // Known once the table is finished.
                    Vec::new(),
                    job.clock.local.date().to_string(),
                )),
            },
            folder: history.folder().to_owned(),
        });
        let unfinished = UnfinishedTable {
            listed: details,
            writer,
            pages,
            hashes,
            style: job.table_style(),
            conditions: job.conditions(),
            database,
            appended,
            list,
        };
        let results = move |finished| ExportResults {
            job,
            history,
            previous,
            new_records,
            verdict,
            walk,
            since,
            missing,
            gone,
            unanswered,
            requested,
            was_resumed,
            is_verified,
            started,
            uncertain,
            finished,
        };
        (unfinished, results)
    }
}

/// Returns the current paths of a job's files: the path of the records with `false`, the path of the list of changes with `true`.
/// Creates missing folders.
///
/// # Errors
/// Fails if a name is not valid as a file name.
pub fn paths(job: &Job) -> Result<Vec<(PathBuf, bool)>, Error> {
    let records = match &job.output {
        Output::File { pattern, .. } => Some((pattern, false)),
        Output::Stdout { .. } => None,
    };
    let changes = job.changes.as_ref().map(|file| (&file.pattern, true));
    records.into_iter().chain(changes).map(|(pattern, is_changes)| Ok((file_path(job, pattern)?, is_changes))).collect()
}

/// Returns the path of a file for this pattern. Creates missing folders, and fails if the folder is not writable.
fn file_path(job: &Job, pattern: &str) -> Result<PathBuf, Error> {
    let path = resolve(pattern, job.clock.local.datetime(), &job.workspace).map_err(Error::Name)?;
    let failed = |source| sheet::Error::Write { path: path.clone(), source };
    std::fs::create_dir_all(folder(&path)).map_err(failed)?;
    let path = behind_links(path);
    drop(WholeFile::create(&path, Existing::Replace)?);
    Ok(path)
}

/// Returns the list in the database that an export updates. Returns `None` for other formats, and for a new database or list.
///
/// # Errors
/// If the database is not ours, or not as an export left it.
fn database_list(job: &Job, path: Option<&Path>) -> Result<Option<ListInDatabase>, Error> {
    let (Output::File { format: Format::Sqlite, .. }, Some(path), false) = (&job.output, path, job.options.replace)
    else {
        return Ok(None);
    };
    let refused = |error| match error {
        datasets::Error::Foreign => Error::NotOurs { path: path.to_owned(), is_changed: false },
        datasets::Error::OtherOrigin { workspace, base_url } => {
            Error::OtherOrigin { path: path.to_owned(), workspace, base_url }
        }
        source => Error::Dataset { path: path.to_owned(), source },
    };
    let Some(found) = Found::inspect(path).map_err(refused)? else { return Ok(None) };
    let table = job.database_table();
    found.check(&table, &job.workspace, &job.base_url).map_err(refused)?;
    Ok(found.list(&table).cloned())
}

/// Returns the identity of an export. Exports with the same identity share a history and resume each other.
fn identity(job: &Job) -> Result<String, Error> {
    let source = match &job.source {
        Source::List(list) => json!({"list": list.path}),
        Source::Ids { single, file, by_external_id } => {
            let hash =
                digest::of_file(&file.path).map_err(|source| sheet::Error::Open { path: file.path.clone(), source })?;
            json!({"single": single.path, "ids": hash, "column": file.column, "external": by_external_id})
        }
    };
    let name = match &job.output {
        Output::File { pattern, .. } => absolute(pattern),
        Output::Stdout { .. } => PathBuf::from("-"),
    };
    let (base_url, workspace, language) = (&job.base_url, &job.workspace, &job.options.language);
    let mut identity =
        json!({"base_url": base_url, "workspace": workspace, "what": source, "name": name, "language": language});
    if job.details.is_some() {
        identity["details"] = json!(true);
    }
    Ok(identity.to_string())
}

/// Returns the selection of records, and the time since when omitted records are unchanged.
fn selection(
    job: &Job,
    history: &History,
    previous: Option<&State>,
    in_database: Option<&ListInDatabase>,
) -> Result<(Selection, Option<jiff::Timestamp>), Error> {
    let compared = previous.and_then(|previous| previous.compared.as_ref());
    // A database that was moved away, restored or written by an interrupted export needs all records.
    let is_updated = matches!(&job.output, Output::File { format: Format::Sqlite, .. });
    let compared = compared
        .filter(|compared| !is_updated || in_database.is_some_and(|list| list.started == compared.started.to_string()));
    Ok(match job.options.since {
        Since::Ever => (Selection::All, None),
        Since::Moment(moment) => (Selection::Since(moment), Some(moment)),
        Since::Last => {
            let previous =
                compared.map(|records| PreviousRecords::read(&history.saved(records))).transpose()?.flatten();
            let since = compared.filter(|_| previous.is_some()).map(|records| records.started);
            (Selection::ChangedFrom(previous), since)
        }
    })
}

fn table_options(
    job: &Job,
    path: Option<&Path>,
    history: &History,
    selection: Selection,
    is_continued: bool,
    remembered: RememberedColumns,
) -> TableOptions {
    let (fields, sheet) = job.source.layout();
    let (path, format) = match &job.output {
        Output::File { pattern, format } => (Some(path.unwrap_or(Path::new(pattern)).to_owned()), *format),
        Output::Stdout { kind } => (None, Format::Sheet(FileFormat::Text { kind: *kind, packing: Compression::None })),
    };
    TableOptions {
        fields,
        sheet,
        path,
        format,
        style: job.table_style(),
        is_continued,
        template: job.template.clone(),
        explode: job.options.explode.clone(),
        selection,
        is_of_details: job.details.is_some(),
        known_fields: Vec::new(),
        remembered,
        is_replaced: job.options.replace,
        is_list: matches!(job.source, Source::List(_)),
        scratch: history.folder().to_owned(),
    }
}

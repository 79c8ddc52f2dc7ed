//! A temporary service for a rehearsal, with the records that the file refers to: from exports, or made up.

use std::path::PathBuf;

use serde_json::Value;
use sheetport_client::Speed;
use sheetport_ledger::{Disposition, Ledger, Run};
use sheetport_records::RecordKind;
use sheetport_service::WriteOutcome;

use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::files::TemporaryFolder;
use super::exports::{Origin, open_exports};
use super::load::{LoadedFile, Loading};
use super::local_service::LocalService;
use super::made_up::{Exported, KINDS, Wanted};

const WORKSPACE: &str = "rehearsal";

/// Records loaded or made up at a time.
const BATCH: usize = 1_000;

/// Maximum number of problems shown per export.
const SHOWN_PROBLEMS: usize = 3;

/// How to rehearse.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rehearse<'a> {
    /// Exports, and folders with exports. Of the kinds without an export, records are made up.
    pub exports: &'a [PathBuf],
    /// The rate for the forecast. Defaults to the rate of the profile, or to the rate measured before.
    pub speed: Option<Speed>,
}

/// Forecast for an upload with the requests of a rehearsal.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    pub requests: u64,
    pub per_second: f64,
    /// The rate in words.
    pub rate: String,
}

impl Forecast {
    /// Returns the time in whole seconds.
    pub fn seconds(&self) -> u64 {
        (self.requests as f64 / self.per_second.max(f64::MIN_POSITIVE)).ceil() as u64
    }
}

/// The records of one kind in the service of a rehearsal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RehearsalRecords {
    /// The plural, such as `companies`.
    pub kind: &'static str,
    /// The singular.
    pub one: &'static str,
    pub records: u64,
}

/// The content of the rehearsal service before the first request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rehearsed {
    pub made_up: Vec<RehearsalRecords>,
    pub from_exports: Vec<RehearsalRecords>,
    /// `None` if no rate is known.
    pub forecast: Option<Forecast>,
}

/// A temporary service with a separate ledger.
pub(crate) struct Rehearsal {
    pub service: LocalService,
    exports: Vec<LoadedFile>,
    speed: Option<Speed>,
    /// Holds all data; removed at the end.
    _folder: TemporaryFolder,
}

impl Exported for Vec<LoadedFile> {
    fn has(&self, lists: &[&str], members: &[&str]) -> bool {
        self.iter().any(|file| {
            let outcome = &file.outcome;
            // Items are loaded with the names of the input, too.
            let has_field = |member: &&str| {
                outcome.fields.contains(*member) || *member == "external_id" && outcome.fields.contains("externalId")
            };
            lists.contains(&file.kind.name) && members.iter().any(has_field)
        })
    }
}

impl Rehearsal {
    /// Starts a service, with the records of the exports if there are any.
    pub(crate) async fn start(
        context: &Context,
        rehearse: Rehearse<'_>,
        observer: Observer<'_>,
    ) -> Result<Rehearsal, Error> {
        // The names of the files are known before anything is started.
        let origin = context.base_url.as_ref().map(|url| Origin::new(url, &context.workspace()));
        let opened = open_exports(rehearse.exports, origin.as_ref(), observer)?;
        let speed = match (&context.base_url, rehearse.speed) {
            (Some(url), None) => context.measured_speed(None, url).await?,
            (None, None) => context.rate,
            (_, asked) => asked,
        };
        let folder = TemporaryFolder::create()?;
        let service = LocalService::start(folder.path(), WORKSPACE, context).await?;
        let mut rehearsal = Rehearsal { service, exports: Vec::new(), speed, _folder: folder };
        let loading = Loading { loader: &rehearsal.service.loader, workspace: WORKSPACE, keeps_faulty: true };
        match loading.load_all(opened, |file| warn_of_faults(file, observer)).await {
            Ok(exports) => rehearsal.exports = exports,
            Err(error) => {
                rehearsal.stop().await;
                return Err(error);
            }
        }
        Ok(rehearsal)
    }

    /// Whether records were loaded that an upload can be compared with.
    pub(crate) fn has_exports(&self) -> bool {
        !self.exports.is_empty()
    }

    /// Makes up the records that the pending requests of a run refer to, except records covered by exports.
    pub(crate) async fn make_up(&self, ledger: &Ledger, run: &Run, observer: Observer<'_>) -> Result<Rehearsed, Error> {
        let kind = run.about.record;
        self.warn_of_missing(kind, observer);
        let mut wanted = Wanted::new(&self.exports);
        let mut next = 0;
        while let Some(block) = ledger.record_block(run.id, next).await? {
            next = block.end();
            let settled = ledger.settled(run.id, block.first..=next - 1).await?;
            for (seq, record) in block.numbered().filter(|(seq, _)| !settled.contains(seq)) {
                let Disposition::Send(body) = &record.disposition else { continue };
                let body: Value = serde_json::from_str(body).map_err(|error| {
                    sheetport_ledger::Error::Corrupt(format!("record {seq} of run {} has no request: {error}", run.id))
                })?;
                wanted.add(kind, record.target.as_deref(), &body);
            }
        }
        let mut made_up = Vec::new();
        for (kind, records) in wanted.into_records() {
            let mut created = 0;
            let mut records = records.into_iter().peekable();
            while records.peek().is_some() {
                let batch = records.by_ref().take(BATCH).collect();
                // Invalid records, such as ones with an id of 300 characters, are left out. The service then refuses the request.
                let stored = self.service.loader.load(WORKSPACE, batch).await?;
                let is_new = |outcome: WriteOutcome| matches!(outcome, WriteOutcome::Created);
                created += stored.iter().flatten().filter(|stored| is_new(stored.outcome)).count() as u64;
            }
            if created > 0 {
                made_up.push(RehearsalRecords { kind: kind.list, one: kind.one, records: created });
            }
        }
        Ok(Rehearsed { made_up, from_exports: self.exported(), forecast: None })
    }

    /// Estimates the duration of an upload with this number of requests.
    pub(crate) fn forecast(&self, requests: u64) -> Option<Forecast> {
        let (per_second, rate) = match self.speed? {
            Speed::Fixed(rate) => (rate.per_second(), rate.to_string()),
            Speed::Auto(measured) => {
                let measured = measured?;
                (measured, format!("{measured:.1}/s, the service's limit as measured before"))
            }
        };
        Some(Forecast { requests, per_second, rate })
    }

    fn exported(&self) -> Vec<RehearsalRecords> {
        let counted = KINDS.iter().map(|kind| {
            let files = self.exports.iter().filter(|file| file.kind.name == kind.list);
            let records = files.map(|file| file.outcome.created).sum();
            RehearsalRecords { kind: kind.list, one: kind.one, records }
        });
        counted.filter(|counted| counted.records > 0).collect()
    }

    /// Warns about references that can't be compared with the exports.
    fn warn_of_missing(&self, kind: RecordKind, observer: Observer<'_>) {
        if self.exports.is_empty() {
            return;
        }
        for reference in kind.input().references {
            let lists: Vec<&str> = reference.found_by.lists().collect();
            let members = reference.found_by.members();
            let has = |list: &str| self.exports.iter().any(|file| file.kind.name == list);
            let missing: Vec<&str> = lists.iter().copied().filter(|list| !has(list)).collect();
            let field = reference.field;
            if self.exports.has(&lists, members) {
                if !missing.is_empty() {
                    let exported: Vec<&str> = lists.iter().copied().filter(|list| has(list)).collect();
                    observer(Event::Warning(&format!(
                        "{field} is compared with the export of {} alone: there is none of {}",
                        exported.join(" and "),
                        missing.join(" and ")
                    )));
                }
            } else if missing.len() < lists.len() {
                observer(Event::Warning(&format!(
                    "{field} is not compared: the export of {} has no {}",
                    lists.join(" and "),
                    members.join(" or ")
                )));
            }
        }
    }

    /// Stops the service and removes its data, ignoring errors.
    pub(crate) async fn stop(self) {
        let _ = self.service.stop().await;
    }
}

fn warn_of_faults(file: &LoadedFile, observer: Observer<'_>) {
    let problems = &file.outcome.problems;
    for problem in problems.iter().take(SHOWN_PROBLEMS) {
        observer(Event::Warning(&format!(
            "{}, row {}: {} {}",
            file.path.display(),
            problem.row,
            problem.field,
            problem.message
        )));
    }
    if let more @ 1.. = problems.len().saturating_sub(SHOWN_PROBLEMS) {
        observer(Event::Warning(&format!("{}: {more} more problems", file.path.display())));
    }
}

//! A temporary service for a rehearsal, with the records that the file refers to: from exports, or made up.

use std::path::PathBuf;

use futures_util::future::BoxFuture;
use serde_json::Value;
use sheetport_client::Speed;
use sheetport_ledger::{Disposition, Ledger, Run};
use sheetport_operations::{
    Context, Error, Event, Finished, Forecast, LocalOperation, Observer, Questions, RehearsalRecords, Rehearsed,
    TemporaryFolder, Upload, rehearse_upload,
};
use sheetport_records::RecordKind;
use sheetport_send::Grace;
use sheetport_service::WriteOutcome;

use super::exports::{Origin, open_exports};
use super::load::{LoadedFile, Loading};
use super::local_service::LocalService;
use super::made_up::{Exported, KINDS, Wanted};
use super::refusal::refused;

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

/// Uploads a spreadsheet to a temporary service in this process, which leaves only the report, if a path was given.
///
/// # Errors
/// As [`sheetport_operations::upload`], and if the service can't be started or an export can't be loaded.
pub fn rehearse<'a>(
    context: &'a Context,
    upload: Upload<'a>,
    rehearse: Rehearse<'a>,
    questions: Option<Questions<'a>>,
    interrupt: BoxFuture<'a, Grace>,
    observer: Observer<'a>,
) -> LocalOperation<'a, Finished> {
    Box::pin(async move {
        let rehearsal = Rehearsal::start(context, rehearse, observer).await?;
        let context = &rehearsal.service.context;
        let finished = rehearse_upload(context, upload, &rehearsal, questions, interrupt, observer).await;
        rehearsal.stop().await;
        finished
    })
}

/// A temporary service with a separate ledger.
pub(super) struct Rehearsal {
    service: LocalService,
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
    async fn start(context: &Context, rehearse: Rehearse<'_>, observer: Observer<'_>) -> Result<Rehearsal, Error> {
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
    async fn stop(self) {
        let _ = self.service.stop().await;
    }
}

impl sheetport_operations::Rehearsal for Rehearsal {
    fn has_exports(&self) -> bool {
        !self.exports.is_empty()
    }

    fn make_up<'a>(
        &'a self,
        ledger: &'a Ledger,
        run: &'a Run,
        observer: Observer<'a>,
    ) -> LocalOperation<'a, Rehearsed> {
        Box::pin(async move {
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
                        sheetport_ledger::Error::Corrupt(format!(
                            "record {seq} of run {} has no request: {error}",
                            run.id
                        ))
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
                    let stored = self.service.loader.load(WORKSPACE, batch).await.map_err(refused)?;
                    let is_new = |outcome: WriteOutcome| matches!(outcome, WriteOutcome::Created);
                    created += stored.iter().flatten().filter(|stored| is_new(stored.outcome)).count() as u64;
                }
                if created > 0 {
                    made_up.push(RehearsalRecords { kind: kind.list, one: kind.one, records: created });
                }
            }
            Ok(Rehearsed { made_up, from_exports: self.exported(), forecast: None })
        })
    }

    fn forecast(&self, requests: u64) -> Option<Forecast> {
        let (per_second, rate) = match self.speed? {
            Speed::Fixed(rate) => (rate.per_second(), rate.to_string()),
            Speed::Auto(measured) => {
                let measured = measured?;
                (measured, format!("{measured:.1}/s, the service's limit as measured before"))
            }
        };
        Some(Forecast { requests, per_second, rate })
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use serde_json::Value;
    use sheetport_client::ConnectOptions;
    use sheetport_client::auth::{Credentials, EnvironmentTokens};
    use sheetport_operations::{
        self as operations, Given, InputFile, SendOptions, Spreadsheet, TemplateChanges, Upload, load_template,
    };
    use sheetport_service::{Config, Loader, Service};

    use super::*;
    use crate::load;

    fn context(home: &Path) -> Context {
        Context {
            home: home.to_owned(),
            state: None,
            accepts_older_ledger: false,
            server: None,
            kept: None,
            profile: "default".to_owned(),
            base_url: None,
            address_from: None,
            credentials: Credentials::default(),
            tokens_from: None,
            withheld: None,
            environment: EnvironmentTokens { home: None, credentials: Credentials::default() },
            connection: ConnectOptions::default(),
            chosen_connection: ConnectOptions::default(),
            profiles: BTreeMap::new(),
            rate: None,
            given: Given::default(),
            is_address_chosen: false,
            is_profile_chosen: false,
            locale: None,
            report_words: None,
        }
    }

    async fn run(context: &Context, file: &InputFile, template: &str, rehearsal: Option<&Rehearsal>) -> Finished {
        let template = load_template(template, TemplateChanges::default()).expect("a built-in template");
        let input = Spreadsheet {
            file,
            template,
            sheet: None,
            text: sheetport_sheet::Options::default(),
            rows: None,
            is_strict: false,
            accepts: &[],
            edits: None,
        };
        let upload = Upload::plain(input, SendOptions { concurrency: Some(1), ..SendOptions::default() });
        let never = Box::pin(std::future::pending());
        let finished = match rehearsal {
            Some(rehearsal) => rehearse_upload(context, upload, rehearsal, None, never, &|_| {}).await,
            None => operations::upload(context, upload, None, never, &|_| {}).await,
        };
        finished.expect("an upload")
    }

    /// Returns the records without what differs with every request: ids that the service makes, and times.
    async fn stored(loader: &Loader, workspace: &str) -> Vec<String> {
        let records = loader.stored(workspace).await.into_iter().map(|(kind, mut record)| {
            let fields = record.as_object_mut().expect("an object");
            fields.retain(|name, _| !matches!(name.as_str(), "updated_at" | "created_at" | "ctx_id"));
            // The ids of the exports are short.
            fields.retain(|_, value| value.as_str().is_none_or(|text| text.len() != 36));
            format!("{kind} {}", Value::Object(fields.clone()))
        });
        records.collect()
    }

    #[tokio::test]
    async fn a_rehearsal_stores_what_a_service_with_the_same_records_stores() {
        let folder = tempfile::tempdir().expect("a folder");
        let exports = folder.path().join("exports");
        std::fs::create_dir(&exports).expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(exports.join(name), text).expect("written");
        write("companies.csv", "id,external_id,name\nc1,42,Miller\nc2,43,Smith\n");
        write("contacts.ndjson", "{\"id\":\"p1\",\"name\":\"Ann\"}\n");
        write("items.csv", "id,external_id,name,price\ni1,A,Bolt,1.50\ni2,B,Nut,2.00\n");
        let inventories = "id,inventory_id,external_id,available,unit_price,item_ids\n";
        write("inventories.csv", &format!("{inventories}s1,1,MAIN,10,2.50,\"i1, i2\"\ns2,2,BACK,5,,\n"));
        write(
            "orders.csv",
            "id,order_id,external_id,order_at\no1,5001,SO-1,2026-01-01T00:00:00Z\no2,5002,,2026-01-02T00:00:00Z\n",
        );

        let files = [
            ("items", "SKU,Name,Price\nA,Bolt M8,1.75\nC,Pin,0.10\n"),
            (
                "orders",
                "Order no.,Customer no.,Item no.,Quantity,Unit price\nSO-1,42,A,2,5\nSO-1,42,B,1,\nSO-9,42,A,1,5\n",
            ),
            (
                "transactions",
                "Movement,Stock,Quantity,Date\nin,MAIN,4,2026-01-01\nout,BACK,1,2026-01-02\nin,SIDE,1,2026-01-03\n",
            ),
            ("subscriptions", "Contract no.,Customer ID,Item ID,Amount,Currency\n1,c1,i1,2,EUR\n2,x9,i1,2,EUR\n"),
            ("invoices", "Invoice no.,Customer ID,Item ID,Amount\n1,p1,i2,1\n2,p1,i9,1\n"),
        ];
        for (kind, text) in files {
            let path = folder.path().join(format!("{kind}-to-send.csv"));
            std::fs::write(&path, text).expect("written");
            let file = InputFile::at(&path);

            let home = context(&folder.path().join("home"));
            let rehearsal =
                Rehearsal::start(&home, Rehearse { exports: std::slice::from_ref(&exports), speed: None }, &|_| {})
                    .await;
            let rehearsal = rehearsal.expect("a rehearsal");
            let rehearsed = run(&rehearsal.service.context, &file, kind, Some(&rehearsal)).await;
            let in_rehearsal = stored(&rehearsal.service.loader, "rehearsal").await;
            rehearsal.stop().await;

            let real = folder.path().join(kind);
            let mut paths: Vec<PathBuf> =
                std::fs::read_dir(&exports).expect("a folder").map(|file| file.expect("a file").path()).collect();
            paths.sort();
            load(sheetport_service::Storage::Folder(real.join("service")), "shop", &paths, None, &|_| {})
                .await
                .expect("loaded");
            drop(Service::open(Config::new(real.join("service"))).await.expect("closed after loading"));
            let service = LocalService::start(&real, "shop", &home).await.expect("a service");
            let sent = run(&service.context, &file, kind, None).await;
            assert_eq!(stored(&service.loader, "shop").await, in_rehearsal, "{kind}");
            service.stop().await.expect("stopped");

            let counts = |finished: &Finished| {
                (finished.accounting.sent, finished.accounting.failed + finished.accounting.rejected)
            };
            assert_eq!(counts(&rehearsed), counts(&sent), "{kind}");
            let failed = u64::from(kind != "items");
            assert_eq!(counts(&sent).1, failed, "a reference that the exports do not have, {kind}");
            assert_eq!(rehearsed.rehearsed.expect("of a rehearsal").made_up, [], "{kind}");
        }
    }
}

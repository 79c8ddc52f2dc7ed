//! Shows the stored data of a service to people: every record with its lines, its jobs and the requests that changed it, and the
//! journal. Read-only; works whether or not the service is running. `arrivals` finds duplicates.

use std::collections::{BTreeMap, HashMap};

use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::app::Storage;
use super::data_folder;
use super::error::Error;
use super::store::{Change, Kind, Overview, Record, StoredRequest};
use super::timestamp;

mod arrivals;

pub use self::arrivals::Arrivals;
use self::arrivals::Finder;

/// Records read at a time.
const BATCH: i64 = 1000;

/// A kind of records stored by a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownKind(Kind);

impl ShownKind {
    /// Returns all kinds.
    pub fn all() -> impl Iterator<Item = ShownKind> {
        Kind::ALL.into_iter().map(ShownKind)
    }

    /// Returns the plural, such as `companies`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Item => "items",
            Kind::Company => "companies",
            Kind::Contact => "contacts",
            Kind::Inventory => "inventories",
            Kind::Order => "orders",
            Kind::Transaction => "transactions",
            Kind::Subscription => "subscriptions",
            Kind::Invoice => "invoices",
            Kind::Job => "jobs",
        }
    }
}

/// A workspace with its record counts.
#[derive(Clone, Debug, Serialize)]
pub struct WorkspaceView {
    pub workspace: String,
    /// Counts by kind, for kinds with records.
    pub records: Map<String, Value>,
    /// Requests in the journal.
    pub requests: usize,
    /// Number of requests with a status of 400 or more.
    pub refused: usize,
    /// Number of requests without a response, because of a fault or a disconnected client.
    pub unanswered: usize,
    /// Number of requests with an injected fault.
    pub faults: usize,
}

/// A stored record.
#[derive(Debug, Serialize)]
pub struct RecordView {
    pub workspace: String,
    pub records: &'static str,
    pub id: String,
    pub number: Option<String>,
    pub external_id: Option<String>,
    /// The record as returned to clients.
    pub record: Box<RawValue>,
    /// The lines of an order.
    pub lines: Vec<Value>,
    /// The ids of the workflow jobs of an order.
    pub jobs: Vec<String>,
    /// The requests that changed the record, oldest first. Empty for loaded records, and if the journal no longer has the
    /// requests.
    pub requests: Vec<Touch>,
    /// The ids of the duplicates, by content or natural key.
    pub arrived_twice: Vec<String>,
}

/// The effect of a request on a record.
#[derive(Clone, Debug, Serialize)]
pub struct Touch {
    pub request: i64,
    /// `created`, `updated` or `unchanged`.
    pub outcome: String,
    /// The changed fields, each with its old and new value; null if no fields changed.
    pub fields: Option<Value>,
    /// Null if the journal has no entry for the request: it is still to come, or the service was stopped first.
    pub at: Option<String>,
    pub method: Option<String>,
    pub path: Option<String>,
    /// Null without a response, or without an entry in the journal.
    pub status: Option<i64>,
}

/// A request of the journal.
#[derive(Clone, Debug, Serialize)]
pub struct RequestView {
    pub request: i64,
    pub at: String,
    pub workspace: Option<String>,
    pub method: String,
    pub path: String,
    pub query: Option<String>,
    pub key: Option<String>,
    pub idempotency_key: Option<String>,
    /// Null if the client got no response.
    pub status: Option<i64>,
    pub millis: f64,
    /// The injected fault.
    pub fault: Option<String>,
    /// The reason for a refusal.
    pub reason: Option<String>,
    pub ctx_id: String,
    /// The last earlier request with the same method, path and body.
    pub repeats: Option<i64>,
    pub changes: Vec<ChangeView>,
}

/// A record affected by a request.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeView {
    pub records: String,
    pub id: String,
    pub outcome: String,
    pub fields: Option<Value>,
}

/// A snapshot of the data of a service.
pub struct Inspector {
    overview: Overview,
    requests: Vec<StoredRequest>,
    changes: Vec<Change>,
}

impl Inspector {
    /// Opens the data of a service, which may be running.
    pub fn open(storage: &Storage) -> BoxFuture<'_, Result<Inspector, Error>> {
        Box::pin(async move {
            let mut overview = match storage {
                Storage::Folder(folder) => {
                    let path = data_folder::database(folder);
                    if !path.is_file() {
                        return Err(Error::NoData { path: folder.clone() });
                    }
                    Overview::open(&path).await?
                }
                Storage::Server(address) => Overview::connect(address).await?,
            };
            let requests = overview.requests(None).await.map_err(Error::NotRead)?;
            let changes = overview.changes().await.map_err(Error::NotRead)?;
            Ok(Inspector { overview, requests, changes })
        })
    }

    /// Returns the workspaces with their record and request counts.
    pub fn workspaces(&mut self) -> BoxFuture<'_, Result<Vec<WorkspaceView>, Error>> {
        Box::pin(async move {
            let mut found: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
            let counts = self.overview.counts().await.map_err(Error::NotRead)?;
            for kind in Kind::ALL {
                for (workspace, _, count) in counts.iter().filter(|(_, name, _)| name == kind.name()) {
                    let records = found.entry(workspace.clone()).or_default();
                    records.insert(ShownKind(kind).name().to_owned(), Value::from(*count));
                }
            }
            for workspace in self.requests.iter().filter_map(|request| request.workspace.clone()) {
                found.entry(workspace).or_default();
            }
            let views = found.into_iter().map(|(workspace, records)| {
                let requests = self.requests.iter().filter(|request| request.workspace.as_deref() == Some(&workspace));
                let count = |test: fn(&StoredRequest) -> bool| requests.clone().filter(|request| test(request)).count();
                WorkspaceView {
                    requests: count(|_| true),
                    refused: count(|request| request.status.is_some_and(|status| status >= 400)),
                    unanswered: count(|request| request.status.is_none()),
                    faults: count(|request| request.fault.is_some()),
                    workspace,
                    records,
                }
            });
            Ok(views.collect())
        })
    }

    /// Returns the last `limit` records of a kind, or all records, in the order of creation, and their total number.
    pub fn records<'a>(
        &'a mut self,
        workspace: &'a str,
        kind: ShownKind,
        limit: Option<u64>,
    ) -> BoxFuture<'a, Result<(Vec<RecordView>, i64), Error>> {
        Box::pin(async move { self.read_records(workspace, kind.0, limit).await.map_err(Error::NotRead) })
    }

    /// Returns the record with this id, number or external id, if any.
    pub fn record<'a>(
        &'a mut self,
        workspace: &'a str,
        kind: ShownKind,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<RecordView>, Error>> {
        Box::pin(async move {
            let (records, _) = self.records(workspace, kind, None).await?;
            let is_it = |record: &RecordView| {
                record.id == key || record.number.as_deref() == Some(key) || record.external_id.as_deref() == Some(key)
            };
            Ok(records.into_iter().find(is_it))
        })
    }

    async fn read_records(
        &mut self,
        workspace: &str,
        kind: Kind,
        limit: Option<u64>,
    ) -> Result<(Vec<RecordView>, i64), sqlx::Error> {
        let total = self.overview.counts().await?;
        let total = total.iter().find(|(of, name, _)| of == workspace && name == kind.name());
        let total = total.map_or(0, |(_, _, total)| *total);
        let limit = limit.map_or(total, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let twice = self.finder(workspace, kind).await?.twins();
        let jobs = if kind == Kind::Order { self.jobs(workspace).await? } else { HashMap::new() };
        let touches = self.touches(workspace, kind);
        let mut views = Vec::new();
        self.each_record(workspace, kind, total.saturating_sub(limit).max(0), |record| {
            views.push(RecordView {
                workspace: workspace.to_owned(),
                records: ShownKind(kind).name(),
                lines: lines(&record)?,
                jobs: jobs.get(&record.id).cloned().unwrap_or_default(),
                requests: touches.get(&*record.id).cloned().unwrap_or_default(),
                arrived_twice: twice.get(&record.id).cloned().unwrap_or_default(),
                record: raw(&record)?,
                id: record.id,
                number: record.number,
                external_id: record.external_id,
            });
            Ok(())
        })
        .await?;
        Ok((views, total))
    }

    /// Passes the records of a kind after a position to `each`, in the order of creation.
    async fn each_record(
        &mut self,
        workspace: &str,
        kind: Kind,
        mut after: i64,
        mut each: impl FnMut(Record) -> Result<(), sqlx::Error>,
    ) -> Result<(), sqlx::Error> {
        loop {
            let records = self.overview.records(workspace, kind, after, BATCH).await?;
            let Some(last) = records.last() else { return Ok(()) };
            after = last.position;
            records.into_iter().try_for_each(&mut each)?;
        }
    }

    /// Returns the duplicates in a workspace.
    pub fn arrivals<'a>(&'a mut self, workspace: &'a str) -> BoxFuture<'a, Result<Vec<Arrivals>, Error>> {
        Box::pin(async move {
            let mut arrivals = Vec::new();
            for kind in Kind::ALL {
                arrivals.extend(self.finder(workspace, kind).await.map_err(Error::NotRead)?.arrivals());
            }
            Ok(arrivals)
        })
    }

    async fn finder(&mut self, workspace: &str, kind: Kind) -> Result<Finder, sqlx::Error> {
        let created = self.changes.iter().filter(|change| {
            change.workspace == workspace && change.kind == kind.name() && change.outcome == "created"
        });
        let contents: HashMap<i64, i64> =
            self.requests.iter().filter_map(|request| Some((request.number, request.content?))).collect();
        let created =
            created.map(|change| (change.record_id.clone(), (change.request, contents.get(&change.request).copied())));
        let mut finder = Finder::new(kind, ShownKind(kind).name(), created.collect());
        if finder.wants_records() {
            self.each_record(workspace, kind, 0, |record| finder.add(&record)).await?;
        }
        Ok(finder)
    }

    /// Returns the ids of the jobs by order.
    async fn jobs(&mut self, workspace: &str) -> Result<HashMap<String, Vec<String>>, sqlx::Error> {
        let mut jobs: HashMap<String, Vec<String>> = HashMap::new();
        self.each_record(workspace, Kind::Job, 0, |record| {
            let body: Map<String, Value> = record.parse_body()?;
            if let Some(order) = body.get("order_id").and_then(Value::as_str) {
                jobs.entry(order.to_owned()).or_default().push(record.id);
            }
            Ok(())
        })
        .await?;
        Ok(jobs)
    }

    /// Returns the effects of requests on the records of a kind, by id.
    fn touches(&self, workspace: &str, kind: Kind) -> HashMap<String, Vec<Touch>> {
        let requests: HashMap<i64, &StoredRequest> =
            self.requests.iter().map(|request| (request.number, request)).collect();
        let mut touches: HashMap<String, Vec<Touch>> = HashMap::new();
        let of_kind = |change: &&Change| change.workspace == workspace && change.kind == kind.name();
        for change in self.changes.iter().filter(of_kind) {
            let request = requests.get(&change.request);
            touches.entry(change.record_id.clone()).or_default().push(Touch {
                request: change.request,
                outcome: change.outcome.clone(),
                fields: change.fields.clone(),
                at: request.map(|request| timestamp::format(request.at)),
                method: request.map(|request| request.method.clone()),
                path: request.map(|request| request.path.clone()),
                status: request.and_then(|request| request.status),
            });
        }
        touches
    }

    /// Returns the requests of a workspace in order. `None` returns all requests, including requests of unknown callers.
    pub fn requests(&self, workspace: Option<&str>) -> Vec<RequestView> {
        let mut changes: HashMap<i64, Vec<ChangeView>> = HashMap::new();
        for change in &self.changes {
            let kind = Kind::ALL.into_iter().find(|kind| kind.name() == change.kind);
            changes.entry(change.request).or_default().push(ChangeView {
                records: kind.map_or_else(|| change.kind.clone(), |kind| ShownKind(kind).name().to_owned()),
                id: change.record_id.clone(),
                outcome: change.outcome.clone(),
                fields: change.fields.clone(),
            });
        }
        let mut last_with: HashMap<i64, i64> = HashMap::new();
        let mut views = Vec::new();
        for request in &self.requests {
            let repeats = request.content.and_then(|content| last_with.insert(content, request.number));
            if workspace.is_some() && request.workspace.as_deref() != workspace {
                continue;
            }
            views.push(RequestView {
                request: request.number,
                at: timestamp::format(request.at),
                workspace: request.workspace.clone(),
                method: request.method.clone(),
                path: request.path.clone(),
                query: request.query.clone(),
                key: request.key.clone(),
                idempotency_key: request.idempotency_key.clone(),
                status: request.status,
                millis: request.micros as f64 / 1000.0,
                fault: request.fault.clone(),
                reason: request.reason.clone(),
                ctx_id: request.ctx_id.clone(),
                repeats,
                changes: changes.remove(&request.number).unwrap_or_default(),
            });
        }
        views
    }
}

/// Returns the lines of an order.
fn lines(record: &Record) -> Result<Vec<Value>, sqlx::Error> {
    let state: Map<String, Value> = record.parse_state()?;
    Ok(match state.get("lines") {
        Some(Value::Array(lines)) => lines.clone(),
        _ => Vec::new(),
    })
}

fn raw(record: &Record) -> Result<Box<RawValue>, sqlx::Error> {
    RawValue::from_string(record.body.clone()).map_err(|error| sqlx::Error::Decode(error.into()))
}

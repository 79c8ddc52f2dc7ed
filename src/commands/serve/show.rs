//! `serve show`: the stored records of a service, and the requests in its journal.

use serde_json::{Value, json};
use sheetport_language::say;
use sheetport_service::{Inspector, RecordView, RequestView, ShownKind, WorkspaceView};
use sheetport_trial::refused;

use super::storage::storage;
use crate::cli::{Show, Shown};
use crate::error::{ErrorCode, Exit, Failure};
use crate::settings::Settings;
use crate::ui;

pub(super) async fn run(args: &Show, settings: &Settings) -> Result<Exit, Failure> {
    let mut inspector = Inspector::open(&storage(&args.data)?).await.map_err(refused)?;
    let as_json = settings.output.json;
    match args.what {
        None => overview(&mut inspector, args, as_json).await,
        Some(Shown::Requests) => requests(&inspector, args, as_json),
        Some(Shown::Records(kind)) => records(&mut inspector, args, kind, as_json).await,
    }
}

/// Returns the chosen workspaces.
async fn workspaces(inspector: &mut Inspector, args: &Show) -> Result<Vec<WorkspaceView>, Failure> {
    let mut workspaces = inspector.workspaces().await.map_err(refused)?;
    if let Some(name) = &args.workspace {
        workspaces.retain(|workspace| workspace.workspace == *name);
        if workspaces.is_empty() {
            let message = format!("the service has no records and no requests of the workspace '{name}'");
            return Err(Failure::new(ErrorCode::Usage, message, "run `sheetport serve show` for all workspaces"));
        }
    }
    Ok(workspaces)
}

async fn overview(inspector: &mut Inspector, args: &Show, as_json: bool) -> Result<Exit, Failure> {
    let mut shown = Vec::new();
    for workspace in workspaces(inspector, args).await? {
        let arrived_twice = inspector.arrivals(&workspace.workspace).await.map_err(refused)?;
        shown.push((workspace, arrived_twice));
    }
    if as_json {
        let workspaces = shown.iter().map(|(workspace, arrived_twice)| {
            let mut json = json!(workspace);
            json["arrived_twice"] = json!(arrived_twice);
            json
        });
        ui::json(&json!({"command": "serve show", "workspaces": workspaces.collect::<Vec<_>>()}));
        return Ok(Exit::Done);
    }
    if shown.is_empty() {
        ui::line(say!("no records and no requests yet"));
    }
    let (strong, doubt) = (ui::style::STRONG, ui::style::DOUBT);
    for (view, arrived_twice) in shown {
        ui::line(say!("{strong}Workspace {}{strong:#}", view.workspace));
        for (kind, count) in &view.records {
            ui::line(say!("  {kind:<14} {:>9}", ui::thousands(count.as_u64().unwrap_or_default())));
        }
        ui::line(say!(
            "  {:<14} {:>9}  {} refused, {} without a response, {} with a fault",
            "requests",
            ui::thousands(view.requests as u64),
            ui::thousands(view.refused as u64),
            ui::thousands(view.unanswered as u64),
            ui::thousands(view.faults as u64)
        ));
        for group in arrived_twice {
            let made_by = group.requests.iter().flatten().map(i64::to_string).collect::<Vec<_>>();
            ui::line(say!("  {doubt}arrived twice{doubt:#}  {}: {}", group.records, group.same));
            ui::line(say!("    {}  made by requests {}", group.ids.join("  "), made_by.join(", ")));
        }
    }
    Ok(Exit::Done)
}

async fn records(inspector: &mut Inspector, args: &Show, kind: ShownKind, as_json: bool) -> Result<Exit, Failure> {
    let (mut shown, mut total) = (Vec::new(), 0);
    for workspace in workspaces(inspector, args).await? {
        match &args.id {
            Some(key) => {
                let found = inspector.record(&workspace.workspace, kind, key).await.map_err(refused)?;
                total += found.iter().count() as u64;
                shown.extend(found);
            }
            None => {
                let (records, of_workspace) =
                    inspector.records(&workspace.workspace, kind, args.limit).await.map_err(refused)?;
                total += of_workspace.unsigned_abs();
                shown.extend(records);
            }
        }
    }
    if let (Some(key), true) = (&args.id, shown.is_empty()) {
        let message = format!("no record of {} has the id, number or external id '{key}'", kind.name());
        let hint = format!("run `sheetport serve show {}` for the stored ones", kind.name());
        return Err(Failure::new(ErrorCode::Usage, message, hint));
    }
    if as_json {
        ui::json(&json!({"command": "serve show", "total": total, "records": shown}));
        return Ok(Exit::Done);
    }
    for record in &shown {
        print_record(record);
    }
    if shown.is_empty() {
        ui::line(say!("no {}", kind.name()));
    }
    remark_on_limit(shown.len(), total, kind.name());
    Ok(Exit::Done)
}

fn print_record(record: &RecordView) {
    let (strong, faint, doubt) = (ui::style::STRONG, ui::style::FAINT, ui::style::DOUBT);
    let name = record.external_id.as_ref().or(record.number.as_ref()).unwrap_or(&record.id);
    let workspace = &record.workspace;
    ui::line(say!("{strong}{} {name}{strong:#}  {faint}workspace {workspace}{faint:#}", record.records));
    ui::line(say!("  {}", record.record.get()));
    if !record.arrived_twice.is_empty() {
        ui::line(say!("  {doubt}arrived twice{doubt:#}  also as {}", record.arrived_twice.join(", ")));
    }
    for (number, line) in (1..).zip(&record.lines) {
        ui::line(say!("  line {number}  {line}"));
    }
    for job in &record.jobs {
        ui::line(say!("  job {job}"));
    }
    for touch in &record.requests {
        let at = touch.at.as_deref().unwrap_or("(not in the journal yet, or the service was stopped first)");
        let call = format!("{} {}", touch.method.as_deref().unwrap_or(""), touch.path.as_deref().unwrap_or(""));
        ui::line(say!(
            "  {faint}request{faint:#} {}  {at}  {}  {}  {}{}",
            touch.request,
            call.trim(),
            // Without an entry in the journal, nothing is known about the response.
            touch.at.as_ref().map_or_else(|| "-".to_owned(), |_| status(touch.status)),
            touch.outcome,
            fields(touch.fields.as_ref())
        ));
    }
    if record.requests.is_empty() {
        ui::line(say!("  {faint}loaded, or by a request that is no longer in the journal{faint:#}"));
    }
}

fn requests(inspector: &Inspector, args: &Show, as_json: bool) -> Result<Exit, Failure> {
    let mut shown = inspector.requests(args.workspace.as_deref());
    let total = shown.len() as u64;
    match &args.id {
        Some(key) => shown.retain(|request| request.request.to_string() == *key || request.ctx_id == *key),
        None => drop(shown.drain(..shown.len().saturating_sub(args.limit.map_or(usize::MAX, |limit| limit as usize)))),
    }
    if let (Some(key), true) = (&args.id, shown.is_empty()) {
        let message = format!("the journal has no request with the number or context id '{key}'");
        return Err(Failure::new(
            ErrorCode::Usage,
            message,
            "run `sheetport serve show requests` for those that it has",
        ));
    }
    if as_json {
        ui::json(&json!({"command": "serve show", "total": total, "requests": shown}));
        return Ok(Exit::Done);
    }
    for request in &shown {
        print_request(request);
    }
    if shown.is_empty() {
        ui::line(say!("no requests"));
    }
    if args.id.is_none() {
        remark_on_limit(shown.len(), total, "requests");
    }
    Ok(Exit::Done)
}

fn print_request(request: &RequestView) {
    let (strong, bad, doubt) = (ui::style::STRONG, ui::style::BAD, ui::style::DOUBT);
    let mut target = request.path.clone();
    if let Some(query) = &request.query {
        target = format!("{target}?{query}");
    }
    let mut line = format!(
        "{strong}{}{strong:#}  {}  {}  {} {target}  {}  {:.1} ms",
        request.request,
        request.at,
        request.workspace.as_deref().unwrap_or("-"),
        request.method,
        status(request.status),
        request.millis
    );
    for (name, value) in [("key", &request.key), ("Idempotency-Key", &request.idempotency_key)] {
        if let Some(value) = value {
            line = format!("{line}  {name} {value}");
        }
    }
    if let Some(fault) = &request.fault {
        line = say!("{line}  {doubt}fault {fault}{doubt:#}");
    }
    if let Some(earlier) = request.repeats {
        line = say!("{line}  {doubt}repeats request {earlier}{doubt:#}");
    }
    ui::line(line);
    if let Some(reason) = &request.reason {
        ui::line(say!("  {bad}{reason}{bad:#}"));
    }
    for change in &request.changes {
        ui::line(say!("  {} {} {}{}", change.records, change.id, change.outcome, fields(change.fields.as_ref())));
    }
}

fn status(status: Option<i64>) -> String {
    status.map_or_else(|| "no response".to_owned(), |status| status.to_string())
}

/// Formats changed fields as `: price 1.5 → 2`.
fn fields(fields: Option<&Value>) -> String {
    let Some(Value::Object(fields)) = fields else { return String::new() };
    let changes = fields.iter().map(|(name, values)| format!("{name} {} → {}", values[0], values[1]));
    let changes: Vec<_> = changes.collect();
    if changes.is_empty() { String::new() } else { format!(": {}", changes.join(", ")) }
}

fn remark_on_limit(shown: usize, total: u64, what: &str) {
    if (shown as u64) < total {
        ui::remark(say!(
            "These are the last {} of {} {what}; --limit all shows all of them.",
            ui::thousands(shown as u64),
            ui::thousands(total)
        ));
    }
}

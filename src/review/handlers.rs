//! One function for each request of the page.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::app::App;
use super::comparing;
use super::failure::Failure;
use super::json::json_response;
use super::posted::Posted;
use super::sending::{self, SendRequest};
use super::session::Session;
use super::view;
use crate::operations::review::{CauseRows, ColumnKey, Fix, Reading, TemplateEdit};
use crate::operations::{self, InputFile, ReportRequest};
use crate::records::RecordKind;
use crate::sheet::{PrivateFile, Row};
use crate::upload::Edits;

/// Maximum size of a dropped file.
const MAX_FILE: u64 = 4 << 30;
/// Maximum number of rows in an answer.
const MAX_ROWS: usize = 500;
/// Pause between messages that keep a connection alive.
const ALIVE: Duration = Duration::from_secs(20);
/// Messages about progress are not sent more often.
const PROGRESS: Duration = Duration::from_millis(120);

type Answer = Result<Response, Failure>;

fn ok(value: &Value) -> Response {
    json_response(StatusCode::OK, value)
}

/// Runs what reads files or the ledger on a thread that may wait.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Failure> + Send + 'static) -> Result<T, Failure> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|error| Err(Failure::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())))
}

/// Runs `work` on a file under review, and answers with its description.
async fn change(
    app: Arc<App>,
    id: u64,
    work: impl FnOnce(&App, &Session) -> Result<(), Failure> + Send + 'static,
) -> Answer {
    let value = blocking(move || {
        let session = app.session(id)?;
        work(&app, &session)?;
        Ok(view::review(&session))
    });
    Ok(ok(&value.await?))
}

#[derive(Deserialize)]
pub(super) struct Token {
    token: String,
}

pub(super) async fn session(State(app): State<Arc<App>>, Posted(Token { token }): Posted<Token>) -> Answer {
    let Some(cookie) = app.access.exchange(&token) else {
        let message = "this address was used before; start sheetport review again for a new one";
        return Err(Failure::new(StatusCode::UNAUTHORIZED, message));
    };
    let mut response = ok(&json!({}));
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

pub(super) async fn start(State(app): State<Arc<App>>) -> Answer {
    let value = blocking(move || {
        let (review, failure) = match app.newest() {
            Ok(review) => (review, None),
            Err(failure) => (None, Some(json!({"message": failure.message(), "hint": failure.hint()}))),
        };
        let service = view::service(&app.context);
        Ok(json!({"service": service, "review": review, "failure": failure, "version": env!("CARGO_PKG_VERSION")}))
    });
    Ok(ok(&value.await?))
}

#[derive(Deserialize)]
pub(super) struct FileName {
    name: String,
}

pub(super) async fn drop_file(
    State(app): State<Arc<App>>,
    Query(FileName { name }): Query<FileName>,
    content: Body,
) -> Answer {
    let failed = |error: std::io::Error| {
        Failure::new(StatusCode::INSUFFICIENT_STORAGE, format!("the file can't be stored for a moment: {error}"))
    };
    // The name is shown, and never opened.
    let name = name.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or("spreadsheet").to_owned();
    let mut file = PrivateFile::create().map_err(failed)?;
    let (mut chunks, mut len) = (content.into_data_stream(), 0);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| Failure::bad_request(format!("the file did not arrive: {error}")))?;
        len += chunk.len() as u64;
        if len > MAX_FILE {
            return Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "the file is larger than 4 GiB"));
        }
        file.write_all(&chunk).map_err(failed)?;
    }
    file.flush().map_err(failed)?;
    let number = blocking(move || app.open(InputFile::of_copy(file, &name))).await?;
    Ok(ok(&json!({"review": number})))
}

pub(super) async fn review(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Answer {
    change(app, id, |_, _| Ok(())).await
}

#[derive(Deserialize)]
pub(super) struct NewReading {
    sheet: Option<String>,
    encoding: Option<String>,
    delimiter: Option<String>,
    header_row: Option<u64>,
}

pub(super) async fn change_reading(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(NewReading { sheet, encoding, delimiter, header_row }): Posted<NewReading>,
) -> Answer {
    let delimiter = delimiter.map(|word| crate::sheet::Options::delimiter_named(&word)).transpose();
    let delimiter = delimiter.map_err(Failure::bad_request)?;
    change(app, id, move |app, session| {
        session.change_reading(&app.context, Reading { sheet, encoding, delimiter, header_row })
    })
    .await
}

#[derive(Deserialize)]
pub(super) struct Window {
    #[serde(default)]
    from: u64,
    #[serde(default)]
    count: usize,
    /// Whether to convert the cells.
    #[serde(default)]
    values: bool,
    /// Begins at the row with this number instead.
    row: Option<u64>,
}

pub(super) async fn rows(State(app): State<Arc<App>>, Path(id): Path<u64>, Query(window): Query<Window>) -> Answer {
    let value = blocking(move || {
        let session = app.session(id)?;
        let state = session.state().clone();
        let from = match window.row {
            Some(row) => state.sheet.rows.position(row)?,
            None => window.from,
        };
        let rows = state.sheet.rows.window(from, window.count.min(MAX_ROWS))?;
        let (edits, checked) = (state.log.current(), state.checked.as_deref());
        let rows = rows.iter().map(|row| view::row(row, state.sheet.sheet, edits, checked, window.values));
        let extent = state.sheet.rows.extent();
        let rows: Vec<Value> = rows.collect();
        Ok(
            json!({"from": from, "rows": rows, "total": extent.rows, "is_complete": extent.is_complete, "revision": state.revision}),
        )
    });
    Ok(ok(&value.await?))
}

#[derive(Deserialize)]
pub(super) struct NewText {
    text: String,
}

pub(super) async fn set_template(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(NewText { text }): Posted<NewText>,
) -> Answer {
    change(app, id, move |_, session| session.set_template(text)).await
}

/// A change of the template by a click.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum TemplateChange {
    Column { field: String, column: usize },
    Constant { field: String, value: String },
    Remove { field: String },
    Confirm { field: String },
    ConfirmAll,
    Locale { locale: String },
    TimeZone { zone: String },
    DateFormat { field: String, format: String },
    Replace { field: String, from: String, to: String },
}

pub(super) async fn change_template(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(wanted): Posted<TemplateChange>,
) -> Answer {
    change(app, id, move |_, session| {
        let edit = match wanted {
            TemplateChange::Column { field, column } => {
                let columns = session.columns();
                let columns = &columns.mapping;
                for old in columns.columns.get(column).into_iter().flat_map(|column| &column.fields) {
                    let old = &columns.fields[*old];
                    if old.path != field && old.columns.len() == 1 {
                        session.change_template(&TemplateEdit::Remove { field: old.path.clone() })?;
                    }
                }
                let name = columns.columns.get(column).map(|column| column.header.clone()).unwrap_or_default();
                let is_clear = columns.columns.iter().filter(|other| other.header == name).count() == 1;
                let column = match is_clear && !name.is_empty() {
                    true => ColumnKey::Name(name),
                    false => ColumnKey::Number(column as u64 + 1),
                };
                TemplateEdit::Column { field, column }
            }
            TemplateChange::Constant { field, value } => TemplateEdit::Constant { field, value },
            TemplateChange::Remove { field } => TemplateEdit::Remove { field },
            TemplateChange::Confirm { field } => TemplateEdit::Confirm { field },
            TemplateChange::ConfirmAll => TemplateEdit::ConfirmAll,
            TemplateChange::Locale { locale } => TemplateEdit::Locale(locale),
            TemplateChange::TimeZone { zone } => TemplateEdit::TimeZone(zone),
            TemplateChange::DateFormat { field, format } => TemplateEdit::DateFormat { field, format },
            TemplateChange::Replace { field, from, to } => TemplateEdit::Replace { field, from, to },
        };
        session.change_template(&edit)
    })
    .await
}

#[derive(Deserialize)]
pub(super) struct NewKind {
    record: String,
}

pub(super) async fn change_kind(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(NewKind { record }): Posted<NewKind>,
) -> Answer {
    let record = RecordKind::from_name(&record).ok_or_else(|| Failure::bad_request("there are no such records"))?;
    change(app, id, move |app, session| session.change_kind(&app.context, record)).await
}

#[derive(Deserialize)]
pub(super) struct WantedCheck {
    /// Reads all rows, even if those that were changed were checked alone.
    #[serde(default)]
    full: bool,
}

pub(super) async fn check(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(WantedCheck { full }): Posted<WantedCheck>,
) -> Answer {
    change(app, id, move |app, session| session.check(&app.context, full)).await
}

pub(super) async fn cause_rows(
    State(app): State<Arc<App>>,
    Path((id, cause)): Path<(u64, usize)>,
    Query(window): Query<Window>,
) -> Answer {
    let value = blocking(move || {
        let state = app.session(id)?.state().clone();
        let Some(checked) = state.checked.as_deref() else { return Ok(json!({"rows": [], "total": 0})) };
        let problems = checked.of_cause(cause);
        let from = usize::try_from(window.from).unwrap_or(usize::MAX).min(problems.len());
        let end = (from + window.count.min(MAX_ROWS)).min(problems.len());
        let mut numbers: Vec<u64> = problems[from..end].iter().map(|problem| problem.row).collect();
        numbers.dedup();
        let rows = state.sheet.rows.numbered(&numbers)?;
        let rows = rows.iter().map(|row| view::row(row, state.sheet.sheet, state.log.current(), Some(checked), false));
        Ok(json!({"from": from, "rows": rows.collect::<Vec<_>>(), "total": problems.len()}))
    });
    Ok(ok(&value.await?))
}

/// A fix as the page names it.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum NamedFix {
    Set { to: String },
    ReplacePart { find: String, with: String },
    Tidy,
    NumberOnly,
    FillFromAbove,
    PadZeros { to: String },
    LeaveOut,
    KeepFirst,
    KeepLast,
}

impl From<NamedFix> for Fix {
    fn from(fix: NamedFix) -> Fix {
        /// No identifier is longer.
        const MAX_LENGTH: usize = 100;
        match fix {
            NamedFix::Set { to } => Fix::Set(to),
            NamedFix::ReplacePart { find, with } => Fix::ReplacePart { find, with },
            NamedFix::Tidy => Fix::Tidy,
            NamedFix::NumberOnly => Fix::NumberOnly,
            NamedFix::FillFromAbove => Fix::FillFromAbove,
            NamedFix::PadZeros { to } => Fix::PadZeros(to.parse().unwrap_or(0).min(MAX_LENGTH)),
            NamedFix::LeaveOut => Fix::LeaveOut,
            NamedFix::KeepFirst => Fix::KeepFirst,
            NamedFix::KeepLast => Fix::KeepLast,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct WantedFix {
    fix: NamedFix,
    /// The check that has numbered the causes.
    revision: Option<u64>,
}

/// Runs `work` on the rows of a cause.
fn with_cause<T>(
    session: &Session,
    cause: usize,
    revision: Option<u64>,
    work: impl FnOnce(&CauseRows<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let state = session.state().clone();
    let is_current = revision.is_none() || revision == state.checked_revision;
    let Some(checked) = state.checked.as_deref().filter(|_| is_current) else {
        return Err(Failure::new(StatusCode::CONFLICT, "the rows were checked again meanwhile"));
    };
    work(&CauseRows { sheet: checked, rows: &state.sheet.rows, log: &state.log, cause })
}

pub(super) async fn fixes(State(app): State<Arc<App>>, Path((id, cause)): Path<(u64, usize)>) -> Answer {
    let value = blocking(move || {
        let session = app.session(id)?;
        with_cause(&session, cause, None, |rows| {
            let choices: Vec<Value> = rows.choices()?.iter().map(view::fix_choice).collect();
            Ok(json!({"choices": choices, "allowed": rows.allowed()}))
        })
    });
    Ok(ok(&value.await?))
}

pub(super) async fn preview_fix(
    State(app): State<Arc<App>>,
    Path((id, cause)): Path<(u64, usize)>,
    Posted(WantedFix { fix, revision }): Posted<WantedFix>,
) -> Answer {
    let value = blocking(move || {
        let session = app.session(id)?;
        with_cause(&session, cause, revision, |rows| Ok(view::preview(&rows.preview(&fix.into())?)))
    });
    Ok(ok(&value.await?))
}

pub(super) async fn fix(
    State(app): State<Arc<App>>,
    Path((id, cause)): Path<(u64, usize)>,
    Posted(WantedFix { fix, revision }): Posted<WantedFix>,
) -> Answer {
    change(app, id, move |app, session| {
        let edits = with_cause(session, cause, revision, |rows| Ok(rows.edits(&fix.into())?))?;
        session.change_edits(|log| Handle::current().block_on(log.add(&app.context, &edits, &app.who)))?;
        session.check(&app.context, false)
    })
    .await
}

#[derive(Deserialize)]
pub(super) struct NewEdits {
    edits: Vec<NewEdit>,
}

#[derive(Deserialize)]
pub(super) struct NewEdit {
    row: u64,
    /// The whole row if missing.
    column: Option<usize>,
    /// The new text; of a whole row, any text leaves it out. `None` takes it as it is in the file.
    text: Option<String>,
}

pub(super) async fn edit(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(NewEdits { edits }): Posted<NewEdits>,
) -> Answer {
    if edits.iter().any(|edit| edit.column.is_some_and(|column| column >= view::MAX_COLUMNS)) {
        return Err(Failure::bad_request("there is no such column"));
    }
    let value = blocking(move || {
        let session = app.session(id)?;
        let sheet = session.state().sheet.sheet;
        let mut numbers: Vec<u64> = edits.iter().map(|edit| edit.row).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let known = session.change_edits(|log| {
            let edits = log.edits(edits.into_iter().map(|edit| (sheet, edit.row, edit.column, edit.text)));
            Handle::current().block_on(log.add(&app.context, &edits, &app.who))
        })?;
        let state = session.state().clone();
        let rows = state.sheet.rows.numbered(&numbers)?;
        let (edits, checked) = (state.log.current(), state.checked.as_deref());
        let verdicts = rows.iter().map(|row| {
            let of_row = known.iter().flatten().find(|(number, _)| *number == row.number);
            let problems = match (of_row, checked) {
                (Some((_, problems)), _) => problems.clone(),
                (None, Some(checked)) => checked.verdict(&edited(row, sheet, edits)),
                (None, None) => Vec::new(),
            };
            let problems: Vec<Value> = problems.iter().map(view::problem).collect();
            json!({"row": view::row(row, sheet, edits, None, false), "problems": problems})
        });
        let verdicts: Vec<Value> = verdicts.collect();
        let check = known.is_some().then(|| view::check(&state));
        Ok(json!({"rows": verdicts, "edits": view::edits(&state), "revision": state.revision, "check": check}))
    });
    Ok(ok(&value.await?))
}

fn edited(row: &Row, sheet: usize, edits: &Edits) -> Row {
    let mut row = row.clone();
    edits.apply(sheet, &mut row);
    row
}

pub(super) async fn undo(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Answer {
    change(app, id, |app, session| {
        session.change_edits(|log| Handle::current().block_on(log.undo(&app.context, &app.who)))?;
        session.check(&app.context, false)
    })
    .await
}

pub(super) async fn redo(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Answer {
    change(app, id, |app, session| {
        session.change_edits(|log| Handle::current().block_on(log.redo(&app.context, &app.who)))?;
        session.check(&app.context, false)
    })
    .await
}

pub(super) async fn send(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(request): Posted<SendRequest>,
) -> Answer {
    let session = app.session(id)?;
    sending::start(&app, &session, request)?;
    Ok(ok(&session.sending.status()))
}

#[derive(Deserialize)]
pub(super) struct WantedRate {
    rate: Option<String>,
}

/// Begins to compare the file with the service. Returns the rate at which it would be sent.
pub(super) async fn compare(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(WantedRate { rate }): Posted<WantedRate>,
) -> Answer {
    let session = app.session(id)?;
    let rate = sending::speed(rate.as_deref())?;
    if !session.is_sending() {
        comparing::start(&app, &session, rate);
    }
    let (words, per_second) = operations::review::pace(&app.context, rate).await?;
    Ok(ok(&json!({"rate": words, "per_second": per_second, "comparison": session.sending.comparison()})))
}

pub(super) async fn stop(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Answer {
    let session = app.session(id)?;
    session.sending.stop();
    Ok(ok(&session.sending.status()))
}

/// Tells of progress and of changes by other tabs, until the page is closed.
pub(super) async fn events(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    let mut live = app.session(id)?.sending.live();
    live.mark_changed();
    let events = stream::unfold(live, |mut live| async move {
        live.changed().await.ok()?;
        let now = live.borrow_and_update().clone();
        let event = Event::default()
            .data(json!({"revision": now.revision, "status": now.status, "comparison": now.comparison}).to_string());
        tokio::time::sleep(PROGRESS).await;
        Some((Ok(event), live))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE)))
}

#[derive(Deserialize)]
pub(super) struct ReportFormat {
    format: String,
}

/// Returns the report of the last run as a download.
pub(super) async fn report(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Query(ReportFormat { format }): Query<ReportFormat>,
) -> Answer {
    let kinds = BTreeMap::from([
        ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("csv", "text/csv; charset=utf-8"),
        ("html", "text/html; charset=utf-8"),
    ]);
    let kind = *kinds.get(format.as_str()).ok_or_else(|| Failure::bad_request("there is no such format"))?;
    let session = app.session(id)?;
    let run = session.state().last_run.ok_or_else(|| Failure::not_found("nothing was sent yet"))?;
    let stem = session.file.name.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let extension = format.clone();
    let bytes = blocking(move || {
        let unwritable = |error: std::io::Error| Failure::bad_request(format!("the report can't be written: {error}"));
        let folder = tempfile::tempdir().map_err(unwritable)?;
        let path = folder.path().join(format!("report.{extension}"));
        let request = ReportRequest::of_run(run, &path);
        Handle::current().block_on(operations::report(&app.context, &request, &|_| {}))?;
        std::fs::read(&path).map_err(unwritable)
    });
    let bytes = bytes.await?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    let plain: String = stem.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let name = format!("attachment; filename=\"{plain}.report.{format}\"");
    let mut response = Body::from(bytes).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(
        header::CONTENT_DISPOSITION,
        HeaderValue::from_str(&name).map_err(|_| Failure::bad_request("the name of the file is unusual"))?,
    );
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

//! Reports as downloads.

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use serde::Deserialize;
use sheetport_ledger::RunId;
use sheetport_operations::{self as operations, ReportRequest, TemporaryFolder, show_run};
use tokio::runtime::Handle;

use super::super::app::App;
use super::super::http::Failure;
use super::{Answer, blocking};

/// The formats of reports, with their media types.
const FORMATS: [(&str, &str); 3] = [
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("csv", "text/csv; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
];

#[derive(Deserialize)]
pub(crate) struct ReportFormat {
    format: String,
}

/// Returns the report of the last run of a file.
pub(crate) async fn of_file(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Query(ReportFormat { format }): Query<ReportFormat>,
) -> Answer {
    let session = app.session(id)?;
    let run = session.state().last_run.ok_or_else(|| Failure::not_found("nothing was sent yet"))?;
    let stem = session.file.name.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    download(app, run, &stem, format).await
}

/// Returns the report of a run.
pub(crate) async fn of_run(
    State(app): State<Arc<App>>,
    Path(run): Path<RunId>,
    Query(ReportFormat { format }): Query<ReportFormat>,
) -> Answer {
    let file = show_run(&app.context(), Some(run)).await?.run.about.file;
    let stem = FilePath::new(&file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    download(app, run, &stem, format).await
}

async fn download(app: Arc<App>, run: RunId, stem: &str, format: String) -> Answer {
    let known = FORMATS.iter().find(|(name, _)| *name == format);
    let (_, kind) = *known.ok_or_else(|| Failure::bad_request("there is no such format"))?;
    let extension = format.clone();
    let bytes = blocking(move || {
        let unwritable = |error: std::io::Error| Failure::bad_request(format!("the report can't be written: {error}"));
        let folder = TemporaryFolder::create()?;
        let path = folder.path().join(format!("report.{extension}"));
        let request = ReportRequest::of_run(run, &path);
        Handle::current().block_on(operations::report(&app.context(), &request, &|_| {}))?;
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

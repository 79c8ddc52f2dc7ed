//! The reading options of a file, its rows, and its check.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use serde::Deserialize;
use serde_json::{Value, json};
use sheetport_operations::review::Reading;
use sheetport_sheet::Options;

use super::super::app::App;
use super::super::http::{Failure, Posted};
use super::super::view;
use super::{Answer, MAX_ROWS, blocking, change, ok};

pub(crate) async fn review(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Answer {
    change(app, id, |_, _| Ok(())).await
}

#[derive(Deserialize)]
pub(crate) struct NewReading {
    sheet: Option<String>,
    encoding: Option<String>,
    delimiter: Option<String>,
    header_row: Option<u64>,
}

pub(crate) async fn change_reading(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(NewReading { sheet, encoding, delimiter, header_row }): Posted<NewReading>,
) -> Answer {
    let delimiter = delimiter.map(|word| Options::delimiter_named(&word)).transpose();
    let delimiter = delimiter.map_err(Failure::bad_request)?;
    change(app, id, move |app, session| {
        session.change_reading(&app.context(), Reading { sheet, encoding, delimiter, header_row })
    })
    .await
}

#[derive(Deserialize)]
pub(crate) struct Window {
    #[serde(default)]
    pub(super) from: u64,
    #[serde(default)]
    pub(super) count: usize,
    /// Whether to convert the cells.
    #[serde(default)]
    values: bool,
    /// Begins at the row with this number instead.
    row: Option<u64>,
}

pub(crate) async fn rows(State(app): State<Arc<App>>, Path(id): Path<u64>, Query(window): Query<Window>) -> Answer {
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
    Ok(ok(value.await?))
}

#[derive(Deserialize)]
pub(crate) struct Place {
    row: u64,
    column: usize,
}

/// Returns the whole text of a cell, of which the grid has only the beginning.
pub(crate) async fn cell(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Query(Place { row, column }): Query<Place>,
) -> Answer {
    let value = blocking(move || {
        let state = app.session(id)?.state().clone();
        let rows = state.sheet.rows.numbered(&[row])?;
        let row = rows.first().ok_or_else(|| Failure::not_found("there is no such row"))?;
        let edited = state.log.current().of_row(state.sheet.sheet, row.number);
        Ok(json!({"text": view::text_of(row, edited, column)}))
    });
    Ok(ok(value.await?))
}

#[derive(Deserialize)]
pub(crate) struct WantedCheck {
    /// Reads all rows, even if the changed rows were checked alone.
    #[serde(default)]
    full: bool,
}

pub(crate) async fn check(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(WantedCheck { full }): Posted<WantedCheck>,
) -> Answer {
    change(app, id, move |app, session| session.check(&app.context(), full)).await
}

/// Cancels a check, a fix or an undo under way.
pub(crate) async fn cancel(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Answer {
    app.session(id)?.sending.cancel_work();
    Ok(ok(json!({})))
}

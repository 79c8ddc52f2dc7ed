//! Edits of cells and rows.

use std::sync::Arc;

use axum::extract::{Path, State};
use serde::Deserialize;
use serde_json::{Value, json};
use sheetport_plan::Edits;
use sheetport_sheet::Row;

use super::super::app::App;
use super::super::http::{Failure, Posted};
use super::super::view;
use super::{Answer, blocking, change, ok};

#[derive(Deserialize)]
pub(crate) struct NewEdits {
    edits: Vec<NewEdit>,
}

#[derive(Deserialize)]
pub(crate) struct NewEdit {
    row: u64,
    /// The whole row if missing.
    column: Option<usize>,
    /// The new text of a cell. For a whole row, any text leaves the row out. `None` restores the original.
    text: Option<String>,
}

pub(crate) async fn edit(
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
        let known = session.change_edits(&app.context(), |log| {
            log.edits(edits.into_iter().map(|edit| (sheet, edit.row, edit.column, edit.text)))
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
    Ok(ok(value.await?))
}

fn edited(row: &Row, sheet: usize, edits: &Edits) -> Row {
    let mut row = row.clone();
    edits.apply(sheet, &mut row);
    row
}

pub(crate) async fn undo(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Answer {
    change(app, id, |app, session| session.undo_and_check(&app.context())).await
}

pub(crate) async fn redo(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Answer {
    change(app, id, |app, session| session.redo_and_check(&app.context())).await
}

//! The rows of a cause, and fixes for all these rows.

use std::ops::Range;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use sheetport_operations::review::{CauseRows, Fix, NotRemembered};

use super::super::app::App;
use super::super::http::{Failure, Posted};
use super::super::session::{self, Session};
use super::super::view;
use super::{Answer, MAX_ROWS, blocking, change, ok};

pub(crate) async fn cause_rows(
    State(app): State<Arc<App>>,
    Path((id, cause)): Path<(u64, usize)>,
    Query(window): Query<CauseWindow>,
) -> Answer {
    let value = blocking(move || {
        let state = app.session(id)?.state().clone();
        let Some(checked) = state.checked.as_deref() else { return Ok(json!({"rows": []})) };
        let rows = CauseRows::new(checked, (&state.sheet.rows, &state.log), cause, window.value.as_deref())?;
        let range = window.within(rows.places().len());
        let mut numbers: Vec<u64> = rows.places()[range].iter().map(|problem| problem.row).collect();
        numbers.dedup();
        rows_of(&state, &numbers)
    });
    Ok(ok(value.await?))
}

/// Returns the rows that are left out, by the template or by a person.
pub(crate) async fn left_out(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Query(window): Query<CauseWindow>,
) -> Answer {
    let value = blocking(move || {
        let state = app.session(id)?.state().clone();
        let numbers = state.checked.as_deref().map(|checked| checked.left_out(state.log.current()));
        let numbers = numbers.unwrap_or_default();
        let rows = state.sheet.rows.numbered(&numbers[window.within(numbers.len())])?;
        let rows = rows.iter().map(|row| view::left_out_row(row, &state));
        Ok(json!({"rows": rows.collect::<Vec<_>>()}))
    });
    Ok(ok(value.await?))
}

/// Returns the rows that the service refused in the last run, also those that were corrected since.
pub(crate) async fn refused(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Query(window): Query<CauseWindow>,
) -> Answer {
    let value = blocking(move || {
        let state = app.session(id)?.state().clone();
        let numbers = state.refused.rows();
        let rows = state.sheet.rows.numbered(&numbers[window.within(numbers.len())])?;
        let edited = state.refused.edited_since(&state.log, state.sheet.sheet);
        let rows = rows.iter().map(|row| view::refused_row(row, &state, edited.contains(&row.number)));
        Ok(json!({"rows": rows.collect::<Vec<_>>()}))
    });
    Ok(ok(value.await?))
}

/// Describes the rows with these numbers.
fn rows_of(state: &session::State, numbers: &[u64]) -> Result<Value, Failure> {
    let rows = state.sheet.rows.numbered(numbers)?;
    let (edits, checked) = (state.log.current(), state.checked.as_deref());
    let rows = rows.iter().map(|row| view::row(row, state.sheet.sheet, edits, checked, false));
    Ok(json!({"rows": rows.collect::<Vec<_>>()}))
}

#[derive(Deserialize)]
pub(crate) struct CauseWindow {
    #[serde(default)]
    from: u64,
    #[serde(default)]
    count: usize,
    /// The text of the cells.
    value: Option<String>,
}

impl CauseWindow {
    /// Returns the places of the window in a list of this length.
    fn within(&self, len: usize) -> Range<usize> {
        let from = usize::try_from(self.from).unwrap_or(usize::MAX).min(len);
        from..(from + self.count.min(MAX_ROWS)).min(len)
    }
}

#[derive(Deserialize)]
pub(crate) struct WantedValue {
    /// The text of the cells.
    value: Option<String>,
}

/// A fix in the notation of the page.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum NamedFix {
    Set { to: String },
    ReplacePart { find: String, with: String },
    Tidy,
    NumberOnly,
    FillFromAbove,
    PadZeros { to: usize },
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
            NamedFix::PadZeros { to } => Fix::PadZeros(to.min(MAX_LENGTH)),
            NamedFix::LeaveOut => Fix::LeaveOut,
            NamedFix::KeepFirst => Fix::KeepFirst,
            NamedFix::KeepLast => Fix::KeepLast,
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct WantedFix {
    fix: NamedFix,
    /// The revision whose check numbered the causes.
    revision: Option<u64>,
    /// The text of the cells that are meant.
    value: Option<String>,
}

/// Runs `work` on the rows of a cause.
fn with_cause<T>(
    session: &Session,
    (cause, value): (usize, Option<&str>),
    revision: Option<u64>,
    work: impl FnOnce(&CauseRows<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let state = session.state().clone();
    let is_current = revision.is_none() || revision == state.checked_revision;
    let Some(checked) = state.checked.as_deref().filter(|_| is_current) else {
        return Err(Failure::new(StatusCode::CONFLICT, "the rows were checked again meanwhile"));
    };
    work(&CauseRows::new(checked, (&state.sheet.rows, &state.log), cause, value)?)
}

pub(crate) async fn fixes(
    State(app): State<Arc<App>>,
    Path((id, cause)): Path<(u64, usize)>,
    Query(WantedValue { value: wanted }): Query<WantedValue>,
) -> Answer {
    let value = blocking(move || {
        let session = app.session(id)?;
        with_cause(&session, (cause, wanted.as_deref()), None, |rows| {
            let choices: Vec<Value> = rows.choices()?.iter().map(view::fix_choice).collect();
            Ok(json!({"choices": choices, "allowed": rows.allowed(), "values": rows.values()?}))
        })
    });
    Ok(ok(value.await?))
}

pub(crate) async fn preview_fix(
    State(app): State<Arc<App>>,
    Path((id, cause)): Path<(u64, usize)>,
    Posted(WantedFix { fix, revision, value: wanted }): Posted<WantedFix>,
) -> Answer {
    let value = blocking(move || {
        let session = app.session(id)?;
        with_cause(&session, (cause, wanted.as_deref()), revision, |rows| {
            Ok(view::preview(&rows.preview(&fix.into())?))
        })
    });
    Ok(ok(value.await?))
}

pub(crate) async fn fix(
    State(app): State<Arc<App>>,
    Path((id, cause)): Path<(u64, usize)>,
    Posted(WantedFix { fix, revision, value }): Posted<WantedFix>,
) -> Answer {
    change(app, id, move |app, session| {
        // Takes and checks the edits of other people first.
        session.take_edits_of_others(&app.context())?;
        let fix = fix.into();
        let (edits, made) =
            with_cause(session, (cause, value.as_deref()), revision, |rows| Ok((rows.edits(&fix)?, rows.made(&fix)?)))?;
        session.fix(&app.context(), edits, made)
    })
    .await
}

/// Returns whether the template can express the last fix, and if not, why.
pub(crate) async fn can_remember(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Answer {
    let value = blocking(move || {
        let why_not = match app.session(id)?.remembering(&app.context())? {
            Ok(_) => None,
            Err(NotRemembered::NoSuchRule) => Some("no-such-rule"),
            Err(NotRemembered::OtherRows) => Some("other-rows"),
            Err(NotRemembered::NoEffect) => Some("no-effect"),
        };
        Ok(json!({"why_not": why_not}))
    });
    Ok(ok(value.await?))
}

pub(crate) async fn remember(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Answer {
    change(app, id, |app, session| {
        session.remember(&app.context())?;
        session.check(&app.context(), true)
    })
    .await
}

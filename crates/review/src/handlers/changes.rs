//! The changes that a file would make: a look at them, their rows, and what a person approves.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use serde::Deserialize;
use serde_json::{Value, json};
use sheetport_ledger::{RunId, Seq};
use sheetport_operations::Fate;
use sheetport_operations::review::{ChangeFilter, Decision};

use super::super::app::App;
use super::super::http::{Failure, Posted};
use super::super::looking::{self, LookRequest};
use super::super::session::{Look, Session, gone};
use super::super::view;
use super::{Answer, MAX_ROWS, blocking, ok};

/// Starts a look at the changes. Only reads from the service.
pub(crate) async fn look(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(request): Posted<LookRequest>,
) -> Answer {
    let session = app.session(id)?;
    looking::start(&app, &session, &request)?;
    Ok(ok(session.sending.status()))
}

/// Gives up the look, so that the file can be sent without.
pub(crate) async fn forget(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Answer {
    let session = app.session(id)?;
    if session.is_sending() {
        return Err(Failure::bad_request("this is being sent already"));
    }
    let value = blocking(move || {
        looking::forget(&app, &session)?;
        Ok(view::review(&session))
    });
    Ok(ok(value.await?))
}

/// The kind of the records with an odd change, beside the names of fates.
const ODD: &str = "odd";

/// Selects changes.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Selection {
    /// The name of a fate, or [`ODD`]; all if missing.
    kind: Option<String>,
    field: Option<String>,
    from: usize,
    count: usize,
}

impl Selection {
    /// Returns the filter. A known kind without records selects none.
    ///
    /// # Errors
    /// If no records can be of this kind, or have this field.
    fn filter(&self, look: &Look) -> Result<ChangeFilter<'_>, Failure> {
        let (kind, field) = (self.kind.as_deref(), self.field.as_deref());
        let is_odd = kind == Some(ODD);
        let fate = kind.filter(|_| !is_odd);
        if let Some(name) = fate.filter(|name| !Fate::is_named(name)) {
            return Err(Failure::bad_request(format!("there is no kind of changes with the name '{name}'")));
        }
        if let Some(name) = field.filter(|name| !look.plan.changes.has_field(name)) {
            return Err(Failure::bad_request(format!("these records have no field '{name}'")));
        }
        Ok(ChangeFilter { fate, is_odd, field })
    }
}

/// Returns some of the selected records.
pub(crate) async fn rows(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Query(selection): Query<Selection>,
) -> Answer {
    with_look(app, id, move |look, _| {
        let (from, count) = (selection.from, selection.count.min(MAX_ROWS));
        let (total, rows) = look.plan.changes.window(selection.filter(look)?, from, count);
        Ok(json!({"total": total, "rows": rows.into_iter().map(view::changes::row).collect::<Vec<_>>()}))
    })
    .await
}

/// A decision of a person.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WantedDecision {
    /// The look that the page shows: its plan, and its last decision.
    run: RunId,
    version: u64,
    approves: bool,
    /// The record; the selected ones if missing.
    seq: Option<Seq>,
    #[serde(default)]
    selection: Selection,
}

/// Approves changes, or leaves them out. Returns the counts.
pub(crate) async fn decide(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(WantedDecision { run, version, approves, seq, selection }): Posted<WantedDecision>,
) -> Answer {
    with_look(app, id, move |look, revision| {
        look.demand(revision, (run, version))?;
        let filter = selection.filter(look)?;
        let decision = match seq {
            Some(seq) => Decision::Record(seq, filter.field),
            None => Decision::Selected(filter),
        };
        look.plan.changes.decide(decision, approves);
        look.version += 1;
        Ok(view::changes::look(look))
    })
    .await
}

/// Runs `work` on the look of a file, and the revision of the file.
async fn with_look(
    app: Arc<App>,
    id: u64,
    work: impl FnOnce(&mut Look, u64) -> Result<Value, Failure> + Send + 'static,
) -> Answer {
    let session: Arc<Session> = app.session(id)?;
    let value = blocking(move || {
        let revision = session.state().revision;
        work(session.look().as_mut().ok_or_else(gone)?, revision)
    });
    Ok(ok(value.await?))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use sheetport_operations::Fate;

    #[test]
    fn the_page_has_a_word_for_each_fate() {
        let words: Value = serde_json::from_str(include_str!("../page/words/en.json")).expect("JSON");
        let fates =
            [Fate::Changed, Fate::Gone, Fate::New, Fate::NotThere, Fate::NotCompared, Fate::NotShown, Fate::Unchanged];
        for fate in fates.into_iter().chain([Fate::SentBefore, Fate::LeftOut, Fate::Refused]) {
            assert!(Fate::is_named(fate.name()), "{fate:?}");
            assert!(words[format!("fate.{}", fate.name())].is_string(), "{fate:?}");
        }
    }
}

//! The changes that a file would make: a look at them, their rows, and what a person approves.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use serde::Deserialize;
use serde_json::{Value, json};
use sheetport_ledger::Seq;
use sheetport_operations::review::{ChangeFilter, Decision};

use super::super::app::App;
use super::super::http::{Failure, Posted};
use super::super::looking::{self, LookRequest};
use super::super::session::{Look, Session};
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
    looking::forget(&app, &session).await?;
    let value = blocking(move || Ok(view::review(&session)));
    Ok(ok(value.await?))
}

/// Selects changes.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Selection {
    /// The name of a fate, or `odd`.
    kind: Option<String>,
    field: Option<String>,
    from: usize,
    count: usize,
}

impl Selection {
    fn filter(&self, look: &Look) -> ChangeFilter<'_> {
        let name = self.kind.as_deref().unwrap_or_default();
        let fate = look.plan.changes.fates().into_iter().map(|(fate, _)| fate).find(|fate| fate.name() == name);
        ChangeFilter { fate, is_odd: name == "odd", field: self.field.as_deref() }
    }
}

/// Returns some of the selected records.
pub(crate) async fn rows(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Query(selection): Query<Selection>,
) -> Answer {
    with_look(app, id, move |look| {
        let (from, count) = (selection.from, selection.count.min(MAX_ROWS));
        let (total, rows) = look.plan.changes.window(selection.filter(look), from, count);
        json!({"total": total, "rows": rows.into_iter().map(view::changes::row).collect::<Vec<_>>()})
    })
    .await
}

/// A decision of a person.
#[derive(Deserialize)]
pub(crate) struct WantedDecision {
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
    Posted(WantedDecision { approves, seq, selection }): Posted<WantedDecision>,
) -> Answer {
    with_look(app, id, move |look| {
        let filter = selection.filter(look);
        let decision = match seq {
            Some(seq) => Decision::Record(seq, filter.field),
            None => Decision::Selected(filter),
        };
        look.plan.changes.decide(decision, approves);
        look.version += 1;
        view::changes::look(look)
    })
    .await
}

/// Runs `work` on the look of a file.
async fn with_look(app: Arc<App>, id: u64, work: impl FnOnce(&mut Look) -> Value + Send + 'static) -> Answer {
    let session: Arc<Session> = app.session(id)?;
    let value = blocking(move || match session.look().as_mut() {
        Some(look) => Ok(work(look)),
        None => Err(Failure::bad_request("these changes were sent or forgotten meanwhile")),
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
        let fates = [Fate::Changed, Fate::New, Fate::NotThere, Fate::NotCompared, Fate::NotShown, Fate::Unchanged];
        for fate in fates.into_iter().chain([Fate::SentBefore, Fate::LeftOut, Fate::Refused]) {
            assert!(words[format!("fate.{}", fate.name())].is_string(), "{fate:?}");
        }
    }
}

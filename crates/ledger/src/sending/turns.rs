//! Which queued run is next, in PostgreSQL.
//!
//! A part is given to the service and workspace with the fewest parts in progress, and of these to the one that was given a part longest ago.
//! Within a workspace, runs of a higher priority come first, then those with the fewest parts in progress, then the one that was given a part
//! longest ago. A worker that sends a part of another run looks now and then whether it should go on with the next one instead.

use std::time::Duration;

use sheetport_sql::{self as sql, Dialect};
use sqlx::Row as _;

use super::super::database::Ledger;
use super::super::error::Error;
use super::super::ids::{Part, RunId};

/// Time for looking which run is next.
const ANSWER: Duration = Duration::from_secs(10);
/// The order of the queued runs of [`candidates`].
const ORDER: &str = "in_workspace, of_workspace NULLS FIRST, priority DESC, workers, of_run NULLS FIRST, id";

/// The queue as the sender of a part sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InQueue {
    /// Whether workers may send the run of the part.
    pub is_queued: bool,
    /// The run that would be given a part if the sender gave its own part back.
    pub next: Option<NextRun>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextRun {
    pub id: RunId,
    /// Whether a worker was given a part of it since it was queued.
    pub was_served: bool,
}

impl Ledger {
    /// Returns the runs with a free part, the next first. In a file, runs follow each other by their priority and number.
    pub async fn queued(&self) -> Result<Vec<RunId>, Error> {
        let query = match self.dialect() {
            Dialect::Sqlite => {
                "SELECT id FROM run WHERE state = 'queued' AND damage IS NULL ORDER BY COALESCE(priority, 0) DESC, id"
                    .to_owned()
            }
            Dialect::Postgres => format!("{} SELECT id FROM candidate ORDER BY {ORDER}", candidates(None)),
        };
        Ok(sql::query_scalar(query).fetch_all(&self.reader).await?)
    }

    /// Looks at the queue during the sending of `own`. `without`: runs that this worker can't send now.
    pub async fn in_queue(&self, own: Part, without: &[RunId]) -> Result<InQueue, Error> {
        let run = own.run;
        if self.dialect() == Dialect::Sqlite {
            return Ok(InQueue { is_queued: self.is_queued(run).await?, next: None });
        }
        let without: String = without.iter().filter(|id| **id != run).map(|id| format!(", {id}")).collect();
        // Asked every second for each part, so without a transaction of its own.
        let query = format!(
            "{} SELECT EXISTS (SELECT 1 FROM run WHERE id = {run} AND state = 'queued') AS is_queued, next.id, \
             next.of_run IS NOT NULL AS was_served FROM (VALUES (1)) AS one LEFT JOIN \
             (SELECT * FROM candidate WHERE id NOT IN (0{without}) ORDER BY {ORDER} LIMIT 1) AS next ON TRUE",
            candidates(Some(own))
        );
        let row = self.reader.raw_row(ANSWER, query).await?.ok_or(sqlx::Error::RowNotFound)?;
        let (is_queued, id): (bool, Option<RunId>) = (row.try_get("is_queued")?, row.try_get("id")?);
        let was_served = row.try_get("was_served")?;
        Ok(InQueue { is_queued, next: id.map(|id| NextRun { id, was_served }) })
    }
}

/// Returns the beginning of a statement with the table `candidate` of queued runs that have a free part, as if `own` were free.
fn candidates(own: Option<Part>) -> String {
    let is_own =
        own.map_or("FALSE".to_owned(), |own| format!("(part.run = {} AND part.first = {})", own.run, own.first));
    format!(
        "WITH leased AS (SELECT run, COUNT(*) AS workers FROM part WHERE until > now() AND NOT {is_own} GROUP BY run), \
         busy AS (SELECT base_url, workspace, SUM(workers) AS workers FROM leased JOIN run ON id = leased.run \
         GROUP BY base_url, workspace), \
         candidate AS (SELECT run.id, COALESCE(run.priority, 0) AS priority, COALESCE(leased.workers, 0) AS workers, \
         COALESCE(busy.workers, 0) AS in_workspace, workspace_turn.at AS of_workspace, run_turn.at AS of_run FROM run \
         LEFT JOIN leased ON leased.run = run.id \
         LEFT JOIN busy ON busy.base_url = run.base_url AND busy.workspace = run.workspace \
         LEFT JOIN turn AS workspace_turn ON workspace_turn.base_url = run.base_url \
         AND workspace_turn.workspace = run.workspace AND workspace_turn.run = 0 \
         LEFT JOIN turn AS run_turn ON run_turn.base_url = run.base_url AND run_turn.workspace = run.workspace \
         AND run_turn.run = run.id \
         WHERE run.state = 'queued' AND run.damage IS NULL AND EXISTS (SELECT 1 FROM part WHERE part.run = run.id \
         AND NOT part.is_done AND (part.until <= now() OR {is_own})))"
    )
}

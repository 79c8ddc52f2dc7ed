//! Families: an upload with all its retries.

use sheetport_sql as sql;

use super::super::database::Ledger;
use super::super::error::{Error, corrupt};
use super::super::ids::RunId;
use super::run::Run;

/// All runs connected by retries to the same first run.
#[derive(Clone, Debug)]
pub struct Family {
    /// The first run of the family. Possibly pruned.
    pub root: RunId,
    /// The runs in the ledger, oldest first.
    pub runs: Vec<Run>,
}

impl Ledger {
    /// Returns the family of `run`.
    pub async fn family(&self, run: &Run) -> Result<Family, Error> {
        let mut root = run.id;
        let mut parent = run.about.retry_of;
        while let Some(earlier) = parent {
            if earlier >= root {
                return Err(corrupt(format_args!("run {root} retries the later run {earlier}")));
            }
            root = earlier;
            parent = match self.run(earlier).await {
                Ok(run) => run.about.retry_of,
                Err(Error::NoSuchRun(_)) => None,
                Err(error) => return Err(error),
            };
        }
        let query = "WITH RECURSIVE family (id) AS (SELECT CAST($1 AS BIGINT) UNION \
                     SELECT run.id FROM run JOIN family ON run.retry_of = family.id) \
                     SELECT run.id FROM run JOIN family ON run.id = family.id ORDER BY run.id";
        let ids: Vec<RunId> = sql::query_scalar(query).bind(root).fetch_all(&self.reader).await?;
        let mut runs = Vec::with_capacity(ids.len());
        for id in ids {
            runs.push(self.run(id).await?);
        }
        Ok(Family { root, runs })
    }
}

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

/// The beginning of a query about the family of the run $1: the table `root` has the number of its first run, which may have been
/// removed, and `family` the numbers of all.
macro_rules! with_root {
    ($query:literal) => {
        concat!(
            "WITH RECURSIVE up (id, retry_of) AS (SELECT id, retry_of FROM run WHERE id = $1 UNION \
             SELECT run.id, run.retry_of FROM run JOIN up ON run.id = up.retry_of), \
             root (id) AS (SELECT MIN(COALESCE(retry_of, id)) FROM up), \
             family (id) AS (SELECT id FROM root UNION SELECT run.id FROM run JOIN family ON run.retry_of = family.id)",
            $query
        )
    };
}
pub(crate) use with_root;

/// Selects the runs of the family of the run $1, oldest first.
pub(crate) const FAMILY: &str = with_root!(" SELECT run.id FROM run JOIN family ON run.id = family.id ORDER BY run.id");

/// Selects the first run of the family of the run $1, with NULL for what it was about if it was removed.
pub(super) const ROOT: &str = with_root!(
    " SELECT root.id, run.base_url, run.workspace, run.record, run.file_hash FROM root LEFT JOIN run ON run.id = root.id"
);

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

//! What a server may lose of what was committed, as far as its settings say.

use std::time::Duration;

use sheetport_sql::Dialect;
use sqlx::Row as _;

use super::super::error::Error;
use super::ledger::Ledger;

/// Time for the settings.
const ANSWER: Duration = Duration::from_secs(10);

/// How a server may lose commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// `fsync` is off: a crash of its system loses or damages the database.
    NoSync,
    /// `synchronous_commit` is off: a crash loses what was committed last.
    EarlyCommit,
    /// No commit waits for a standby, and one that is promoted may lack what was committed last.
    Asynchronous,
    /// The server or the role does not tell the timeline, so that only processes and machines that have written more recognise a loss.
    HiddenTimeline,
}

impl Ledger {
    /// Returns how the server may lose commits. A file has none of these.
    pub async fn losses(&self) -> Result<Vec<Loss>, Error> {
        if self.dialect() == Dialect::Sqlite {
            return Ok(Vec::new());
        }
        let query = "SELECT COALESCE(current_setting('fsync', TRUE), 'on') = 'off', \
                     COALESCE(current_setting('synchronous_commit', TRUE), 'on') = 'off', \
                     (COALESCE(current_setting('synchronous_standby_names', TRUE), '') = '' \
                     OR COALESCE(current_setting('synchronous_commit', TRUE), 'on') IN ('off', 'local')) \
                     AND EXISTS (SELECT 1 FROM pg_stat_replication)";
        let mut losses = Vec::new();
        match self.reader.raw_row(ANSWER, query.to_owned()).await {
            Ok(Some(row)) => {
                for (index, loss) in [Loss::NoSync, Loss::EarlyCommit, Loss::Asynchronous].into_iter().enumerate() {
                    losses.extend(row.try_get::<bool, _>(index)?.then_some(loss));
                }
            }
            // A server that only resembles PostgreSQL has other settings.
            Ok(None) | Err(sqlx::Error::Database(_)) => {}
            Err(error) => return Err(error.into()),
        }
        if !self.leases.places().tells_timeline(&self.reader).await? {
            losses.push(Loss::HiddenTimeline);
        }
        Ok(losses)
    }
}

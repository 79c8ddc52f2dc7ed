//! The history of a run: its events in order.

use sheetport_sql as sql;

use super::super::database::Ledger;
use super::super::error::Error;
use super::super::event::{Action, NewEvent, RunEvent};
use super::super::ids::RunId;

impl Ledger {
    /// Returns the history of a run, in order. Of a removed run, it is the removal alone.
    pub async fn history(&self, run: RunId) -> Result<Vec<RunEvent>, Error> {
        let query =
            "SELECT action, who, process, at, last_at, count, note, other_run FROM event WHERE run = $1 ORDER BY id";
        let rows = sql::query(query).bind(run).fetch_all(&self.reader).await?;
        let event = |row: sql::Row| -> Result<RunEvent, Error> {
            Ok(RunEvent {
                action: Action::from_name(row.try_get(0)?)?,
                who: row.try_get(1)?,
                process: row.try_get(2)?,
                at: row.try_get(3)?,
                until: row.try_get(4)?,
                count: row.try_get(5)?,
                note: row.try_get(6)?,
                other_run: row.try_get(7)?,
            })
        };
        rows.into_iter().map(event).collect()
    }

    /// Notes that this process begins to send a run, or goes on after it was sent or set aside.
    pub async fn note_sending(&self, run: RunId, now: i64) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        let query = "SELECT EXISTS (SELECT 1 FROM event WHERE run = $1 AND action IN ('sent', 'worked', 'set-aside'))";
        let is_again = sql::query_scalar::<bool>(query).bind(run).fetch_one(&mut transaction).await?;
        let action = if is_again { Action::Resumed } else { Action::Sent };
        NewEvent::of(action).write(&mut transaction, run, now).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Notes that this worker can't send a run now, and why.
    pub async fn note_set_aside(&self, run: RunId, why: &str, now: i64) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        NewEvent::of(Action::SetAside).because(Some(why)).write(&mut transaction, run, now).await?;
        transaction.commit().await?;
        Ok(())
    }
}

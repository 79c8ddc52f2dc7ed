//! A database that went back to an earlier state: a standby that had not received everything was promoted, or a backup was restored.
//!
//! Requests that the ledger has forgotten may have been made for every record that it takes for pending. So the first process that finds the
//! ledger in another place stores a doubt about all runs that may have been sent meanwhile, and their records that must not be repeated become
//! unknown before anything more is sent (`sending::doubt`). A process that holds a lease and finds its last transaction in the new place
//! knows that nothing of its own is missing: the log of a database has one order. If its commits have also waited for a standby, nobody's is.

use sheetport_records::RecordKind;
use sheetport_sql::{self as sql, Dialect, Transaction};
use sqlx::Row as _;

use super::super::error::Error;
use super::super::ids::{RunId, Seq};
use super::super::locks::{NOW, Place, Trace};
use super::ledger::Ledger;

/// That a ledger lacks its end, and nobody has accepted this yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostEnd {
    /// When this was found, in milliseconds since 1970, by the clock of the database.
    pub at: i64,
    pub why: String,
    /// The newest run that the ledger had then. Records of later runs may be those of a run that is missing.
    pub last_run: RunId,
}

/// What is to be done about the place of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It is the one that was noted, or the first one.
    Same,
    /// It is another one, with all that was ever committed.
    NothingLost,
    /// Whoever holds a lease may know more.
    Wait,
    /// The end of the ledger may be missing.
    Lost,
}

/// What a process knows about the place of a ledger.
#[derive(Clone, Copy, Debug)]
struct Known {
    is_elsewhere: bool,
    own: Trace,
    /// Whether the commits of this process have waited for a standby.
    is_synchronous: bool,
    /// Whether leases of other processes are valid.
    others_may_know: bool,
    /// Whether something is missing for certain.
    is_lost: bool,
}

/// Decides. Pure.
fn judge(known: Known) -> Verdict {
    let Known { is_elsewhere, own, is_synchronous, others_may_know, is_lost } = known;
    match own {
        _ if is_lost => Verdict::Lost,
        Trace::Lost => Verdict::Lost,
        _ if !is_elsewhere => Verdict::Same,
        Trace::Whole if is_synchronous => Verdict::NothingLost,
        Trace::Whole => Verdict::Lost,
        Trace::None | Trace::Unclear if others_may_know => Verdict::Wait,
        Trace::None | Trace::Unclear => Verdict::Lost,
    }
}

impl Ledger {
    /// Notes that the ledger is in another place, with what may be missing. Returns false if this is left to the processes that hold
    /// leases, until these end.
    ///
    /// # Errors
    /// [`Error::WentBack`] if this process can't go on under its leases.
    pub(crate) async fn settle_in(&self) -> Result<bool, Error> {
        self.note_place(None).await
    }

    /// Notes that the ledger lacks its end for a reason that its place does not show. Has no effect in a file.
    ///
    /// # Errors
    /// [`Error::WentBack`] if this process can't go on under its leases.
    pub async fn note_lost_end(&self, why: &str) -> Result<(), Error> {
        self.note_place(Some(why)).await.map(|_| ())
    }

    async fn note_place(&self, lost: Option<&str>) -> Result<bool, Error> {
        let places = self.leases.places();
        if self.dialect() == Dialect::Sqlite {
            return Ok(true);
        }
        places.columns(&self.writer).await?;
        let mut transaction = self.begin_writing().await?;
        transaction.raw_row("SELECT 1 FROM place WHERE id = 1 FOR UPDATE".to_owned()).await?;
        let Some(seen) = places.look(&self.writer, &mut transaction).await? else { return Ok(true) };
        let own = self.leases.trace(&mut transaction).await?;
        let is_elsewhere = seen.noted.as_ref().is_some_and(|noted| !noted.may_be(&seen.here));
        let known = Known {
            is_elsewhere,
            own,
            is_synchronous: self.leases.is_synchronous(),
            others_may_know: is_elsewhere && are_leases_valid(&mut transaction).await?,
            is_lost: lost.is_some(),
        };
        let verdict = judge(known);
        let why = match (&seen.noted, lost) {
            (_, Some(why)) => why.to_owned(),
            (Some(noted), None) if is_elsewhere => seen.here.change_from(noted),
            _ => "the last transaction of a process is missing".to_owned(),
        };
        if verdict != Verdict::Same {
            tracing::warn!(why, ?verdict, ?own, "the ledger is in another place");
        }
        if verdict != Verdict::Wait {
            let place = seen.noted.as_ref().map_or(seen.here.clone(), |noted| seen.here.or(noted));
            note(&mut transaction, &place).await?;
        }
        if verdict == Verdict::Lost {
            store_doubts(&mut transaction, &why).await?;
        }
        // Only this process sends these records, and it knows what it has sent. What was lost before it took its lease may be about them.
        if own == Trace::Whole && lost.is_none() && verdict != Verdict::Wait {
            for part in self.leases.own_records() {
                let remove = "DELETE FROM doubt WHERE run = $1 AND first BETWEEN $2 AND $3";
                let remove = sql::query(remove).bind(part.run).bind(part.first).bind(part.last);
                remove.execute(&mut transaction).await?;
            }
        }
        transaction.commit().await?;
        match own {
            Trace::Lost => Err(Error::WentBack { why }),
            Trace::Unclear if lost.is_none() => Err(Error::WentBack { why }),
            Trace::Unclear | Trace::Whole | Trace::None => {
                if verdict != Verdict::Wait {
                    places.set_known(&seen.here);
                }
                Ok(verdict != Verdict::Wait)
            }
        }
    }

    /// Returns that the ledger lacks its end, unless a person has accepted this.
    pub async fn lost_end(&self) -> Result<Option<LostEnd>, Error> {
        if self.dialect() == Dialect::Sqlite {
            return Ok(None);
        }
        let query =
            "SELECT lost_at, COALESCE(lost_why, ''), COALESCE(last_run, 0) FROM place WHERE lost_at IS NOT NULL";
        let found: Option<(i64, String, RunId)> = sql::query_as(query).fetch_optional(&self.reader).await?;
        Ok(found.map(|(at, why, last_run)| LostEnd { at, why, last_run }))
    }

    /// Lets the pending records of a run be sent after a person has looked up what was sent of it.
    pub async fn remove_doubts(&self, run: RunId) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        sql::query("DELETE FROM doubt WHERE run = $1").bind(run).execute(&mut transaction).await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// Accepts that the ledger lacks its end. Doubts about single runs stay.
pub(super) async fn accept(transaction: &mut Transaction) -> Result<(), Error> {
    if transaction.dialect() == Dialect::Postgres {
        let accept = "UPDATE place SET lost_at = NULL, lost_why = NULL, last_run = NULL";
        sql::query(accept).execute(transaction).await?;
    }
    Ok(())
}

async fn note(transaction: &mut Transaction, place: &Place) -> Result<(), Error> {
    let update = "UPDATE place SET identity = $1 WHERE id = 1 AND identity <> $1";
    sql::query(update).bind(place.text()).execute(transaction).await?;
    Ok(())
}

/// Whether a process may hold a lease that it has taken in the place before.
async fn are_leases_valid(transaction: &mut Transaction) -> Result<bool, Error> {
    let query = "SELECT EXISTS (SELECT 1 FROM lease WHERE until > clock_timestamp())";
    let row = transaction.raw_row(query.to_owned()).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?.unwrap_or(false))
}

/// Stores the doubts about all runs that may have been sent meanwhile, and that the ledger lacks its end.
async fn store_doubts(transaction: &mut Transaction, why: &str) -> Result<(), Error> {
    let kinds = RecordKind::ALL.iter().filter(|kind| kind.input().must_not_repeat()).map(|kind| kind.name());
    let kinds = kinds.map(|kind| format!("'{kind}'")).collect::<Vec<_>>().join(", ");
    let doubt = format!(
        "INSERT INTO doubt (run, first, last, why) \
         SELECT run.id, part.first, part.last, $1 FROM run JOIN part ON part.run = run.id \
         WHERE run.state = 'queued' AND NOT part.is_done AND run.record IN ({kinds}) \
         UNION ALL SELECT id, 0, $2, $1 FROM run WHERE state = 'planned' AND has_plan = 1 AND record IN ({kinds}) \
         ON CONFLICT (run, first) DO UPDATE SET last = GREATEST(doubt.last, excluded.last), why = excluded.why"
    );
    sql::query(doubt).bind(why.to_owned()).bind(Seq::MAX).execute(&mut *transaction).await?;
    let lost = format!(
        "UPDATE place SET lost_at = {NOW}, lost_why = $1, \
                last_run = (SELECT COALESCE(MAX(id), 0) FROM run)"
    );
    sql::query(lost).bind(why.to_owned()).execute(&mut *transaction).await?;
    // All machines know now what only those knew that have written more.
    let rename = sql::query("UPDATE origin SET id = $1").bind(uuid::Uuid::now_v7().simple().to_string());
    rename.execute(transaction).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_only_where_a_process_can_tell() {
        let moved = Known {
            is_elsewhere: true,
            own: Trace::None,
            is_synchronous: true,
            others_may_know: false,
            is_lost: false,
        };
        for (known, verdict) in [
            (Known { is_elsewhere: false, ..moved }, Verdict::Same),
            (Known { is_elsewhere: false, own: Trace::Unclear, ..moved }, Verdict::Same),
            (Known { is_elsewhere: false, own: Trace::Lost, ..moved }, Verdict::Lost),
            (Known { is_elsewhere: false, is_lost: true, ..moved }, Verdict::Lost),
            (moved, Verdict::Lost),
            (Known { others_may_know: true, ..moved }, Verdict::Wait),
            (Known { others_may_know: true, own: Trace::Unclear, ..moved }, Verdict::Wait),
            (Known { others_may_know: true, own: Trace::Lost, ..moved }, Verdict::Lost),
            (Known { others_may_know: true, own: Trace::Whole, ..moved }, Verdict::NothingLost),
            (Known { own: Trace::Whole, is_synchronous: false, ..moved }, Verdict::Lost),
            (Known { own: Trace::Whole, is_lost: true, ..moved }, Verdict::Lost),
        ] {
            assert_eq!(judge(known), verdict, "{known:?}");
        }
    }
}

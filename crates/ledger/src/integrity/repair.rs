//! Rebuilding of lost or altered data. Outcomes are never invented: a record without a known outcome becomes unknown, and a run
//! with unreadable records is marked as damaged.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sheetport_findings::Code;
use sheetport_sql::{self as sql, Pool};
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};

use super::super::checksums::seal;
use super::super::checksums::totals::{self, Totals};
use super::super::conflicts::{Claim, insert_claims};
use super::super::database::{FILE, Ledger, loses_commits};
use super::super::error::Error;
use super::super::event::{Action, NewEvent};
use super::super::ids::{RunId, Seq};
use super::super::outcomes::insert_outcomes;
use super::super::records::{Disposition, Outcome, Problem};
use super::super::runs::Run;
use super::super::state::{RecordState, RunState};
use super::inspect::Inspection;
use super::part::{DamagedPart, TABLES_OF_RUNS};

/// Outcomes copied at a time from a damaged file.
const COPIED: i64 = 512;

/// The result of repairing a run.
#[derive(Clone, Debug, Default)]
pub struct Repaired {
    /// Descriptions of rebuilt or removed data.
    pub rebuilt: Vec<String>,
    /// Number of records set to unknown.
    pub unknown: u64,
    /// Damage that could not be rebuilt. The run will not be sent.
    pub damage: Option<String>,
}

impl Ledger {
    /// Copies the files of the ledger in `folder`, with `name` appended to their names. Returns the path of the copy.
    pub fn copy_files(folder: &Path, name: &str) -> Result<PathBuf, Error> {
        let copy = folder.join(format!("{FILE}.{name}"));
        for suffix in ["", "-wal", "-shm"] {
            let (from, to) = (folder.join(format!("{FILE}{suffix}")), with_suffix(&copy, suffix));
            if from.exists() {
                fs::copy(&from, &to).map_err(|error| Error::Open { path: to, reason: error.to_string() })?;
            }
        }
        Ok(copy)
    }

    /// Removes a copy of [`Ledger::copy_files`].
    pub fn remove_copy(copy: &Path) -> Result<(), Error> {
        for suffix in ["", "-wal", "-shm"] {
            let path = with_suffix(copy, suffix);
            if path.exists() {
                fs::remove_file(&path).map_err(|error| Error::Open { path, reason: error.to_string() })?;
            }
        }
        Ok(())
    }

    /// Whether the latest changes of the ledger in `folder` can't be read.
    pub fn has_lost_changes(folder: &Path) -> Result<bool, Error> {
        let path = folder.join(FILE);
        loses_commits(&path).map_err(|error| Error::Open { path, reason: error.to_string() })
    }

    /// Opens the ledger in `folder` for a repair. Drops the latest changes if they can't be read.
    pub async fn open_damaged(folder: &Path) -> Result<Ledger, Error> {
        Ledger::open_as_is(folder, true).await
    }

    /// Rebuilds the indexes and the structure of the file. Returns whether SQLite finds the result undamaged.
    pub async fn rebuild_file(&self) -> Result<bool, Error> {
        for statement in ["REINDEX", "VACUUM"] {
            match sql::query(statement).execute(&self.writer).await.map_err(Error::from) {
                Err(error) if !error.is_damage() && !is_constraint(&error) => return Err(error),
                _ => {}
            }
        }
        for table in TABLES_OF_RUNS {
            let query = format!("DELETE FROM {table} WHERE run NOT IN (SELECT id FROM run)");
            match sql::query(query).execute(&self.writer).await.map_err(Error::from) {
                Err(error) if !error.is_damage() => return Err(error),
                _ => {}
            }
        }
        Ok(self.inspect_file().await?.is_empty())
    }

    /// Copies the readable data to a new ledger in `folder`. Run by run, so that a damaged page costs a single run.
    pub async fn salvage(&self, folder: &Path) -> Result<(), Error> {
        let new = Ledger::open(folder).await?;
        let (Pool::Sqlite(writer), Some(path)) = (&new.writer, &self.file) else {
            return Err(Error::OnlyForFiles("a repair"));
        };
        let mut connection = writer.acquire().await?;
        let attach = sqlx::query("ATTACH $1 AS damaged").bind(path.display().to_string());
        attach.execute(&mut *connection).await?;
        let ids = readable_runs(&mut connection).await?;
        copy_rows(&mut connection, "rate", "true").await?;
        // The name stays, unless it can't be read.
        if copy_rows(&mut connection, "origin", "true").await? {
            let other = "DELETE FROM main.origin WHERE id NOT IN (SELECT id FROM damaged.origin)";
            sqlx::query(other).execute(&mut *connection).await?;
        }
        copy_rows(&mut connection, "accepted", "true").await?;
        copy_rows(&mut connection, "event", "true").await?;
        for id in &ids {
            copy_rows(&mut connection, "run", &format!("id = {id}")).await?;
            for table in TABLES_OF_RUNS {
                copy_in_parts(&mut connection, table, *id).await?;
            }
        }
        for id in claiming_runs(&mut connection).await? {
            copy_in_parts(&mut connection, "claim", id).await?;
        }
        sqlx::query("DETACH damaged").execute(&mut *connection).await?;
        drop(connection);
        new.close().await;
        Ok(())
    }

    /// Repairs a run. Requires the lock of the run. `has_lost_changes`: the latest changes of the ledger could not be read.
    /// `claims`: the claims of the records, or empty if unknown.
    pub async fn repair(
        &self,
        found: &Inspection,
        has_lost_changes: bool,
        claims: &[Claim],
        now: i64,
    ) -> Result<Repaired, Error> {
        let id = found.run;
        let mut repaired = Repaired::default();
        let run = match self.run_as_is(id).await {
            Ok(run) => run,
            Err(error) if error.is_damage() => {
                self.remove_unreadable(id).await?;
                repaired
                    .rebuilt
                    .push("its row can't be read, so the run was removed; what it sent is recognized".into());
                return Ok(repaired);
            }
            Err(error) => return Err(error),
        };
        if let Some(what) = found.lasting_damage() {
            self.mark_damaged(id, what).await?;
            repaired.damage = Some(what.to_owned());
            return Ok(repaired);
        }
        let stored = totals::load(&self.reader, id).await.ok();
        let before = self.actual_totals(id, stored.unwrap_or_default()).await?;
        let mut transaction = self.begin().await?;
        let mut is_lost = stored.is_none_or(|stored| stored.in_flight != before.in_flight)
            || has_lost_changes && matches!(run.state, RunState::Planned | RunState::Queued);
        let mut lost_answers: Vec<Seq> = Vec::new();
        let is_in_place = stored.is_some_and(|stored| {
            (stored.outcomes.rows, stored.outcomes.seqs) == (before.outcomes.rows, before.outcomes.seqs)
        });
        for seq in &found.altered_outcomes {
            let query = "DELETE FROM outcome WHERE run = $1 AND seq = $2";
            sql::query(query).bind(id).bind(seq).execute(&mut transaction).await?;
            if is_in_place { lost_answers.push(*seq) } else { is_lost = true }
        }
        is_lost |= stored.is_none_or(|stored| stored.outcomes.rows != before.outcomes.rows);
        for seq in &found.altered_decisions {
            let query = "DELETE FROM resolution WHERE run = $1 AND seq = $2";
            sql::query(query).bind(id).bind(seq).execute(&mut transaction).await?;
        }
        let has_all_claims = found.altered_claims.is_empty()
            && !has_lost_changes
            && stored.is_none_or(|stored| stored.claims == before.claims);
        if is_lost {
            lost_answers.extend(self.maybe_sent(&run, has_all_claims).await?);
            sql::query("DELETE FROM in_flight WHERE run = $1").bind(id).execute(&mut transaction).await?;
        }
        let lost_answers: BTreeSet<Seq> = lost_answers.into_iter().collect();
        // Adding outcomes requires existing totals. The final totals are stored below.
        totals::store(&mut transaction, id, &stored.unwrap_or_default()).await?;
        let outcomes: Vec<Outcome> = lost_answers.iter().map(|seq| lost(*seq, now)).collect();
        insert_outcomes(&mut transaction, id, &outcomes).await?;
        if found.is_damaged(DamagedPart::Claims) {
            sql::query("DELETE FROM claim WHERE run = $1").bind(id).execute(&mut transaction).await?;
            insert_claims(&mut transaction, id, claims, now).await?;
            repaired.rebuilt.push("the list of its sent requests, which prevents duplicates".into());
        }
        let outside = "DELETE FROM intent WHERE run = $1 AND (first < 0 OR last < first OR last >= $2)";
        sql::query(outside).bind(id).bind(run.planned.records).execute(&mut transaction).await?;
        NewEvent::of(Action::Repaired).write(&mut transaction, id, now).await?;
        transaction.commit().await?;
        repaired.unknown = lost_answers.len() as u64;
        self.rebuild_totals(id, stored).await?;
        if self.accounting(id).await?.pending > 0 && run.state == RunState::Finished {
            let update = sql::query("UPDATE run SET state = 'planned', finished_at = NULL WHERE id = $1").bind(id);
            self.change_run(id, update).await?;
        }
        repaired.rebuilt.push("its counts".into());
        if !found.altered_decisions.is_empty() {
            repaired.rebuilt.push("altered decisions about unknown records were removed".into());
        }
        Ok(repaired)
    }

    /// Returns the records without an outcome that may have been sent and must not be sent twice: all records with a claim, or
    /// all records if claims may be missing.
    async fn maybe_sent(&self, run: &Run, has_all_claims: bool) -> Result<Vec<Seq>, Error> {
        let claimed = self.claimed(run.id).await?;
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(block) = self.record_block(run.id, from).await? {
            from = block.end();
            let settled = self.settled(run.id, block.first..=from - 1).await?;
            for (seq, record) in block.numbered().filter(|(seq, _)| !settled.contains(seq)) {
                let call = run.about.record.input().call(record.target.is_some());
                let is_once = call.is_none_or(|call| !call.repeatable);
                let is_sent = matches!(record.disposition, Disposition::Send(_));
                if is_sent && is_once && (!has_all_claims || claimed.contains(&seq)) {
                    found.push(seq);
                }
            }
        }
        Ok(found)
    }

    async fn rebuild_totals(&self, run: RunId, stored: Option<Totals>) -> Result<(), Error> {
        let mut known = stored.unwrap_or_default();
        if stored.is_none() {
            let query = "SELECT COALESCE(CAST(SUM(attempts) AS BIGINT), 0) FROM outcome WHERE run = $1";
            known.requests = sql::query_scalar(query).bind(run).fetch_one(&self.reader).await?;
        }
        let actual = self.actual_totals(run, known).await?;
        let mut transaction = self.begin().await?;
        totals::store(&mut transaction, run, &actual).await?;
        transaction.commit().await?;
        Ok(())
    }

    async fn mark_damaged(&self, run: RunId, what: &str) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        let update = sql::query("UPDATE run SET damage = $2 WHERE id = $1").bind(run).bind(what);
        update.execute(&mut transaction).await?;
        seal::seal(&mut transaction, run).await?;
        transaction.commit().await?;
        self.rebuild_totals(run, None).await
    }

    /// Removes all data of a run except its claims.
    async fn remove_unreadable(&self, run: RunId) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        for table in TABLES_OF_RUNS {
            let query = format!("DELETE FROM {table} WHERE run = $1");
            sql::query(query).bind(run).execute(&mut transaction).await?;
        }
        sql::query("DELETE FROM run WHERE id = $1").bind(run).execute(&mut transaction).await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// Returns the outcome of a record with a lost response.
fn lost(seq: Seq, now: i64) -> Outcome {
    let problem = Problem {
        remedy: "look it up in the service, then `sheetport resolve`".to_owned(),
        ..Problem::of_record(Code::LedgerDamaged, "the ledger was damaged, so it is not known whether it was applied")
    };
    Outcome { problems: vec![problem], attempts: 1, ..Outcome::new(seq, RecordState::Unknown, now) }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn is_constraint(error: &Error) -> bool {
    let Error::Database(error) = error else { return false };
    error.as_database_error().is_some_and(|error| error.is_unique_violation())
}

async fn readable_runs(connection: &mut SqliteConnection) -> Result<Vec<RunId>, Error> {
    ids(connection, "SELECT id FROM damaged.run ORDER BY id", "SELECT id FROM damaged.run NOT INDEXED").await
}

async fn claiming_runs(connection: &mut SqliteConnection) -> Result<Vec<RunId>, Error> {
    let query = "SELECT DISTINCT run FROM damaged.claim";
    ids(connection, query, query).await
}

/// Returns the result of the first readable query.
async fn ids(connection: &mut SqliteConnection, query: &'static str, other: &'static str) -> Result<Vec<RunId>, Error> {
    for query in [query, other] {
        match sqlx::query_scalar(query).fetch_all(&mut *connection).await.map_err(Error::from) {
            Ok(ids) => return Ok(ids),
            Err(error) if error.is_damage() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Vec::new())
}

/// Copies the rows of a table that match a condition. Returns false if they could not be read.
async fn copy_rows(connection: &mut SqliteConnection, table: &str, condition: &str) -> Result<bool, Error> {
    let mut transaction = connection.begin().await?;
    let query = format!("INSERT OR IGNORE INTO main.{table} SELECT * FROM damaged.{table} WHERE {condition}");
    match sqlx::query(AssertSqlSafe(query)).execute(&mut *transaction).await.map_err(Error::from) {
        Ok(_) => {
            transaction.commit().await?;
            Ok(true)
        }
        Err(error) if error.is_damage() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Copies the rows of a run. Skips rows on damaged pages.
async fn copy_in_parts(connection: &mut SqliteConnection, table: &str, run: RunId) -> Result<(), Error> {
    let of_run = format!("run = {run}");
    if copy_rows(connection, table, &of_run).await? || !matches!(table, "outcome" | "claim") {
        return Ok(());
    }
    let query = "SELECT COALESCE(MAX(first + records), 0) FROM main.record_block WHERE run = $1";
    let records: i64 = sqlx::query_scalar(query).bind(run).fetch_one(&mut *connection).await?;
    let mut first = 0;
    while first < records {
        let condition = format!("{of_run} AND seq >= {first} AND seq < {}", first + COPIED);
        copy_rows(connection, table, &condition).await?;
        first += COPIED;
    }
    Ok(())
}

//! The full check of the ledger: reads and compares all data of a run.

use sheetport_sql as sql;

use super::super::checksums::totals;
use super::super::database::Ledger;
use super::super::error::Error;
use super::super::history::StoredClaim;
use super::super::ids::{RunId, Seq};
use super::super::outcomes::resolve;
use super::super::runs::Run;
use super::super::state::RunState;
use super::verify::differences;

/// The tables with rows of runs, except claims: claims outlive their runs.
const TABLES_OF_RUNS: [&str; 8] =
    ["source_block", "record_block", "seen_block", "outcome", "resolution", "in_flight", "intent", "total"];
/// Outcomes read at a time.
const OUTCOMES: i64 = 4_096;
/// Messages of SQLite about the file.
const MESSAGES: i64 = 20;

/// Record, state, person, time and checksum.
type Decision = (Seq, String, String, i64, i64);

/// The result of inspecting a run.
#[derive(Clone, Debug)]
pub struct Inspection {
    pub run: RunId,
    pub records: i64,
    /// What was lost or altered.
    pub damage: Vec<String>,
}

impl Inspection {
    /// Adds the damage described by an error. Returns other errors.
    fn note<T>(&mut self, result: Result<T, Error>) -> Result<Option<T>, Error> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Error::Damaged { what, .. }) => {
                self.damage.push(what);
                Ok(None)
            }
            Err(error) if error.is_damage() => {
                self.damage.push(error.to_string());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

impl Ledger {
    /// Returns the findings of SQLite about the structure of the file, and the runs without their row. Empty for an undamaged
    /// file. Takes some seconds per gigabyte. PostgreSQL checks its own files.
    pub async fn inspect_file(&self) -> Result<Vec<String>, Error> {
        let query = format!("PRAGMA integrity_check({MESSAGES})");
        let said: Result<Vec<String>, _> = match &self.file {
            Some(_) => sql::query_scalar(query).fetch_all(&self.reader).await,
            None => Ok(Vec::new()),
        };
        let mut found = match said.map_err(Error::from) {
            Ok(said) => said.into_iter().filter(|line| line != "ok").collect(),
            Err(error) if error.is_damage() => vec![error.to_string()],
            Err(error) => return Err(error),
        };
        match self.verify_tables().await {
            Err(Error::DamagedFile { what, .. }) => found.push(what),
            verified => verified?,
        }
        for table in TABLES_OF_RUNS {
            let query = format!("SELECT DISTINCT run FROM {table} WHERE run NOT IN (SELECT id FROM run)");
            let lost: Result<Vec<RunId>, _> = sql::query_scalar(query).fetch_all(&self.reader).await;
            match lost.map_err(Error::from) {
                Ok(lost) => {
                    found.extend(lost.iter().map(|run| format!("run {run} has rows in {table}, but is missing")))
                }
                Err(error) if error.is_damage() => found.push(format!("the table {table} can't be read: {error}")),
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Reads all data of a run. Returns the losses and alterations found.
    pub async fn inspect(&self, id: RunId) -> Result<Inspection, Error> {
        let mut found = Inspection { run: id, records: 0, damage: Vec::new() };
        let run = found.note(self.run(id).await)?;
        if let Some(damage) = run.as_ref().and_then(|run| run.damage.clone()) {
            found.damage.push(damage);
            return Ok(found);
        }
        let run = run.filter(|run| run.state != RunState::Planning);
        let Some(run) = run else { return Ok(found) };
        found.records = run.planned.records;
        self.inspect_plan(&run, &mut found).await?;
        self.inspect_outcomes(id, &mut found).await?;
        self.inspect_decisions(id, &mut found).await?;
        self.inspect_claims(id, &mut found).await?;
        let query = "SELECT COUNT(*) FROM intent WHERE run = $1 AND (first < 0 OR last < first OR last >= $2)";
        let intents = sql::query_scalar(query).bind(id).bind(run.planned.records).fetch_one(&self.reader).await;
        let outside: Option<i64> = found.note(intents.map_err(Error::from))?;
        if outside.is_some_and(|count| count > 0) {
            found.damage.push("what was begun to be sent is outside its records".to_owned());
        }
        let stored = totals::load(&self.reader, id).await;
        if let Some(stored) = found.note(stored)? {
            let actual = self.actual_totals(id, stored).await;
            if let Some(actual) = found.note(actual)? {
                found.damage.extend(differences(&stored, &actual));
            }
        }
        Ok(found)
    }

    async fn inspect_plan(&self, run: &Run, found: &mut Inspection) -> Result<(), Error> {
        if !run.has_plan {
            return Ok(());
        }
        let mut from = 0;
        loop {
            let block = self.record_block(run.id, from).await;
            let Some(block) = found.note(block)? else { break };
            let Some(block) = block else { break };
            from = block.end();
        }
        let mut from = 0;
        loop {
            let block = self.source_block(run.id, from).await;
            let Some(block) = found.note(block)? else { break };
            let Some(block) = block else { break };
            from = block.end();
        }
        let seen = self.seen(run.id).await;
        found.note(seen)?;
        if found.damage.is_empty() {
            found.note(self.verify_plan(run).await)?;
        }
        Ok(())
    }

    async fn inspect_outcomes(&self, run: RunId, found: &mut Inspection) -> Result<(), Error> {
        let mut from = Seq::MIN;
        loop {
            let query = "SELECT seq FROM outcome WHERE run = $1 AND seq > $2 ORDER BY seq LIMIT $3";
            let seqs = sql::query_scalar(query).bind(run).bind(from).bind(OUTCOMES).fetch_all(&self.reader).await;
            let Some(seqs) = found.note(seqs.map_err(Error::from))? else { break };
            let seqs: Vec<Seq> = seqs;
            let (Some(first), Some(last)) = (seqs.first(), seqs.last()) else { break };
            from = *last;
            match self.outcomes(run, *first..=*last).await {
                Ok(_) => continue,
                Err(error) if error.is_damage() => {}
                Err(error) => return Err(error),
            }
            for seq in seqs {
                found.note(self.outcomes(run, seq..=seq).await)?;
            }
        }
        Ok(())
    }

    async fn inspect_decisions(&self, run: RunId, found: &mut Inspection) -> Result<(), Error> {
        let query = "SELECT seq, state, who, at, checksum FROM resolution WHERE run = $1 ORDER BY seq";
        let rows = sql::query_as(query).bind(run).fetch_all(&self.reader).await;
        let rows: Result<Vec<Decision>, _> = rows;
        let rows = found.note(rows.map_err(Error::from))?;
        for (seq, state, who, at, checksum) in rows.into_iter().flatten() {
            if resolve::checksum(run, seq, &state, &who, at) != checksum {
                found.damage.push(format!("the decision about its record {seq} was altered"));
            }
        }
        Ok(())
    }

    async fn inspect_claims(&self, run: RunId, found: &mut Inspection) -> Result<(), Error> {
        let query = format!("SELECT {} FROM claim WHERE run = $1 ORDER BY seq", StoredClaim::COLUMNS);
        let rows = sql::query(query).bind(run).fetch_all(&self.reader).await;
        let rows = found.note(rows.map_err(Error::from))?;
        for row in rows.into_iter().flatten() {
            let (claim, is_intact) = StoredClaim::from_row(&row)?;
            if !is_intact || !(0..found.records).contains(&claim.seq) {
                let what = format!("what recognizes its record {} in other files was altered", claim.seq);
                found.damage.push(what);
            }
        }
        Ok(())
    }
}

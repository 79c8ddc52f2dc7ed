//! Runs: what each was about, how far it came, and its accounting.

use sha2::{Digest, Sha256};
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqlitePool, SqliteRow};

use super::RunId;
use super::error::Error;
use super::open::Ledger;

/// What a run is about. Together these are its identity: a resume against anything else is refused.
#[derive(Clone, Debug, Default)]
pub struct NewRun {
    pub command: String,
    pub record: String,
    pub template: String,
    pub template_toml: String,
    pub file: String,
    /// SHA-256 of the file, in hexadecimal.
    pub file_hash: String,
    pub base_url: String,
    /// As the token names it; empty where it names none.
    pub workspace: String,
    /// The sheet that is read, by name; [`SEVERAL_SHEETS`] for more than one.
    pub sheet: String,
    pub header: Vec<String>,
    /// Of the first sheet.
    pub header_row: u64,
    /// The fields that come from a column, with that column's place from 0.
    pub columns: Vec<(String, usize)>,
    /// The rows that the run is about, first and last; nothing when it is about all of them.
    pub chosen: Option<(u64, u64)>,
    /// The run that this one tries again: its failed records, or a report of it that was handed back.
    pub retry_of: Option<RunId>,
    /// The call's options that were set to true beside the template.
    pub options: Vec<String>,
}

/// No sheet can be called so.
pub const SEVERAL_SHEETS: &str = "*";

impl NewRun {
    /// Then each row says of which sheet it is.
    pub fn reads_several_sheets(&self) -> bool {
        self.sheet == SEVERAL_SHEETS
    }
}

#[derive(Clone, Debug)]
pub struct Run {
    pub id: RunId,
    pub state: RunState,
    pub about: NewRun,
    /// Milliseconds since 1970, UTC.
    pub created_at: i64,
    pub finished_at: Option<i64>,
    /// Why the run stopped before its end.
    pub stopped_why: Option<String>,
    /// How long it has been sending, over all resumes.
    pub millis: i64,
}

impl Run {
    /// The run as reports name it: its number, and letters that are hardly those of another ledger's run of that
    /// number. Its workspace does not count, because a run may get it after a report of it was written. They are
    /// consonants, in which no spreadsheet program sees a month, a number or a formula.
    pub fn token(&self) -> String {
        const LETTERS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
        const LEN: usize = 6;
        let about = &self.about;
        let mut hasher = Sha256::new();
        for part in [&about.base_url, &about.record, &about.file_hash] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.update(self.id.to_le_bytes());
        hasher.update(self.created_at.to_le_bytes());
        let letter = |byte: u8| char::from(LETTERS[usize::from(byte) % LETTERS.len()]);
        let letters: String = hasher.finalize().into_iter().take(LEN).map(letter).collect();
        format!("{}-{letters}", self.id)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// The plan is not complete: its writer is at work or died. Nothing was sent.
    Planning,
    /// Planned in full; some of it may have been sent.
    Planned,
    /// Nothing is pending.
    Finished,
    /// Planned in full, and not to be sent: some of its rows were wrong, and the person wanted all or nothing.
    Withheld,
}

impl RunState {
    pub fn name(self) -> &'static str {
        match self {
            RunState::Planning => "planning",
            RunState::Planned => "planned",
            RunState::Finished => "finished",
            RunState::Withheld => "withheld",
        }
    }

    fn from_name(name: &str) -> Result<RunState, Error> {
        [RunState::Planning, RunState::Planned, RunState::Finished, RunState::Withheld]
            .into_iter()
            .find(|state| state.name() == name)
            .ok_or_else(|| Error::Corrupt(format!("a run in the state '{name}'")))
    }
}

/// Where every record of a run is. `total` is always the sum of the seven that follow it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Accounting {
    /// Spreadsheet rows, blank ones left out.
    pub rows: u64,
    pub total: u64,
    pub sent: u64,
    pub unchanged: u64,
    pub skipped: u64,
    pub rejected: u64,
    pub failed: u64,
    pub unknown: u64,
    pub pending: u64,
    pub requests: u64,
    pub retries: u64,
}

impl Accounting {
    /// The seven states in their order: what each is called, how many records are in it, and what it means.
    pub fn states(&self) -> [(&'static str, u64, &'static str); 7] {
        [
            ("sent", self.sent, "accepted by the service"),
            ("unchanged", self.unchanged, "as the service has it, not sent"),
            ("skipped", self.skipped, "left out on purpose"),
            ("rejected", self.rejected, "wrong in the sheet, not sent"),
            ("failed", self.failed, "refused by the service"),
            ("unknown", self.unknown, "may or may not have been applied"),
            ("pending", self.pending, "not sent yet"),
        ]
    }
}

const COLUMNS: &str = "id, state, command, record, template, template_toml, file, file_hash, base_url, workspace, sheet, header, \
                       header_row, columns, created_at, finished_at, stopped_why, millis, retry_of, first_row, last_row, options";

impl Ledger {
    /// The newest runs first.
    pub async fn runs(&self, limit: u32) -> Result<Vec<Run>, Error> {
        self.runs_before(RunId::MAX, limit).await
    }

    /// The newest of the runs before that number first.
    pub async fn runs_before(&self, before: RunId, limit: u32) -> Result<Vec<Run>, Error> {
        let query = format!("SELECT {COLUMNS} FROM run WHERE id < $1 ORDER BY id DESC LIMIT $2");
        let rows = sqlx::query(sqlx::AssertSqlSafe(query)).bind(before).bind(i64::from(limit));
        rows.fetch_all(&self.reader).await?.iter().map(from_row).collect()
    }

    pub async fn run(&self, id: RunId) -> Result<Run, Error> {
        let query = format!("SELECT {COLUMNS} FROM run WHERE id = $1");
        let row = sqlx::query(sqlx::AssertSqlSafe(query)).bind(id).fetch_optional(&self.reader).await?;
        row.as_ref().map_or(Err(Error::NoSuchRun(id)), from_row)
    }

    /// The run that `wanted` names, or the newest that was planned in full.
    pub async fn run_or_newest(&self, wanted: Option<RunId>) -> Result<Run, Error> {
        match wanted {
            Some(id) => self.run(id).await,
            None => {
                let query = "SELECT id FROM run WHERE state <> 'planning' ORDER BY id DESC LIMIT 1";
                let newest: Option<i64> = sqlx::query_scalar(query).fetch_optional(&self.reader).await?;
                self.run(newest.ok_or(Error::NoRuns)?).await
            }
        }
    }

    pub async fn accounting(&self, run: RunId) -> Result<Accounting, Error> {
        let mut connection = self.reader.acquire().await?;
        let rows: i64 =
            sqlx::query_scalar("SELECT COALESCE(CAST(SUM(rows) AS BIGINT), 0) FROM source_block WHERE run = $1")
                .bind(run)
                .fetch_one(&mut *connection)
                .await?;
        let planned = sqlx::query(
            "SELECT COALESCE(CAST(SUM(records) AS BIGINT), 0), COALESCE(CAST(SUM(skipped) AS BIGINT), 0), \
             COALESCE(CAST(SUM(rejected) AS BIGINT), 0), COALESCE(CAST(SUM(unchanged) AS BIGINT), 0) \
             FROM record_block WHERE run = $1",
        )
        .bind(run)
        .fetch_one(&mut *connection)
        .await?;
        let total: i64 = planned.try_get(0)?;
        let skipped: i64 = planned.try_get(1)?;
        let rejected: i64 = planned.try_get(2)?;
        let unchanged: i64 = planned.try_get(3)?;
        let mut accounting = Accounting {
            rows: count(rows),
            total: count(total),
            skipped: count(skipped),
            rejected: count(rejected),
            unchanged: count(unchanged),
            ..Accounting::default()
        };
        let mut pending = total - skipped - rejected - unchanged;
        let outcomes = sqlx::query(
            "SELECT state, COUNT(*), COALESCE(CAST(SUM(attempts) AS BIGINT), 0), \
             COALESCE(CAST(SUM(CASE WHEN attempts > 1 THEN attempts - 1 ELSE 0 END) AS BIGINT), 0) \
             FROM outcome WHERE run = $1 GROUP BY state",
        )
        .bind(run)
        .fetch_all(&mut *connection)
        .await?;
        for row in outcomes {
            let number: i64 = row.try_get(1)?;
            pending -= number;
            let state: String = row.try_get(0)?;
            *accounting.of(&state)? += count(number);
            accounting.requests += count(row.try_get(2)?);
            accounting.retries += count(row.try_get(3)?);
        }
        accounting.pending = count(pending);
        let resolved = sqlx::query("SELECT state, COUNT(*) FROM resolution WHERE run = $1 GROUP BY state")
            .bind(run)
            .fetch_all(&mut *connection)
            .await?;
        for row in resolved {
            let (state, number): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
            *accounting.of(&state)? += count(number);
            accounting.unknown = accounting.unknown.saturating_sub(count(number));
        }
        Ok(accounting)
    }

    /// Names the workspace of a run that was planned with a token that names none, such as a mistyped one. Only while
    /// none of its records has an outcome: after that the run belongs to where they went. Answers whether it did.
    pub async fn bind_workspace(&self, run: RunId, workspace: &str) -> Result<bool, Error> {
        let query = "UPDATE run SET workspace = $2 WHERE id = $1 AND workspace = '' \
                     AND NOT EXISTS (SELECT 1 FROM outcome WHERE run = $1 AND state NOT IN ('rejected', 'skipped'))";
        let bound = sqlx::query(query).bind(run).bind(workspace).execute(&self.writer).await?;
        Ok(bound.rows_affected() > 0)
    }

    /// Marks a planned run as not to be sent.
    pub async fn withhold(&self, run: RunId) -> Result<(), Error> {
        sqlx::query("UPDATE run SET state = $2 WHERE id = $1")
            .bind(run)
            .bind(RunState::Withheld.name())
            .execute(&self.writer)
            .await?;
        Ok(())
    }

    /// Notes how a stretch of sending ended: `why` when it stopped before the end.
    pub async fn end_sending(
        &self,
        run: RunId,
        pending: u64,
        why: Option<&str>,
        millis: i64,
        now: i64,
    ) -> Result<(), Error> {
        let state = if pending == 0 { RunState::Finished } else { RunState::Planned };
        sqlx::query(
            "UPDATE run SET state = $2, stopped_why = $3, millis = millis + $4, finished_at = $5 WHERE id = $1",
        )
        .bind(run)
        .bind(state.name())
        .bind(why)
        .bind(millis)
        .bind((pending == 0).then_some(now))
        .execute(&self.writer)
        .await?;
        Ok(())
    }
}

impl Accounting {
    fn of(&mut self, state: &str) -> Result<&mut u64, Error> {
        Ok(match state {
            "sent" => &mut self.sent,
            "unchanged" => &mut self.unchanged,
            "rejected" => &mut self.rejected,
            "skipped" => &mut self.skipped,
            "failed" => &mut self.failed,
            "unknown" => &mut self.unknown,
            other => return Err(Error::Corrupt(format!("an outcome in the state '{other}'"))),
        })
    }
}

pub(super) async fn insert(writer: &SqlitePool, new: &NewRun, now: i64) -> Result<RunId, Error> {
    let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
    let id: i64 = sqlx::query_scalar("SELECT COALESCE(MAX(id), 0) + 1 FROM run").fetch_one(&mut *transaction).await?;
    let header = to_json(&new.header)?;
    let columns = to_json(&new.columns)?;
    sqlx::query(
        "INSERT INTO run (id, state, command, record, template, template_toml, file, file_hash, base_url, workspace, sheet, \
         header, header_row, columns, created_at, retry_of, first_row, last_row, options) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)",
    )
    .bind(id)
    .bind(RunState::Planning.name())
    .bind(&new.command)
    .bind(&new.record)
    .bind(&new.template)
    .bind(&new.template_toml)
    .bind(&new.file)
    .bind(&new.file_hash)
    .bind(&new.base_url)
    .bind(&new.workspace)
    .bind(&new.sheet)
    .bind(header)
    .bind(i64::try_from(new.header_row).unwrap_or(i64::MAX))
    .bind(columns)
    .bind(now)
    .bind(new.retry_of)
    .bind(new.chosen.map(|(first, _)| i64::try_from(first).unwrap_or(i64::MAX)))
    .bind(new.chosen.map(|(_, last)| i64::try_from(last).unwrap_or(i64::MAX)))
    .bind(new.options.join(" "))
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(id)
}

/// Marks the plan as complete. `header` may have grown since the run began: some rows are longer than the header.
pub(super) async fn mark_planned(
    connection: &mut SqliteConnection,
    run: RunId,
    header: &[String],
) -> Result<(), Error> {
    sqlx::query("UPDATE run SET state = $2, header = $3 WHERE id = $1")
        .bind(run)
        .bind(RunState::Planned.name())
        .bind(to_json(header)?)
        .execute(connection)
        .await?;
    Ok(())
}

fn to_json<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::Corrupt(error.to_string()))
}

fn from_row(row: &SqliteRow) -> Result<Run, Error> {
    let state: String = row.try_get("state")?;
    let header: String = row.try_get("header")?;
    let columns: String = row.try_get("columns")?;
    let first_row: Option<i64> = row.try_get("first_row")?;
    let last_row: Option<i64> = row.try_get("last_row")?;
    let options: String = row.try_get("options")?;
    Ok(Run {
        id: row.try_get("id")?,
        state: RunState::from_name(&state)?,
        about: NewRun {
            command: row.try_get("command")?,
            record: row.try_get("record")?,
            template: row.try_get("template")?,
            template_toml: row.try_get("template_toml")?,
            file: row.try_get("file")?,
            file_hash: row.try_get("file_hash")?,
            base_url: row.try_get("base_url")?,
            workspace: row.try_get("workspace")?,
            sheet: row.try_get("sheet")?,
            header: serde_json::from_str(&header).map_err(|error| Error::Corrupt(error.to_string()))?,
            header_row: count(row.try_get("header_row")?),
            columns: serde_json::from_str(&columns).map_err(|error| Error::Corrupt(error.to_string()))?,
            chosen: first_row.zip(last_row).map(|(first, last)| (count(first), count(last))),
            retry_of: row.try_get("retry_of")?,
            options: options.split_whitespace().map(str::to_owned).collect(),
        },
        created_at: row.try_get("created_at")?,
        finished_at: row.try_get("finished_at")?,
        stopped_why: row.try_get("stopped_why")?,
        millis: row.try_get("millis")?,
    })
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

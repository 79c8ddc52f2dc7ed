//! Runs: identity, state and history.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sheetport_files::digest;
use sheetport_files::readers::Readers;
use sheetport_records::RecordKind;
use sheetport_sql::{self as sql, Dialect, Query, Row, Transaction};

use super::super::checksums::seal;
use super::super::checksums::totals::{self, Totals};
use super::super::database::{Ledger, to_json};
use super::super::error::{Error, corrupt};
use super::super::event::{Action, NewEvent};
use super::super::ids::RunId;
use super::super::records::{Problem, RecordCounts};
use super::super::state::RunState;
use super::settings::{self, RunSettings};

/// The identity of a run. Resuming a run against anything else is refused.
#[derive(Clone, Debug)]
pub struct NewRun {
    pub command: RunCommand,
    pub record: RecordKind,
    /// The name and the TOML source of the template.
    pub template: String,
    pub template_toml: String,
    /// The lookup tables of the template, if any.
    pub lookups: Option<RunLookups>,
    pub file: String,
    /// SHA-256 of the file, in hexadecimal.
    pub file_hash: String,
    /// Other users with access to the file.
    pub readers: Readers,
    /// The format of a text file. `None` for workbooks.
    pub text_form: Option<TextForm>,
    pub base_url: String,
    /// The workspace in the access token; empty if the token has no workspace.
    pub workspace: String,
    pub sheet: SheetSelection,
    pub header: Vec<String>,
    /// The row number of the header in the first sheet.
    pub header_row: u64,
    /// Fields mapped to a column, with the index of the column from 0; and [`NAME_FIELD`], if the rows are grouped by one.
    pub columns: Vec<(String, usize)>,
    /// The group columns of the template, as names of records without a key. Independent of the spelling in the file.
    pub name_columns: Vec<String>,
    /// The first and last row to send; `None` for all rows.
    pub chosen: Option<(u64, u64)>,
    /// The run retried by this run.
    pub retry_of: Option<RunId>,
    /// The run that this run takes back. Both have the same records at the same positions.
    pub undo_of: Option<RunId>,
    /// Options of the service call, in addition to the template.
    pub options: Vec<CallOption>,
    pub settings: RunSettings,
}

/// How a text file is written. Reports in CSV are written in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextForm {
    /// The ASCII character between fields.
    pub delimiter: u8,
    /// Whether other programs need a byte order mark to read the text: the file has one, or is not UTF-8.
    pub has_bom: bool,
}

/// The files of a template's lookup tables, as read by a run.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct RunLookups {
    /// Absolute path of the folder of the template.
    pub folder: PathBuf,
    /// SHA-256, in hexadecimal, by the name in the template.
    pub hashes: BTreeMap<String, String>,
}

/// The command that started a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunCommand {
    Upload,
    Retry,
    /// Takes another run back.
    Undo,
    /// Only in a temporary ledger, for the report of a check.
    Check,
    /// Only in a temporary ledger: an upload to a temporary service.
    Rehearse,
}

/// The name of a rehearsal in reports, in place of [`Run::token`]. Never the token of a run, so rehearsed rows never count as
/// sent.
pub const REHEARSAL: &str = "rehearsal";

/// The name of a check in reports, in front of the marks of rows that have to be edited.
pub const CHECK: &str = "check";

/// The sheets read by a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SheetSelection {
    /// A single sheet, by name.
    One(String),
    Several,
}

/// An option of a service call, set by a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOption {
    CreateMissingItems,
    TriggerWorkflows,
}

/// A run in the ledger.
#[derive(Clone, Debug)]
pub struct Run {
    pub id: RunId,
    pub state: RunState,
    pub about: NewRun,
    /// Milliseconds since 1970, UTC.
    pub created_at: i64,
    /// When the run was last handed to workers.
    pub queued_at: Option<i64>,
    pub finished_at: Option<i64>,
    /// The reason why the last attempt to send stopped early.
    pub stopped_why: Option<String>,
    /// Total time during which the run was being sent, in milliseconds.
    pub millis: i64,
    /// Warnings about the file as a whole.
    pub warnings: Vec<Problem>,
    /// When the service's records were read for the plan. `None` for a run that was not planned by itself.
    pub looked_at: Option<i64>,
    /// When a person approved the plan.
    pub approved_at: Option<i64>,
    /// The last claim at the time of the comparison with earlier runs, or `None` before the comparison.
    pub compared_to: Option<i64>,
    /// The counts of the complete plan.
    pub(crate) planned: PlannedCounts,
    /// Whether the rows and records are kept. If not, nothing was sent, and the counts are final.
    pub has_plan: bool,
    /// Damage that `runs repair` of an earlier version could not rebuild. A damaged run is not sent.
    pub damage: Option<String>,
}

/// The counts of a plan. Kept for a run whose plan was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedCounts {
    /// Stored rows. A row with several records is stored several times.
    pub source_rows: i64,
    pub sheet_rows: i64,
    pub records: i64,
    pub skipped: i64,
    pub rejected: i64,
    pub unchanged: i64,
    pub warned: i64,
}

impl PlannedCounts {
    pub(crate) fn add(&mut self, block: &RecordCounts) {
        self.records += block.records;
        self.skipped += block.skipped;
        self.rejected += block.rejected;
        self.unchanged += block.unchanged;
        self.warned += block.warned;
    }
}

/// The field of problems with the name of a record, and with its rows, in [`NewRun::columns`].
pub const NAME_FIELD: &str = "group";

impl NewRun {
    /// Returns the first column that names the record of each row, if the rows are grouped by one.
    pub fn name_column(&self) -> Option<usize> {
        self.columns.iter().find(|(field, _)| field == NAME_FIELD).map(|(_, column)| *column)
    }

    /// Whether rows are identified by sheet and number instead of number alone.
    pub fn reads_several_sheets(&self) -> bool {
        self.sheet == SheetSelection::Several
    }
}

impl RunCommand {
    pub fn name(self) -> &'static str {
        match self {
            RunCommand::Upload => "upload",
            RunCommand::Retry => "retry",
            RunCommand::Undo => "undo",
            RunCommand::Check => "check",
            RunCommand::Rehearse => "rehearse",
        }
    }

    fn from_name(name: &str) -> Option<RunCommand> {
        let all = [RunCommand::Upload, RunCommand::Retry, RunCommand::Undo, RunCommand::Check, RunCommand::Rehearse];
        all.into_iter().find(|command| command.name() == name)
    }
}

impl SheetSelection {
    /// The database's text for several sheets. Spreadsheet programs do not allow this name.
    const SEVERAL: &str = "*";

    /// Returns the name of the sheet, or `None` for several sheets.
    pub fn name(&self) -> Option<&str> {
        match self {
            SheetSelection::One(name) => Some(name),
            SheetSelection::Several => None,
        }
    }

    pub(super) fn as_text(&self) -> &str {
        self.name().unwrap_or(SheetSelection::SEVERAL)
    }

    fn from_text(text: String) -> SheetSelection {
        if text == SheetSelection::SEVERAL { SheetSelection::Several } else { SheetSelection::One(text) }
    }
}

impl CallOption {
    /// The name of the option in the service call.
    pub fn name(self) -> &'static str {
        match self {
            CallOption::CreateMissingItems => "createMissingItems",
            CallOption::TriggerWorkflows => "triggerWorkflows",
        }
    }
}

impl Run {
    /// Whether its records are compared with the service again before they are sent: somebody has seen what they change.
    pub fn looks_again(&self) -> bool {
        self.approved_at.is_some() || self.about.undo_of.is_some()
    }

    /// Returns the name of the run in reports: the number, and six letters for telling apart runs of different ledgers
    /// with the same number.
    ///
    /// The workspace does not affect the letters, because a run may receive it after a report was written. All letters
    /// are consonants, because spreadsheet programs read other letters as months, numbers or formulas.
    pub fn token(&self) -> String {
        const LETTERS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
        const LEN: usize = 6;
        let about = &self.about;
        let texts = [about.base_url.as_str(), about.record.name(), &about.file_hash].map(str::as_bytes);
        let numbers = [self.id, self.created_at].map(i64::to_le_bytes);
        let digest = digest::of_parts(texts.into_iter().chain(numbers.iter().map(<[u8; 8]>::as_slice)));
        let letter = |byte: u8| char::from(LETTERS[usize::from(byte) % LETTERS.len()]);
        let letters: String = digest.into_iter().take(LEN).map(letter).collect();
        format!("{}-{letters}", self.id)
    }
}

/// The numbers of all runs, loaded page by page: a run that is removed meanwhile changes nothing for the next page.
pub struct RunIds<'l> {
    ledger: &'l Ledger,
    before: RunId,
    page: std::vec::IntoIter<RunId>,
}

impl RunIds<'_> {
    /// Returns the next number.
    pub async fn next(&mut self) -> Result<Option<RunId>, Error> {
        const PAGE: u32 = 100;
        if self.page.len() == 0 {
            self.page = self.ledger.run_ids_before(self.before, PAGE).await?.into_iter();
        }
        let next = self.page.next();
        self.before = next.unwrap_or(self.before);
        Ok(next)
    }
}

const COLUMNS: &str = "id, state, command, record, template, template_toml, lookups, file, file_hash, readers, delimiter, has_bom, base_url, workspace, sheet, header, \
                       header_row, columns, name_columns, created_at, queued_at, finished_at, stopped_why, millis, retry_of, first_row, last_row, \
                       create_missing_items, trigger_workflows, profile_name, rate_requests, rate_seconds, concurrency, \
                       max_errors, max_unknown, priority, keep_lines, accept, report, all_or_nothing, strict, changed_only, overwrite_newer, for_supplier, allow_repeat, ca_file, client_cert, \
                       client_key, proxy, insecure_http, warnings, looked_at, approved_at, only_records, undo_of, undoable, commands, fill_blank, compared_to, source_rows, sheet_rows, records, skipped, \
                       rejected, unchanged, warned, has_plan, damage, checksum";

impl Ledger {
    /// Returns up to `limit` runs, newest first. Skips damaged runs.
    pub async fn runs(&self, limit: u32) -> Result<Vec<Run>, Error> {
        let mut runs = Vec::new();
        for id in self.run_ids_before(RunId::MAX, limit).await? {
            match self.run(id).await {
                Ok(run) => runs.push(run),
                Err(error) if error.is_damage() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(runs)
    }

    /// Returns the numbers of all runs, newest first, including damaged runs.
    pub fn run_ids(&self) -> RunIds<'_> {
        RunIds { ledger: self, before: RunId::MAX, page: Vec::new().into_iter() }
    }

    /// Returns the numbers of up to `limit` runs below `before`, newest first, including damaged runs.
    async fn run_ids_before(&self, before: RunId, limit: u32) -> Result<Vec<RunId>, Error> {
        let query = "SELECT id FROM run WHERE id < $1 ORDER BY id DESC LIMIT $2";
        Ok(sql::query_scalar(query).bind(before).bind(i64::from(limit)).fetch_all(&self.reader).await?)
    }

    /// Returns the run `id`.
    ///
    /// # Errors
    /// [`Error::NoSuchRun`] if there is no such run.
    pub async fn run(&self, id: RunId) -> Result<Run, Error> {
        let row = self.selecting_run(id).fetch_optional(&self.reader).await?;
        row.as_ref().map_or(Err(Error::NoSuchRun(id)), Run::of_row)
    }

    /// Returns the query for [`Run::of_row`].
    pub(crate) fn selecting_run(&self, id: RunId) -> Query<Row> {
        let sealed = seal::sealed_columns(self.dialect());
        sql::query(format!("SELECT {COLUMNS}, {sealed} AS sealed FROM run WHERE id = $1")).bind(id)
    }

    /// Returns the newest run if its plan is incomplete: it is being read, or reading was cut off.
    pub async fn newest_unplanned(&self) -> Result<Option<Run>, Error> {
        let Some(newest) = self.run_ids_before(RunId::MAX, 1).await?.pop() else { return Ok(None) };
        let run = self.run(newest).await?;
        Ok((run.state == RunState::Planning).then_some(run))
    }

    /// Returns the run `wanted`, or the newest run with a complete plan.
    pub async fn run_or_newest(&self, wanted: Option<RunId>) -> Result<Run, Error> {
        if let Some(id) = wanted {
            return self.run(id).await;
        }
        let query = "SELECT id FROM run WHERE state <> 'planning' ORDER BY id DESC LIMIT 1";
        let newest: Option<RunId> = sql::query_scalar(query).fetch_optional(&self.reader).await?;
        self.run(newest.ok_or(Error::NoRuns)?).await
    }

    /// Sets the workspace of a run planned with a token without a workspace. Returns false if the run has a workspace,
    /// or outcomes from an unnamed workspace.
    pub async fn bind_workspace(&self, run: RunId, workspace: &str) -> Result<bool, Error> {
        let query = "UPDATE run SET workspace = $2 WHERE id = $1 AND workspace = '' \
                     AND NOT EXISTS (SELECT 1 FROM outcome WHERE run = $1 AND state NOT IN ('rejected', 'skipped'))";
        self.change_run(run, sql::query(query).bind(run).bind(workspace.to_owned())).await
    }

    /// Returns the numbers of all runs that are neither finished nor withheld, newest first.
    pub async fn unfinished(&self) -> Result<Vec<RunId>, Error> {
        let query = "SELECT id FROM run WHERE state = $1 AND damage IS NULL ORDER BY id DESC";
        Ok(sql::query_scalar(query).bind(RunState::Planned.name()).fetch_all(&self.reader).await?)
    }

    pub(super) async fn store_settings(&self, run: RunId, settings: &RunSettings) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        settings::store(&mut transaction, run, settings).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Marks a planned run as not to be sent.
    pub async fn withhold(&self, run: RunId, now: i64) -> Result<(), Error> {
        let update = sql::query("UPDATE run SET state = $2 WHERE id = $1").bind(run).bind(RunState::Withheld.name());
        self.change_run_with(run, update, NewEvent::of(Action::Withheld), now).await?;
        Ok(())
    }

    /// Stores how sending ended, with the reason for an early stop. The run is finished if no record is pending.
    pub async fn end_sending(
        &self,
        run: RunId,
        pending: u64,
        why: Option<&str>,
        millis: i64,
        now: i64,
    ) -> Result<(), Error> {
        let state = if pending == 0 { RunState::Finished } else { RunState::Planned };
        let update =
            "UPDATE run SET state = $2, stopped_why = $3, millis = millis + $4, finished_at = $5 WHERE id = $1";
        let update = sql::query(update).bind(run).bind(state.name()).bind(why.map(str::to_owned)).bind(millis);
        let action = if pending == 0 { Action::Finished } else { Action::Stopped };
        let update = update.bind((pending == 0).then_some(now));
        self.change_run_with(run, update, NewEvent::of(action).because(why), now).await?;
        Ok(())
    }
}

pub(super) async fn insert(ledger: &Ledger, new: &NewRun, now: i64) -> Result<RunId, Error> {
    let mut transaction = ledger.begin().await?;
    let id: RunId = sql::query_scalar(next_number(ledger.dialect())).fetch_one(&mut transaction).await?;
    let row_number = |number: u64| i64::try_from(number).map_err(corrupt);
    let (first_row, last_row) = match new.chosen {
        Some((first, last)) => (Some(row_number(first)?), Some(row_number(last)?)),
        None => (None, None),
    };
    sql::query(
        "INSERT INTO run (id, state, command, record, template, template_toml, file, file_hash, base_url, workspace, sheet, \
         header, header_row, columns, created_at, retry_of, first_row, last_row, create_missing_items, trigger_workflows, \
         name_columns, lookups, readers, delimiter, has_bom, profile_name, concurrency, all_or_nothing, strict, changed_only, overwrite_newer, insecure_http, for_supplier, undo_of) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, '', 1, 0, 0, \
         0, 0, 0, 0, $26)",
    )
    .bind(id)
    .bind(RunState::Planning.name())
    .bind(new.command.name())
    .bind(new.record.name())
    .bind(&new.template)
    .bind(&new.template_toml)
    .bind(&new.file)
    .bind(&new.file_hash)
    .bind(&new.base_url)
    .bind(&new.workspace)
    .bind(new.sheet.as_text())
    .bind(to_json(&new.header)?)
    .bind(row_number(new.header_row)?)
    .bind(to_json(&new.columns)?)
    .bind(now)
    .bind(new.retry_of)
    .bind(first_row)
    .bind(last_row)
    .bind(i64::from(new.options.contains(&CallOption::CreateMissingItems)))
    .bind(i64::from(new.options.contains(&CallOption::TriggerWorkflows)))
    .bind(to_json(&new.name_columns)?)
    .bind(new.lookups.as_ref().map(to_json).transpose()?)
    .bind(new.readers.number())
    .bind(new.text_form.map(|form| char::from(form.delimiter).to_string()))
    .bind(new.text_form.map(|form| i64::from(form.has_bom)))
    .bind(new.undo_of)
    .execute(&mut transaction)
    .await?;
    seal::seal(&mut transaction, id).await?;
    settings::store(&mut transaction, id, &new.settings).await?;
    totals::store(&mut transaction, id, &Totals::default()).await?;
    NewEvent::of(Action::Planned).write(&mut transaction, id, now).await?;
    if let Some(earlier) = new.retry_of {
        NewEvent::of(Action::Retried).into_run(id).write(&mut transaction, earlier, now).await?;
    }
    if let Some(undone) = new.undo_of {
        NewEvent::of(Action::Undone).into_run(id).write(&mut transaction, undone, now).await?;
    }
    transaction.commit().await?;
    Ok(id)
}

/// Marks the plan as complete. `header` may be longer than before: some rows have more cells than the header.
pub(super) async fn mark_planned(
    transaction: &mut Transaction,
    run: RunId,
    header: &[String],
    warnings: &[Problem],
    profile: Option<&str>,
    counts: &PlannedCounts,
) -> Result<(), Error> {
    let update = "UPDATE run SET state = $2, header = $3, warnings = $4, profile = $5, source_rows = $6, sheet_rows = $7, \
                  records = $8, skipped = $9, rejected = $10, unchanged = $11, warned = $12 WHERE id = $1";
    let update = sql::query(update)
        .bind(run)
        .bind(RunState::Planned.name())
        .bind(to_json(header)?)
        .bind(to_json(warnings)?)
        .bind(profile.map(str::to_owned));
    let PlannedCounts { source_rows, sheet_rows, records, skipped, rejected, unchanged, warned } = *counts;
    let numbers = [source_rows, sheet_rows, records, skipped, rejected, unchanged, warned];
    let update = numbers.into_iter().fold(update, |update, number| update.bind(number));
    seal::change(transaction, run, update).await?;
    Ok(())
}

impl Run {
    /// Returns the run in a row of [`Ledger::selecting_run`].
    ///
    /// # Errors
    /// [`Error::Damaged`] if the row was altered.
    pub(crate) fn of_row(row: &Row) -> Result<Run, Error> {
        let id = row.try_get("id")?;
        match row.try_get::<&str, _>("sealed").map(seal::checksum) {
            Ok(checksum) if checksum == row.try_get::<i64, _>("checksum")? => read_row(row),
            _ => Err(seal::altered(id)),
        }
    }
}

fn read_row(row: &Row) -> Result<Run, Error> {
    let text = |column: &str| row.try_get::<String, _>(column).map_err(Error::from);
    let unsigned = |number: i64| u64::try_from(number).map_err(corrupt);
    let first_row: Option<i64> = row.try_get("first_row")?;
    let last_row: Option<i64> = row.try_get("last_row")?;
    let chosen = match first_row.zip(last_row) {
        Some((first, last)) => Some((unsigned(first)?, unsigned(last)?)),
        None => None,
    };
    let lookups: Option<String> = row.try_get("lookups")?;
    let text_form = match row.try_get::<Option<String>, _>("delimiter")? {
        Some(delimiter) => {
            let &[delimiter] = delimiter.as_bytes() else {
                return Err(corrupt(format_args!("a run with the delimiter '{delimiter}'")));
            };
            Some(TextForm { delimiter, has_bom: row.try_get::<Option<i64>, _>("has_bom")? == Some(1) })
        }
        None => None,
    };
    let flag = |column: &str| row.try_get::<i64, _>(column).map(|value| value != 0);
    let options = [
        (flag("create_missing_items")?, CallOption::CreateMissingItems),
        (flag("trigger_workflows")?, CallOption::TriggerWorkflows),
    ];
    Ok(Run {
        id: row.try_get("id")?,
        state: parsed("state", &text("state")?, RunState::from_name)?,
        about: NewRun {
            command: parsed("command", &text("command")?, RunCommand::from_name)?,
            record: parsed("kind of record", &text("record")?, RecordKind::from_name)?,
            template: text("template")?,
            template_toml: text("template_toml")?,
            lookups: lookups.as_deref().map(serde_json::from_str).transpose().map_err(corrupt)?,
            file: text("file")?,
            file_hash: text("file_hash")?,
            readers: Readers::from_number(row.try_get("readers")?),
            text_form,
            base_url: text("base_url")?,
            workspace: text("workspace")?,
            sheet: SheetSelection::from_text(text("sheet")?),
            header: serde_json::from_str(&text("header")?).map_err(corrupt)?,
            header_row: unsigned(row.try_get("header_row")?)?,
            columns: serde_json::from_str(&text("columns")?).map_err(corrupt)?,
            name_columns: serde_json::from_str(&text("name_columns")?).map_err(corrupt)?,
            chosen,
            retry_of: row.try_get("retry_of")?,
            undo_of: row.try_get("undo_of")?,
            options: options.into_iter().filter_map(|(is_set, option)| is_set.then_some(option)).collect(),
            settings: settings::from_row(row)?,
        },
        created_at: row.try_get("created_at")?,
        queued_at: row.try_get("queued_at")?,
        finished_at: row.try_get("finished_at")?,
        stopped_why: row.try_get("stopped_why")?,
        millis: row.try_get("millis")?,
        warnings: serde_json::from_str(&text("warnings")?).map_err(corrupt)?,
        looked_at: row.try_get("looked_at")?,
        approved_at: row.try_get("approved_at")?,
        compared_to: row.try_get("compared_to")?,
        planned: PlannedCounts {
            source_rows: row.try_get("source_rows")?,
            sheet_rows: row.try_get("sheet_rows")?,
            records: row.try_get("records")?,
            skipped: row.try_get("skipped")?,
            rejected: row.try_get("rejected")?,
            unchanged: row.try_get("unchanged")?,
            warned: row.try_get("warned")?,
        },
        has_plan: flag("has_plan")?,
        damage: row.try_get("damage")?,
    })
}

fn parsed<T>(what: &str, name: &str, from_name: impl Fn(&str) -> Option<T>) -> Result<T, Error> {
    from_name(name).ok_or_else(|| corrupt(format_args!("a run with the unknown {what} '{name}'")))
}

/// The query for the number of a new run. Several processes may plan at the same time; a number of PostgreSQL may stay unused.
fn next_number(dialect: Dialect) -> &'static str {
    match dialect {
        // The totals of a run are the last rows to be removed.
        // Of runs that were removed on request, an event stays, so that their numbers are not used again.
        Dialect::Sqlite => {
            "SELECT COALESCE(MAX(id), 0) + 1 FROM (SELECT MAX(id) AS id FROM run UNION ALL SELECT MAX(run) FROM total \
             UNION ALL SELECT MAX(run) FROM event)"
        }
        Dialect::Postgres => "SELECT nextval('run_id')",
    }
}

//! Exports and runs of jobs, for the list of what was done. No decision depends on them.

use sheetport_sql as sql;

use super::database::Ledger;
use super::error::{Error, corrupt};
use super::event::{process_name, user_name};

/// What a process does that sends nothing by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivityKind {
    Export,
    Job,
}

/// How an export or a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivityOutcome {
    Complete,
    /// Some records are missing, or some rows were not accepted.
    Incomplete,
    Failed,
}

/// An export or a run of a job that begins.
#[derive(Clone, Copy, Debug)]
pub struct NewActivity<'a> {
    pub kind: ActivityKind,
    /// The exported lists, or the name of the job.
    pub name: &'a str,
    /// The file that is written, or the file of the job. `None` for standard output.
    pub file: Option<&'a str>,
    pub base_url: Option<&'a str>,
    pub workspace: &'a str,
}

/// An export or a run of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    pub kind: ActivityKind,
    pub name: String,
    pub file: Option<String>,
    pub base_url: Option<String>,
    pub workspace: String,
    /// The user, and the machine and the number of the process.
    pub who: String,
    pub process: String,
    /// Milliseconds since 1970, UTC.
    pub begun_at: i64,
    /// `None` while it goes on, and for ever if its process was killed.
    pub ended: Option<ActivityEnd>,
}

/// The end of an export or of a run of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivityEnd {
    /// Milliseconds since 1970, UTC.
    pub at: i64,
    pub outcome: ActivityOutcome,
    /// Exported records, or files of a job.
    pub count: Option<u64>,
    pub note: Option<String>,
}

const KINDS: [(ActivityKind, &str); 2] = [(ActivityKind::Export, "export"), (ActivityKind::Job, "job")];
const OUTCOMES: [(ActivityOutcome, &str); 3] = [
    (ActivityOutcome::Complete, "complete"),
    (ActivityOutcome::Incomplete, "incomplete"),
    (ActivityOutcome::Failed, "failed"),
];

fn name_in<T: Copy + PartialEq>(names: &[(T, &'static str)], value: T) -> &'static str {
    names.iter().find(|(known, _)| *known == value).map_or("", |(_, name)| name)
}

fn value_of<T: Copy>(names: &[(T, &'static str)], name: &str) -> Result<T, Error> {
    let found = names.iter().find(|(_, known)| *known == name).map(|(value, _)| *value);
    found.ok_or_else(|| corrupt(format_args!("an activity of the unknown kind '{name}'")))
}

impl ActivityKind {
    pub fn name(self) -> &'static str {
        name_in(&KINDS, self)
    }
}

impl ActivityOutcome {
    pub fn name(self) -> &'static str {
        name_in(&OUTCOMES, self)
    }
}

impl Ledger {
    /// Notes that an export or a job begins. Returns its number for [`Ledger::end_activity`].
    pub async fn begin_activity(&self, activity: NewActivity<'_>, now: i64) -> Result<i64, Error> {
        let NewActivity { kind, name, file, base_url, workspace } = activity;
        let mut transaction = self.begin().await?;
        let insert = "INSERT INTO activity (kind, name, file, base_url, workspace, who, process, begun_at) \
                      VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id";
        let insert = sql::query_scalar(insert).bind(kind.name()).bind(name).bind(file).bind(base_url).bind(workspace);
        let insert = insert.bind(user_name()).bind(process_name()).bind(now);
        let id = insert.fetch_one(&mut transaction).await?;
        transaction.commit().await?;
        Ok(id)
    }

    /// Notes the end of an export or a job.
    pub async fn end_activity(&self, id: i64, end: &ActivityEnd) -> Result<(), Error> {
        let ActivityEnd { at, outcome, count, note } = end;
        let mut transaction = self.begin().await?;
        let update = "UPDATE activity SET ended_at = $2, outcome = $3, count = $4, note = $5 WHERE id = $1";
        let count = count.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        let update = sql::query(update).bind(id).bind(*at).bind(outcome.name()).bind(count).bind(note.as_deref());
        update.execute(&mut transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Returns the newest exports and runs of jobs, newest first, at most `limit`. With `file`, those of files whose path contains this text.
    pub async fn activities(&self, file: Option<&str>, limit: usize) -> Result<Vec<Activity>, Error> {
        let query = "SELECT kind, name, file, base_url, workspace, who, process, begun_at, ended_at, outcome, count, note \
                     FROM activity ORDER BY begun_at DESC, id DESC";
        let is_wanted = |activity: &Activity| match (file, &activity.file) {
            (Some(text), Some(file)) => file.contains(text),
            (Some(_), None) => false,
            (None, _) => true,
        };
        let mut found = Vec::new();
        // Without a text, no more rows are read than wanted.
        let query = match file {
            Some(_) => query.to_owned(),
            None => format!("{query} LIMIT {limit}"),
        };
        for row in sql::query(query).fetch_all(&self.reader).await? {
            let activity = read(&row)?;
            if is_wanted(&activity) && found.len() < limit {
                found.push(activity);
            }
        }
        Ok(found)
    }

    /// Removes the exports and runs of jobs that began before this time. Returns their number.
    pub async fn remove_activities(&self, before: i64) -> Result<u64, Error> {
        let mut transaction = self.begin().await?;
        let delete = sql::query("DELETE FROM activity WHERE begun_at < $1").bind(before);
        let removed = delete.execute(&mut transaction).await?;
        transaction.commit().await?;
        Ok(removed)
    }
}

fn read(row: &sql::Row) -> Result<Activity, Error> {
    let (at, outcome): (Option<i64>, Option<&str>) = (row.try_get(8)?, row.try_get(9)?);
    let count: Option<i64> = row.try_get(10)?;
    let ended = match at.zip(outcome) {
        None => None,
        Some((at, outcome)) => Some(ActivityEnd {
            at,
            outcome: value_of(&OUTCOMES, outcome)?,
            count: count.and_then(|count| u64::try_from(count).ok()),
            note: row.try_get(11)?,
        }),
    };
    Ok(Activity {
        kind: value_of(&KINDS, row.try_get(0)?)?,
        name: row.try_get(1)?,
        file: row.try_get(2)?,
        base_url: row.try_get(3)?,
        workspace: row.try_get(4)?,
        who: row.try_get(5)?,
        process: row.try_get(6)?,
        begun_at: row.try_get(7)?,
        ended,
    })
}

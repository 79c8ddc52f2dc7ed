//! Events of runs: who planned, sent, stopped, resolved or removed a run, from which process, and when.
//!
//! An event is written in the transaction of the change. Repeated changes of one process extend its last event, unless the run was stopped, set
//! aside or continued since: a worker that sends a thousand parts of a run adds one row.

use std::sync::{LazyLock, OnceLock};

use sheetport_sql::{self as sql, Query, Row, Transaction};

use super::error::{Error, corrupt};
use super::ids::RunId;

/// Events of sending that are kept of a run. The oldest are removed, such as those of a service manager that starts a worker again and again.
const KEPT: i64 = 500;

/// What somebody has done to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Read and checked the file. Counts records.
    Planned,
    /// Has edited cells of the file before, in a review. Counts edits.
    Edited,
    /// Approved the plan. Counts the approved records.
    Approved,
    Queued,
    /// Began to send it.
    Sent,
    /// Began to send what was pending.
    Resumed,
    /// Sent parts of it, as a worker. Counts parts.
    Worked,
    /// Can't send it now, as a worker. Others may.
    SetAside,
    Finished,
    /// Stopped it, or ended before its end.
    Stopped,
    Withheld,
    /// Decided about unknown records, which were sent, or not. Counts records.
    ResolvedSent,
    ResolvedFailed,
    /// Planned another run from it.
    Retried,
    /// Planned another run that takes it back.
    Undone,
    /// By `runs repair` of an earlier version.
    Repaired,
    /// Erased what is stored about some of its records. Counts records.
    Erased,
    Removed,
}

/// All actions with their names in the database.
const ACTIONS: [(Action, &str); 18] = [
    (Action::Planned, "planned"),
    (Action::Edited, "edited"),
    (Action::Approved, "approved"),
    (Action::Queued, "queued"),
    (Action::Sent, "sent"),
    (Action::Resumed, "resumed"),
    (Action::Worked, "worked"),
    (Action::SetAside, "set-aside"),
    (Action::Finished, "finished"),
    (Action::Stopped, "stopped"),
    (Action::Withheld, "withheld"),
    (Action::ResolvedSent, "resolved-sent"),
    (Action::ResolvedFailed, "resolved-failed"),
    (Action::Retried, "retried"),
    (Action::Undone, "undone"),
    (Action::Repaired, "repaired"),
    (Action::Erased, "erased"),
    (Action::Removed, "removed"),
];

impl Action {
    pub fn name(self) -> &'static str {
        ACTIONS.iter().find(|(action, _)| *action == self).map_or("", |(_, name)| name)
    }

    pub(super) fn from_name(name: &str) -> Result<Action, Error> {
        let found = ACTIONS.iter().find(|(_, known)| *known == name).map(|(action, _)| *action);
        found.ok_or_else(|| corrupt(format_args!("an event of the unknown kind '{name}'")))
    }
}

/// An event of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEvent {
    pub action: Action,
    /// The user, or the person who was named.
    pub who: String,
    /// The machine and the number of the process.
    pub process: String,
    /// Milliseconds since 1970, UTC: the first time, and the last one.
    pub at: i64,
    pub until: i64,
    pub count: i64,
    /// The reason of a stop or an obstacle.
    pub note: Option<String>,
    /// The run that was planned from this one.
    pub other_run: Option<RunId>,
}

/// An event to be written.
#[derive(Clone, Debug)]
pub(super) struct NewEvent<'a> {
    action: Action,
    who: Option<&'a str>,
    count: i64,
    note: Option<&'a str>,
    other_run: Option<RunId>,
}

/// This process.
struct Process {
    user: String,
    /// The machine and the number of the process.
    name: String,
    /// Tells processes with the same name apart, such as those of a container that was started again.
    start: i64,
}

static PROCESS: LazyLock<Process> = LazyLock::new(|| {
    let (high, _) = uuid::Uuid::now_v7().as_u64_pair();
    Process { user: user_name(), name: process_name(), start: (high >> 1).cast_signed() }
});

/// The name that this process acts under, if somebody has set it.
static ACTS_AS: OnceLock<String> = OnceLock::new();

/// Sets the name that this process acts under, before anything is written. Later calls have no effect.
pub fn act_as(name: String) {
    let _ = ACTS_AS.set(name);
}

/// Returns who acts: the name that was set, the logged-in user, the pod of Kubernetes, or the number of the user.
pub fn user_name() -> String {
    if let Some(name) = ACTS_AS.get() {
        return name.clone();
    }
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let of_session = ["SUDO_USER", "LOGNAME", "USER", "USERNAME"].into_iter().find_map(variable);
    of_session.unwrap_or_else(|| of_system(variable("KUBERNETES_SERVICE_HOST").is_some()))
}

/// Returns who acts where no variable says so, as in a container or for a service of the system.
#[cfg(unix)]
fn of_system(is_pod: bool) -> String {
    let user = rustix::process::geteuid().as_raw();
    let known = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    match named_in(&known, user) {
        _ if is_pod => format!("the pod {}", machine()),
        Some(name) => name.to_owned(),
        None => format!("user {user} of {}", machine()),
    }
}

#[cfg(not(unix))]
fn of_system(_: bool) -> String {
    format!("a user of {}", machine())
}

/// Returns the name of a user in the text of `/etc/passwd`.
#[cfg(unix)]
fn named_in(known: &str, user: u32) -> Option<&str> {
    let user = user.to_string();
    let mut users = known.lines().map(|line| line.split(':'));
    let name = users.find_map(|mut parts| Some((parts.next()?, parts.nth(1)?)).filter(|(_, number)| *number == user));
    name.map(|(name, _)| name).filter(|name| !name.is_empty())
}

fn machine() -> String {
    #[cfg(unix)]
    let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let machine = std::env::var("COMPUTERNAME").unwrap_or_default();
    machine
}

/// Returns the machine and the number of this process.
pub(super) fn process_name() -> String {
    format!("{}:{}", machine(), std::process::id())
}

impl<'a> NewEvent<'a> {
    pub(super) fn of(action: Action) -> NewEvent<'a> {
        NewEvent { action, who: None, count: 0, note: None, other_run: None }
    }

    /// By a person who was named, instead of the user of the process.
    pub(super) fn by(self, who: &'a str) -> NewEvent<'a> {
        NewEvent { who: Some(who), ..self }
    }

    pub(super) fn counting(self, count: i64) -> NewEvent<'a> {
        NewEvent { count, ..self }
    }

    pub(super) fn because(self, note: Option<&'a str>) -> NewEvent<'a> {
        NewEvent { note, ..self }
    }

    pub(super) fn into_run(self, other: RunId) -> NewEvent<'a> {
        NewEvent { other_run: Some(other), ..self }
    }

    /// Writes the event, or extends the last one of the same kind by this process.
    pub(super) async fn write(self, transaction: &mut Transaction, run: RunId, now: i64) -> Result<(), Error> {
        transaction.run_all(self.writing(run, now)).await?;
        Ok(())
    }

    /// Returns the statements of [`NewEvent::write`].
    pub(super) fn writing(self, run: RunId, now: i64) -> Vec<Query<Row>> {
        const SAME: &str = "id = (SELECT MAX(id) FROM event WHERE run = $1 AND action = $2 AND who = $3 AND process = $4 \
                            AND process_start = $5) AND COALESCE(note, '') = COALESCE($6, '') AND COALESCE(other_run, 0) = COALESCE($7, 0) \
                            AND NOT EXISTS (SELECT 1 FROM event AS later WHERE later.run = $1 AND later.id > event.id AND later.action <> $2 \
                            AND later.action IN ('queued', 'resumed', 'stopped', 'set-aside'))";
        let NewEvent { action, who, count, note, other_run } = self;
        let who = who.unwrap_or(&PROCESS.user);
        let of_event = |text: String| {
            let query = sql::query(text).bind(run).bind(action.name()).bind(who).bind(PROCESS.name.as_str());
            query.bind(PROCESS.start).bind(note).bind(other_run).bind(now).bind(count)
        };
        let extend = of_event(format!("UPDATE event SET last_at = $8, count = count + $9 WHERE {SAME}"));
        let insert = of_event(format!(
            "INSERT INTO event (run, action, who, process, process_start, at, last_at, count, note, other_run) \
             SELECT $1, $2, $3, $4, $5, $8, $8, $9, $6, $7 WHERE NOT EXISTS (SELECT 1 FROM event WHERE {SAME})"
        ));
        let trim = "DELETE FROM event WHERE run = $1 AND action IN ('sent', 'resumed', 'worked', 'set-aside', 'stopped', 'queued') \
                    AND id <= (SELECT id FROM event WHERE run = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)";
        vec![extend, insert, sql::query(trim).bind(run).bind(KEPT)]
    }
}

/// Writes an event for each person who has edited the file of a run.
pub(super) async fn write_edits(transaction: &mut Transaction, run: RunId) -> Result<(), Error> {
    let insert = "INSERT INTO event (run, action, who, process, process_start, at, last_at, count) \
                  SELECT run.id, 'edited', edit.who, '', 0, MIN(edit.at), MAX(edit.at), COUNT(*) \
                  FROM run JOIN edit ON edit.file_hash = run.file_hash WHERE run.id = $1 \
                  GROUP BY run.id, edit.who ORDER BY MIN(edit.at)";
    sql::query(insert).bind(run).execute(transaction).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    #[test]
    fn nobody_acts_without_a_name() {
        use super::{named_in, of_system};

        let known = "root:x:0:0:root:/root:/bin/sh\n# a remark\nanna:x:1000:1000::/home/anna:/bin/sh\n:x:7:7::/:\n";
        assert_eq!((named_in(known, 0), named_in(known, 1000)), (Some("root"), Some("anna")));
        assert_eq!((named_in(known, 7), named_in(known, 100), named_in("", 0)), (None, None, None));
        assert!(of_system(true).starts_with("the pod ") && !of_system(false).is_empty());
    }
}

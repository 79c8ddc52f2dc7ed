//! Errors of the ledger.

use std::path::PathBuf;

use sheetport_sql::message;
use sqlx::postgres::PgDatabaseError;

use super::ids::RunId;

/// The process that has locked an upload, as far as known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Holder {
    /// A process on this machine, or one that has finished in the meantime.
    #[error("another sheetport process is working on this upload")]
    Unknown,
    #[error("another sheetport process is working on this upload: process {process} on {machine}")]
    Process { machine: String, process: String },
    /// Workers. Only the last one to take a part is named.
    #[error(
        "another sheetport process is working on this upload: workers send run {run}, such as process {process} on {machine}"
    )]
    Workers { run: RunId, machine: String, process: String },
}

impl Holder {
    /// `name` is that of [`process_name`]. `run` is the queued run of workers.
    ///
    /// [`process_name`]: super::event::process_name
    pub(super) fn new(name: &str, run: Option<RunId>) -> Holder {
        let Some((machine, process)) = name.rsplit_once(':') else { return Holder::Unknown };
        let (machine, process) = (machine.to_owned(), process.to_owned());
        match run {
            Some(run) => Holder::Workers { run, machine, process },
            None => Holder::Process { machine, process },
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the ledger {path} can't be opened: {reason}", path = path.display())]
    Open { path: PathBuf, reason: String },
    /// Two machines that use the same file would damage it.
    #[error("the ledger can't be in {folder}, which another machine serves by {system}", folder = folder.display())]
    SharedFolder { folder: PathBuf, system: &'static str },
    /// The server refused the connection, or can't be used.
    #[error("the ledger {ledger} can't be used: {reason}")]
    Connect { ledger: String, reason: String, remedy: String },
    #[error("a newer version of sheetport has used the ledger {ledger}, and this version can't read it any more")]
    NewerVersion { ledger: String, is_server: bool },
    #[error("the ledger {ledger} was created by a development version of sheetport that was never released")]
    DevelopmentVersion { ledger: String, is_server: bool },
    #[error("the ledger can't be read or written: {}", message(.0))]
    Database(#[source] sqlx::Error),
    /// The server refuses further connections.
    #[error(
        "the database allows no more connections ({}): lower --at-once, because workers need up to four for each part, raise \
         max_connections, or use a pooler", message(.0)
    )]
    TooManyConnections(#[source] sqlx::Error),
    #[error("the ledger contains data that this version can't read: {0}")]
    Corrupt(String),
    #[error("run {run} is damaged in the ledger: {what}; nothing of it was sent now")]
    Damaged { run: RunId, what: String },
    /// Commits are lost, or the tables are not ours.
    #[error("the ledger {path} is damaged: {what}", path = path.display())]
    DamagedFile { path: PathBuf, what: String },
    /// Another program has locked the file for writing.
    #[error("another program holds the ledger {path}{}", by(.holder.as_deref()), path = path.display())]
    Held { path: PathBuf, holder: Option<String> },
    #[error("the database did not answer before the process was stopped")]
    Unanswered,
    #[error("{holder}")]
    Busy { holder: Holder },
    /// The lease of an upload has ended, because the process was held up or could not reach the database.
    #[error(
        "this process was held up so long that it lost its lock on the upload, which another process may have taken over; it has \
         written nothing since"
    )]
    LockLost,
    /// The database lacks what this process has written into it last.
    #[error("the ledger went back to an earlier state ({why}), so this process has stopped sending")]
    WentBack { why: String },
    /// The database is not the one in which the ledger was noted to be, and whoever may know whether something is missing was not heard yet.
    #[error("the ledger is in another database than before, and other processes may still know what was sent last")]
    Moved,
    /// The database has ended an idle transaction of this process. The lease may still be held.
    #[error("this process was held up so long that the database ended its transaction")]
    HeldUp,
    #[error("{0} is only for a ledger on a PostgreSQL server, and this one is in a file")]
    OnlyForServers(&'static str),
    #[error("there is no run {0}")]
    NoSuchRun(RunId),
    #[error("there are no runs yet")]
    NoRuns,
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Error {
        match error.as_database_error().and_then(|error| error.code()).as_deref() {
            Some("25P03") => Error::HeldUp,
            Some(TOO_MANY) => Error::TooManyConnections(error),
            _ => Error::Database(error),
        }
    }
}

impl Error {
    /// Whether something in the file was lost or altered.
    pub fn is_damage(&self) -> bool {
        match self {
            Error::Damaged { .. } | Error::DamagedFile { .. } | Error::Corrupt(_) => true,
            Error::Database(error) => is_damaged(error) || is_undecodable(error),
            _ => false,
        }
    }

    /// Whether another program holds the lock of the file (result codes 5 and 6 of SQLite).
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Error::Database(error) if sqlite_code(error).is_some_and(|code| matches!(code, 5 | 6)))
    }

    /// Whether another attempt may succeed: the connection was lost, or the server rolled the transaction back.
    pub fn is_of_connection(&self) -> bool {
        match self {
            Error::HeldUp | Error::TooManyConnections(_) => true,
            Error::Database(sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::PoolTimedOut) => true,
            Error::Database(error) => {
                let code = error.as_database_error().filter(|_| is_of_server(error)).and_then(|error| error.code());
                code.is_some_and(|code| code.starts_with("08") || TRANSIENT.contains(&code.as_ref()))
            }
            _ => false,
        }
    }

    /// Returns how to fix the error.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::Open { .. } => {
                "set SHEETPORT_HOME to a folder where you may write; an existing ledger is never replaced".to_owned()
            }
            Error::SharedFolder { .. } => {
                "set SHEETPORT_HOME to a folder on a disk of this machine, and move what is in the old one there; for several machines, \
                 keep the ledger in PostgreSQL with --ledger"
                    .to_owned()
            }
            Error::NewerVersion { is_server: true, .. } => {
                "install the newest version, or name another database with SHEETPORT_LEDGER or --ledger; an existing \
                                           ledger is never replaced"
                    .to_owned()
            }
            Error::NewerVersion { .. } => {
                "install the newest version, or set SHEETPORT_HOME to a new folder; an existing \
                                           ledger is never replaced"
                    .to_owned()
            }
            Error::DevelopmentVersion { is_server: true, .. } => {
                "use the version that created it, or name another database with SHEETPORT_LEDGER or --ledger; an \
                                                 existing ledger is never replaced"
                    .to_owned()
            }
            Error::DevelopmentVersion { .. } => {
                "use the version that created it, or set SHEETPORT_HOME to a new folder; an \
                                                 existing ledger is never replaced"
                    .to_owned()
            }
            error @ Error::Database(_) if error.is_damage() => file_remedy(),
            Error::DamagedFile { .. } => file_remedy(),
            Error::Damaged { run, .. } => format!("`sheetport runs check {run}` shows all of the damage; {GO_ON}"),
            Error::Database(error) if is_of_server(error) => server_remedy(error).to_owned(),
            // The server grants connections to others, so this process or its pooler has too few.
            Error::Database(sqlx::Error::PoolTimedOut) => "lower --at-once, or allow more sessions in the pooler: workers need up to \
                                                           four for each part; then resume the run"
                .to_owned(),
            Error::Database(_) => {
                "check that the disk is not full and that the ledger's folder is writable; then resume the run"
                    .to_owned()
            }
            Error::TooManyConnections(_) => {
                "`SHOW max_connections` on the server shows its limit; roles, databases and poolers may have limits, too"
                    .to_owned()
            }
            Error::Corrupt(_) => format!("{}; or use the version of sheetport that wrote it", file_remedy()),
            Error::Connect { remedy, .. } => remedy.clone(),
            Error::LockLost | Error::HeldUp => {
                "resume the run: `sheetport runs` shows whether it is still being sent".to_owned()
            }
            Error::WentBack { .. } => {
                "resume the run: records that may have been sent, and must not be sent twice, become unknown".to_owned()
            }
            Error::Moved => "run the command again in half a minute, when their locks have ended".to_owned(),
            Error::OnlyForServers(_) => "name the server with --ledger".to_owned(),
            Error::Busy { holder: Holder::Workers { run, .. } } => format!(
                "wait until they have finished, as with `sheetport runs wait {run}`; `sheetport runs stop {run}` takes the run away from \
                 them"
            ),
            Error::Held { .. } => "end that program, or let it go on if it was stopped (`fg` after Ctrl-Z); then run the command again".to_owned(),
            Error::Unanswered => "resume the run when the database answers again".to_owned(),
            Error::Busy { .. } => "wait until the other process has finished, or stop it".to_owned(),
            Error::NoSuchRun(_) => "`sheetport runs` lists the runs".to_owned(),
            Error::NoRuns => "`sheetport upload FILE -t TEMPLATE` creates one".to_owned(),
        })
    }
}

/// SQLSTATE code for too many connections.
const TOO_MANY: &str = "53300";
/// SQLSTATE codes for shutdown, crash, startup, and a rollback in favour of another transaction.
const TRANSIENT: [&str; 5] = ["57P01", "57P02", "57P03", "40001", "40P01"];

/// How to go on without a damaged ledger.
pub const GO_ON: &str = "restore a backup of `sheetport runs backup`, or set SHEETPORT_HOME to a new folder, after looking up in the service \
                     what was sent: it is not recognized there";

/// Returns how to go on with a damaged file.
fn file_remedy() -> String {
    format!(
        "`sheetport runs check` shows what is damaged; `sheetport report` still writes the reports of its runs; {GO_ON}"
    )
}

pub(super) fn damaged(run: RunId, what: impl std::fmt::Display) -> Error {
    Error::Damaged { run, what: what.to_string() }
}

pub(super) fn corrupt(error: impl std::fmt::Display) -> Error {
    Error::Corrupt(error.to_string())
}

/// Whether an error comes from a server or from the connection to a server.
fn is_of_server(error: &sqlx::Error) -> bool {
    let is_postgres = |error: &dyn sqlx::error::DatabaseError| error.try_downcast_ref::<PgDatabaseError>().is_some();
    error.as_database_error().map_or_else(|| matches!(error, sqlx::Error::Io(_) | sqlx::Error::Tls(_)), is_postgres)
}

/// Returns how to fix an error of a server.
fn server_remedy(error: &sqlx::Error) -> &'static str {
    match error.as_database_error().and_then(|error| error.code()).as_deref() {
        Some("42501") => "grant the user the rights of the owner of the ledger's tables",
        Some("53100") => "free some space on the disk of the database server; then resume the run",
        Some("25006") => "name the primary server, whose database can be written; then resume the run",
        _ => "check that the database can be reached and that its disk is not full; then resume the run",
    }
}

/// Whether SQLite reports a corrupt file or a file of another kind (result codes 11 and 26).
fn is_damaged(error: &sqlx::Error) -> bool {
    sqlite_code(error).is_some_and(|code| matches!(code, 11 | 26))
}

/// Returns the primary result code of SQLite.
fn sqlite_code(error: &sqlx::Error) -> Option<u32> {
    let code = error.as_database_error().filter(|_| !is_of_server(error)).and_then(|error| error.code())?;
    code.parse::<u32>().ok().map(|code| code & 0xFF)
}

/// Names the holder of a file after its path.
fn by(holder: Option<&str>) -> String {
    holder.map(|holder| format!(": {holder}")).unwrap_or_default()
}

/// Whether a stored value has the wrong type.
fn is_undecodable(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_exhausted_pool_is_no_full_disk() {
        let error = Error::Database(sqlx::Error::PoolTimedOut);
        let hint = error.hint().unwrap();
        assert!(hint.contains("--at-once") && !hint.contains("disk"), "{hint}");
        assert!(error.is_of_connection());
    }
}

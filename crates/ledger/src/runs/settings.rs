//! The settings of a run, in columns of its row.

use std::fmt;
use std::num::NonZeroU32;
use std::path::PathBuf;

use sheetport_findings::{Code, Only};
use sheetport_sql::{self as sql, Row, Transaction};

use super::super::checksums::seal;
use super::super::database::{Ledger, to_json};
use super::super::error::{Error, corrupt};
use super::super::ids::RunId;

/// The settings of a run. Resumes and retries use the same settings unless overridden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSettings {
    /// The profile of address and tokens, or empty without a profile.
    pub profile: String,
    /// `None` without a limit.
    pub rate: Option<RunRate>,
    /// Requests in flight at the same time.
    pub concurrency: u16,
    /// Stops the run after more refused records than this.
    pub max_errors: Option<u64>,
    /// Maximum number of unknown records before the run stops; `None` for the limit of an outage.
    pub max_unknown: Option<u64>,
    /// Absolute path of the report, if given.
    pub report: Option<PathBuf>,
    /// Leaves internal details out of reports for suppliers.
    pub for_supplier: bool,
    /// Of the queued runs of a workspace, those with a higher number are sent first.
    pub priority: i16,
    /// Sends nothing if a row can't be sent.
    pub all_or_nothing: bool,
    /// Treats warnings as problems.
    pub strict: bool,
    /// Questions that are answered with yes.
    pub accept: Vec<Code>,
    /// Skips records that the service already has with the same values.
    pub changed_only: bool,
    /// Sends the service's other lines of an order with those of the file.
    pub keep_lines: bool,
    /// The records to send; `None` for all.
    pub only: Option<Only>,
    /// Whether rows can say which of the records they are ([`PlannedRecord::command`](super::super::records::PlannedRecord::command)).
    pub commands: bool,
    /// Writes only fields that are blank in the service.
    pub fill_blank: bool,
    /// Reads and keeps what the service has of the records before the first of them is sent, so that the run can be taken back.
    pub undoable: bool,
    /// Sends records even if a newer upload has sent their keys.
    pub overwrite_newer: bool,
    pub allow_repeat: AllowRepeat,
    pub connection: RunConnection,
}

/// Connection settings of a run from flags or the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunConnection {
    /// Absolute paths of PEM files.
    pub ca_file: Option<PathBuf>,
    pub client_cert: Option<PathBuf>,
    pub client_key: Option<PathBuf>,
    /// The address of the proxy, without user name and password.
    pub proxy: Option<String>,
    /// Sends tokens to other machines without encryption.
    pub insecure_http: bool,
}

/// The request rate of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunRate {
    /// As fast as the service permits.
    Auto,
    Fixed {
        requests: NonZeroU32,
        seconds: NonZeroU32,
    },
}

/// Writes the rate like `--rate`: auto, 10/s, 600/min.
impl fmt::Display for RunRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunRate::Auto => f.write_str("auto"),
            RunRate::Fixed { requests, seconds } => match seconds.get() {
                1 => write!(f, "{requests}/s"),
                60 => write!(f, "{requests}/min"),
                _ => write!(f, "{requests}/h"),
            },
        }
    }
}

/// Records to send even if already sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AllowRepeat {
    #[default]
    None,
    All,
    /// The records with these names.
    Named(Vec<String>),
}

/// One request at a time, without limits.
impl Default for RunSettings {
    fn default() -> RunSettings {
        RunSettings {
            profile: String::new(),
            rate: None,
            concurrency: 1,
            max_errors: None,
            max_unknown: None,
            report: None,
            for_supplier: false,
            priority: 0,
            all_or_nothing: false,
            strict: false,
            accept: Vec::new(),
            changed_only: false,
            keep_lines: false,
            only: None,
            commands: false,
            fill_blank: false,
            undoable: false,
            overwrite_newer: false,
            allow_repeat: AllowRepeat::None,
            connection: RunConnection::default(),
        }
    }
}

impl RunSettings {
    /// Whether what the service has decides which records, or which of their fields, are sent.
    pub fn sends_a_part(&self) -> bool {
        self.only.is_some() || self.commands || self.fill_blank
    }

    /// Whether no record of the service is read before sending.
    pub fn needs_no_look(&self) -> bool {
        !self.changed_only && !self.sends_a_part() && !self.undoable
    }
}

/// Stores the settings of a run.
pub(super) async fn store(transaction: &mut Transaction, run: RunId, settings: &RunSettings) -> Result<(), Error> {
    let rate = settings.rate.map(|rate| match rate {
        RunRate::Auto => (0, 1),
        RunRate::Fixed { requests, seconds } => (i64::from(requests.get()), i64::from(seconds.get())),
    });
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let names = match &settings.allow_repeat {
        AllowRepeat::None => None,
        AllowRepeat::All => Some(to_json(&[""; 0])?),
        AllowRepeat::Named(names) => Some(to_json(names)?),
    };
    let update = sql::query(
        "UPDATE run SET profile_name = $2, rate_requests = $3, rate_seconds = $4, concurrency = $5, max_errors = $6, \
         report = $7, all_or_nothing = $8, strict = $9, changed_only = $10, allow_repeat = $11, overwrite_newer = $12, \
         ca_file = $13, client_cert = $14, client_key = $15, proxy = $16, insecure_http = $17, for_supplier = $18, \
         max_unknown = $19, keep_lines = $20, accept = $21, only_records = $22, undoable = $23, commands = $24, fill_blank = $25, priority = $26 \
         WHERE id = $1",
    );
    let update = update
        .bind(run)
        .bind(settings.profile.clone())
        .bind(rate.map(|(requests, _)| requests))
        .bind(rate.map(|(_, seconds)| seconds))
        .bind(i64::from(settings.concurrency))
        .bind(settings.max_errors.map(|most| i64::try_from(most).unwrap_or(i64::MAX)))
        .bind(path(&settings.report))
        .bind(i64::from(settings.all_or_nothing))
        .bind(i64::from(settings.strict))
        .bind(i64::from(settings.changed_only))
        .bind(names)
        .bind(i64::from(settings.overwrite_newer))
        .bind(path(&settings.connection.ca_file))
        .bind(path(&settings.connection.client_cert))
        .bind(path(&settings.connection.client_key))
        .bind(settings.connection.proxy.clone())
        .bind(i64::from(settings.connection.insecure_http))
        .bind(i64::from(settings.for_supplier))
        .bind(settings.max_unknown.map(|most| i64::try_from(most).unwrap_or(i64::MAX)))
        .bind(settings.keep_lines.then_some(1_i64))
        .bind(accepted(&settings.accept)?)
        .bind(settings.only.map(|only| only.name().to_owned()))
        .bind(settings.undoable.then_some(1_i64))
        .bind(settings.commands.then_some(1_i64))
        .bind(settings.fill_blank.then_some(1_i64))
        .bind(Some(i64::from(settings.priority)).filter(|priority| *priority != 0));
    seal::change(transaction, run, update).await?;
    Ok(())
}

/// Returns questions with the answer yes as JSON.
fn accepted(accept: &[Code]) -> Result<Option<String>, Error> {
    if accept.is_empty() { Ok(None) } else { to_json(accept).map(Some) }
}

impl Ledger {
    /// Stores that a person has answered these questions about a planned run with yes.
    pub async fn store_answers(&self, run: RunId, accept: &[Code]) -> Result<(), Error> {
        let update = sql::query("UPDATE run SET accept = $2 WHERE id = $1").bind(run).bind(accepted(accept)?);
        self.change_run(run, update).await?;
        Ok(())
    }
}

/// Reads the settings of a run.
pub(super) fn from_row(row: &Row) -> Result<RunSettings, Error> {
    let flag = |column: &str| row.try_get::<i64, _>(column).map(|value| value != 0);
    let later = |column: &str| row.try_get::<Option<i64>, _>(column).map(|value| value.is_some_and(|value| value != 0));
    let path = |column: &str| row.try_get::<Option<String>, _>(column).map(|path| path.map(PathBuf::from));
    let positive = |number: i64| u32::try_from(number).ok().and_then(NonZeroU32::new).ok_or_else(|| corrupt("a rate"));
    let rate: Option<i64> = row.try_get("rate_requests")?;
    let per: Option<i64> = row.try_get("rate_seconds")?;
    let rate = match rate.zip(per) {
        None => None,
        Some((0, _)) => Some(RunRate::Auto),
        Some((requests, seconds)) => {
            Some(RunRate::Fixed { requests: positive(requests)?, seconds: positive(seconds)? })
        }
    };
    let max_errors: Option<i64> = row.try_get("max_errors")?;
    let max_unknown: Option<i64> = row.try_get("max_unknown")?;
    let priority: Option<i64> = row.try_get("priority")?;
    let only: Option<String> = row.try_get("only_records")?;
    let unknown = |name: &str| corrupt(format_args!("a run of the unknown records '{name}'"));
    let only = only.map(|name| Only::named(&name).ok_or_else(|| unknown(&name))).transpose()?;
    let accept: Option<String> = row.try_get("accept")?;
    let accept = accept.as_deref().map(serde_json::from_str).transpose().map_err(corrupt)?;
    let names: Option<String> = row.try_get("allow_repeat")?;
    let names: Option<Vec<String>> = names.as_deref().map(serde_json::from_str).transpose().map_err(corrupt)?;
    Ok(RunSettings {
        profile: row.try_get("profile_name")?,
        rate,
        concurrency: u16::try_from(row.try_get::<i64, _>("concurrency")?).map_err(corrupt)?,
        max_errors: max_errors.map(u64::try_from).transpose().map_err(corrupt)?,
        max_unknown: max_unknown.map(u64::try_from).transpose().map_err(corrupt)?,
        report: path("report")?,
        for_supplier: flag("for_supplier")?,
        priority: i16::try_from(priority.unwrap_or(0)).map_err(corrupt)?,
        all_or_nothing: flag("all_or_nothing")?,
        strict: flag("strict")?,
        accept: accept.unwrap_or_default(),
        changed_only: flag("changed_only")?,
        keep_lines: later("keep_lines")?,
        only,
        undoable: later("undoable")?,
        commands: later("commands")?,
        fill_blank: later("fill_blank")?,
        overwrite_newer: flag("overwrite_newer")?,
        allow_repeat: match names {
            None => AllowRepeat::None,
            Some(names) if names.is_empty() => AllowRepeat::All,
            Some(names) => AllowRepeat::Named(names),
        },
        connection: RunConnection {
            ca_file: path("ca_file")?,
            client_cert: path("client_cert")?,
            client_key: path("client_key")?,
            proxy: row.try_get("proxy")?,
            insecure_http: flag("insecure_http")?,
        },
    })
}

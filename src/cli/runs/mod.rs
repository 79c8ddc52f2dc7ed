//! Flags of the commands about runs.

mod apply;
mod go_on;
mod report;
mod retry;
mod undo;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{Args, Subcommand};
use sheetport_operations::RunStatus;

use super::choice::choice;
use super::flag_groups::Sending;
use super::upload::range;

pub use apply::Apply;
pub use go_on::Continue;
pub use report::Report;
pub use retry::{Retry, RetryTarget};
pub use undo::Undo;

const RUNS_EXAMPLES: &str = "\
Examples:
  sheetport runs --state stopped
  sheetport runs show 12
  sheetport runs check
  sheetport runs prune --older-than 90d";

const WAIT_EXAMPLES: &str = "\
Ends as the upload would have ended: with the same summary, report and exit code. Ctrl-C ends the waiting, and not the run.

Examples:
  sheetport upload items.xlsx -t items --queue
  sheetport runs wait 12";

const CHECK_EXAMPLES: &str = "\
Reads everything that is stored about the runs, and compares it with checksums and counts. A run is checked in short before each
resume and retry. Exit code 0 if there is no damage, otherwise 1. Nothing is changed.

Examples:
  sheetport runs check
  sheetport runs check 12";

const ERASE_EXAMPLES: &str = "\
Erases rows, cells, requests, problems, messages and ids of the service. The numbers of the rows, the states of the records and the hashes
that recognize what was sent stay, so that nothing is sent twice. Spreadsheets, reports and exports are files of yours: the
command lists those that it knows. Records that were still to be sent are skipped.

Examples:
  sheetport runs erase --key C-1042 --dry-run
  sheetport runs erase --key C-1042";

const BACKUP_EXAMPLES: &str = "\
The copy is checked like `sheetport runs check` does, and appears complete or not at all. To restore it, end all sheetport
processes, remove ledger.db, ledger.db-wal and ledger.db-shm in the home folder, and copy the file there as ledger.db.

Examples:
  sheetport runs backup ledger-backup.db
  sheetport runs backup /backups/ledger.db --replace";

const RESOLVE_EXAMPLES: &str = "\
The outcome of a record is unknown if no answer came to a request that must not be repeated. Look the record up in the
service, then record whether it is there. Your answer is saved with your name and the time. Records not applied, by first row
can then be sent again with `sheetport retry`.

If the service honours Idempotency-Key, set `idempotency_key` (such as \"24h\") in its profile in sheetport.toml, with the time for which
it remembers keys: then such a request is sent again, and few outcomes are unknown.

Examples:
  sheetport resolve 12
  sheetport resolve 12 --sent 17,20-25 --failed 30
  sheetport resolve 12 --all-failed";

#[derive(Args, Debug)]
#[command(after_help = RUNS_EXAMPLES)]
pub struct Runs {
    #[command(subcommand)]
    pub action: Option<RunsAction>,
    /// Maximum number of runs, exports and jobs
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Show only runs in this state
    #[arg(long, value_name = "STATE", value_parser = choice(states()))]
    pub state: Option<RunStatus>,
    /// Show only runs of files whose path contains this text
    #[arg(long, value_name = "TEXT")]
    pub file: Option<String>,
    /// Show only runs with this kind of record
    #[arg(long, value_name = "KIND")]
    pub record: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum RunsAction {
    /// Show the details of a run
    Show {
        /// Number of the run [default: the newest]
        run: Option<i64>,
    },
    /// Check that nothing in the ledger was lost or altered
    #[command(after_help = CHECK_EXAMPLES)]
    Check {
        /// Number of the run [default: the whole ledger]
        run: Option<i64>,
    },
    /// Wait until a run is sent, and write its report
    #[command(after_help = WAIT_EXAMPLES)]
    Wait {
        /// Number of the run [default: the newest]
        run: Option<i64>,
        /// New file for the report: .xlsx, .csv or .html [default: as the run was asked for]
        #[arg(long, value_name = "FILE")]
        report: Option<PathBuf>,
    },
    /// Show the progress of a run that is being sent anywhere
    Watch {
        /// Number of the run [default: the newest]
        run: Option<i64>,
    },
    /// Stop a queued run: workers finish their requests in flight
    Stop {
        /// Number of the run
        run: i64,
        /// Your name [default: your user name]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
    /// Remove old runs from the ledger, and erase what it stored about them
    Prune(Prune),
    /// Erase what the ledger stores about the records with one key, such as a person's, in every run
    #[command(after_help = ERASE_EXAMPLES)]
    Erase(Erase),
    /// Copy the ledger into a file, also while runs are being sent
    #[command(after_help = BACKUP_EXAMPLES)]
    Backup(Backup),
}

#[derive(Args, Debug)]
pub struct Prune {
    /// Remove runs that started longer ago than this, such as 90d, 12w or 48h
    #[arg(long, value_name = "TIME", value_parser = age)]
    pub older_than: Duration,
    /// Remove runs with pending or unknown records, too
    #[arg(long)]
    pub force: bool,
    /// List the runs to remove, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Args, Debug)]
pub struct Erase {
    /// Key of the records, such as the external id of a contact or the number of an invoice
    #[arg(long, value_name = "KEY")]
    pub key: String,
    /// List the runs with the key, and erase nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Args, Debug)]
pub struct Backup {
    /// New file for the copy
    pub file: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub replace: bool,
}

#[derive(Args, Debug)]
#[command(after_help = RESOLVE_EXAMPLES)]
pub struct Resolve {
    /// Number of the run [default: the newest]
    pub run: Option<i64>,
    /// Applied records, by first row, such as 17,20-25
    #[arg(long, value_name = "ROWS", value_parser = rows)]
    pub sent: Option<Rows>,
    /// Records not applied, by first row
    #[arg(long, value_name = "ROWS", value_parser = rows)]
    pub failed: Option<Rows>,
    /// All other records were applied
    #[arg(long, conflicts_with = "all_failed")]
    pub all_sent: bool,
    /// All other records were not applied
    #[arg(long)]
    pub all_failed: bool,
    /// Your name [default: your user name]
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
}

#[derive(Args, Debug)]
pub struct Resume {
    /// Number of the run [default: the one that can be resumed]
    pub run: Option<i64>,
    #[command(flatten)]
    pub sending: Sending,
}

/// Rows such as `17,20-25`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows(Vec<(u64, u64)>);

impl Rows {
    pub fn contains(&self, row: u64) -> bool {
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&row))
    }
}

fn states() -> [(PossibleValue, RunStatus); 10] {
    [
        ("aborted", "The file was not read to its end", RunStatus::Aborted),
        ("running", "A process reads the file or sends the records", RunStatus::Running),
        ("planned", "The file was read, and nothing was sent yet", RunStatus::Planned),
        ("stopped", "Records are pending", RunStatus::Stopped),
        ("queued", "Workers send the records", RunStatus::Queued),
        ("done", "No records are pending", RunStatus::Done),
        ("withheld", "Nothing is sent, because of --all-or-nothing", RunStatus::Withheld),
        ("damaged", "Something was lost or altered in the ledger", RunStatus::Damaged),
        ("unknown", "Some records have an unknown outcome", RunStatus::Unknown),
        ("problems", "Some records need fixing, were refused or are unknown", RunStatus::Problems),
    ]
    .map(|(name, help, status)| (PossibleValue::new(name).help(help), status))
}

fn rows(text: &str) -> Result<Rows, String> {
    let wrong = || format!("'{text}' is not a list of rows such as 17,20-25");
    text.split(',').map(|part| range(part).map_err(|_| wrong())).collect::<Result<_, _>>().map(Rows)
}

pub(crate) fn age(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is not a time such as 90d, 12w or 48h");
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let hours = match unit {
        'h' => 1,
        'd' => 24,
        'w' => 7 * 24,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    number.checked_mul(hours * 3600).filter(|seconds| *seconds < 1 << 40).map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_single_numbers_and_ranges() {
        let rows = rows("17, 20-25,30").expect("rows");
        let of: Vec<u64> = (0..40).filter(|row| rows.contains(*row)).collect();
        assert_eq!(of, [17, 20, 21, 22, 23, 24, 25, 30]);
        for bad in ["", ",", "a", "5-2", "1-", "-1", "1-2-3"] {
            assert!(super::rows(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ages_require_a_unit() {
        assert_eq!(age("90d"), Ok(Duration::from_secs(90 * 86_400)));
        assert_eq!(age("2w"), age("14d"));
        for bad in ["", "90", "d", "-1d", "1y", "9999999999999999999d", "1€"] {
            assert!(age(bad).is_err(), "{bad}");
        }
    }
}

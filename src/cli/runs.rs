//! The words of the commands that look at runs that were, and go on with them.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::Pacing;

const RUNS_EXAMPLES: &str = "\
Examples:
  sheetport runs --state stopped
  sheetport runs show 12
  sheetport runs prune --older-than 90d";

const RESOLVE_EXAMPLES: &str = "\
A record is in doubt when a call that must not be made twice was on its way and no answer came. Look the record up in the
service, then say what you found. What you say is kept with your name and the time; the records that were not applied can
then be sent again with `sheetport retry`.

Examples:
  sheetport resolve 12
  sheetport resolve 12 --sent 17,20-25 --failed 30
  sheetport resolve 12 --all-failed";

#[derive(Args, Debug)]
#[command(after_help = RUNS_EXAMPLES)]
pub struct Runs {
    #[command(subcommand)]
    pub action: Option<RunsAction>,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Only runs in this state
    #[arg(long, value_name = "STATE")]
    pub state: Option<StateFilter>,
    /// Only runs whose file's path contains this
    #[arg(long, value_name = "TEXT")]
    pub file: Option<String>,
    /// Only runs of this kind of record
    #[arg(long, value_name = "KIND")]
    pub record: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum RunsAction {
    /// Show all that is known of a run
    Show {
        /// The run's number [default: the newest]
        run: Option<i64>,
    },
    /// Remove old runs from the ledger
    Prune(Prune),
}

#[derive(Args, Debug)]
pub struct Prune {
    /// Runs that began longer ago than this: 90d, 12w or 48h. The newest run always stays
    #[arg(long, value_name = "TIME", value_parser = age)]
    pub older_than: Duration,
    /// Also runs with records that are pending or in doubt
    #[arg(long)]
    pub force: bool,
    /// Only say which runs would be removed
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StateFilter {
    /// Its file was not read to the end
    NotRead,
    /// It has records to be sent
    Stopped,
    /// Nothing is pending
    Done,
    /// It was to be sent as a whole or not at all
    Withheld,
    /// It has records of which nobody knows whether they were applied
    Unknown,
    /// It has records that were refused or could not be sent
    Problems,
}

#[derive(Args, Debug)]
#[command(after_help = RESOLVE_EXAMPLES)]
pub struct Resolve {
    /// The run's number [default: the newest]
    pub run: Option<i64>,
    /// The records that were applied, by the sheet's row on which each begins: 17,20-25
    #[arg(long, value_name = "ROWS", value_parser = rows)]
    pub sent: Option<Rows>,
    /// The records that were not applied
    #[arg(long, value_name = "ROWS", value_parser = rows)]
    pub failed: Option<Rows>,
    /// All that are left were applied
    #[arg(long, conflicts_with = "all_failed")]
    pub all_sent: bool,
    /// None of those that are left was applied
    #[arg(long)]
    pub all_failed: bool,
    /// Who says so [default: the name that you are logged in with]
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
}

#[derive(Args, Debug)]
pub struct Resume {
    /// The run's number [default: the newest]
    pub run: Option<i64>,
    #[command(flatten)]
    pub pacing: Pacing,
    /// Stop when the service has refused more records than this
    #[arg(long, value_name = "N")]
    pub max_errors: Option<u64>,
    /// Where to write the report, a file that is not there yet [default: beside the file, when a row has a problem]
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// Rows as a person names them: `17,20-25`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows(Vec<(u64, u64)>);

impl Rows {
    pub fn contains(&self, row: u64) -> bool {
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&row))
    }
}

fn rows(text: &str) -> Result<Rows, String> {
    let wrong = || format!("'{text}' names no rows; write it as 17,20-25");
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first <= last).then_some((first, last))
    };
    text.split(',').map(|part| range(part).ok_or_else(wrong)).collect::<Result<_, _>>().map(Rows)
}

fn age(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is no time; write it as 90d, 12w or 48h");
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
    fn rows_are_named_one_by_one_and_from_to() {
        let rows = rows("17, 20-25,30").expect("rows");
        let of: Vec<u64> = (0..40).filter(|row| rows.contains(*row)).collect();
        assert_eq!(of, [17, 20, 21, 22, 23, 24, 25, 30]);
        for bad in ["", ",", "a", "5-2", "1-", "-1", "1-2-3"] {
            assert!(super::rows(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ages_have_a_unit() {
        assert_eq!(age("90d"), Ok(Duration::from_secs(90 * 86_400)));
        assert_eq!(age("2w"), age("14d"));
        for bad in ["", "90", "d", "-1d", "1y", "9999999999999999999d", "1€"] {
            assert!(age(bad).is_err(), "{bad}");
        }
    }
}

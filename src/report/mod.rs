//! A run's outcomes as files that people work with: the original columns in their order, then ours.
//!
//! A report is made from the ledger alone; the file that was uploaded is not needed any more.

mod ahead;
mod outcome;
mod row;
mod summary;
mod table;

pub use outcome::RecordState;

use std::path::{Path, PathBuf};

use outcome::Outcomes;

use crate::ledger::{self, Causes, Ledger, Problem, Run};
use crate::sheet;
use crate::sheet::write::{Choices, Existing, Format};

/// The command of runs that are only planned, to be reported.
pub const CHECK: &str = "check";

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    #[error(transparent)]
    Sheet(#[from] sheet::Error),
    #[error("the ledger holds a row {0} that this version can't read")]
    Corrupt(u64),
}

impl Error {
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Ledger(error) => error.hint(),
            Error::Sheet(error) => error.hint(),
            Error::Corrupt(_) => Some("use the version of sheetport that made the run".to_owned()),
        }
    }
}

/// What is asked of a report.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub path: &'a Path,
    pub format: Format,
    pub existing: Existing,
    pub only: Only,
    /// The command that a person would run next.
    pub next: Option<&'a str>,
    /// What the cells of some columns can be chosen from.
    pub choices: &'a [Choices],
    /// A CSV begins with a byte order mark.
    pub has_bom: bool,
}

/// Which rows a report has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    All,
    /// Rows that a person has to look at: rejected, failed, unknown and pending.
    Problems,
    State(RecordState),
}

impl Only {
    /// Names for the command line.
    pub const NAMES: &'static [&'static str] =
        &["all", "problems", "sent", "unchanged", "skipped", "rejected", "failed", "unknown", "pending"];

    pub fn from_name(name: &str) -> Option<Only> {
        match name {
            "all" => Some(Only::All),
            "problems" => Some(Only::Problems),
            name => RecordState::from_name(name).map(Only::State),
        }
    }

    fn takes(self, state: RecordState) -> bool {
        match self {
            Only::All => true,
            Only::Problems => state.is_problem(),
            Only::State(wanted) => state == wanted,
        }
    }
}

/// A report that was written.
#[derive(Debug)]
pub struct Written {
    pub path: PathBuf,
    pub rows: u64,
}

/// Writes the report of `run`.
///
/// # Errors
/// Those of the ledger and of [`sheet::write::WholeFile::create`].
pub async fn write(ledger: &Ledger, run: &Run, request: &Request<'_>) -> Result<Written, Error> {
    table::write(ledger, run, request).await
}

/// What the service said of the first records that it refused, with the row that each began on and the header of the
/// column that its field came from, grouped by cause. At most `limit` records.
pub async fn refused(ledger: &Ledger, run: &Run, limit: u32) -> Result<Causes, Error> {
    let mut causes = Causes::default();
    let mut outcomes = Outcomes::new(ledger, run.id);
    for outcome in outcomes.of_all(&ledger.failed(run.id, limit).await?).await? {
        let Some(trouble) = outcome.trouble() else { continue };
        let number = trouble.rows.first().copied().unwrap_or_default();
        for problem in &trouble.problems {
            let column = row::column_of(problem, run);
            let header = column.and_then(|column| run.about.header.get(column)).cloned().unwrap_or_default();
            let problem = Problem { header, sheet: trouble.sheet.clone(), ..problem.clone() };
            causes.add_of(number, &problem, &outcome.names());
        }
    }
    Ok(causes)
}

//! A run's outcomes as files that people work with: the original columns in their order, then ours.
//!
//! A report is made from the ledger alone; the file that was uploaded is not needed any more.

mod ahead;
mod html;
mod outcome;
mod row;
mod summary;
mod table;

pub use outcome::RecordState;

use std::path::{Path, PathBuf};

use outcome::Outcomes;

use crate::ledger::{self, Causes, Ledger, Problem, Run};
use crate::sheet;
use crate::sheet::write::{self, Choices, Existing};

/// The command of runs that are only planned, to be reported.
pub const CHECK: &str = "check";

/// What a check's pending records are.
const CAN_BE_SENT: &str = "right, and can be sent";

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    #[error(transparent)]
    Sheet(#[from] sheet::Error),
    #[error("the ledger holds a row {0} that this version can't read")]
    Corrupt(u64),
    #[error("the page can't be made: {0}")]
    Page(#[from] minijinja::Error),
}

impl Error {
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Ledger(error) => error.hint(),
            Error::Sheet(error) => error.hint(),
            Error::Page(_) => Some("please report this".to_owned()),
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
    /// Whether the run stays in the ledger, so that its number means something.
    pub is_kept: bool,
    /// What the cells of some columns can be chosen from.
    pub choices: &'a [Choices],
    /// A CSV begins with a byte order mark.
    pub has_bom: bool,
}

/// What a report is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Csv,
    Xlsx,
    /// A page to look at: it can't be mended and sent again.
    Html,
}

impl Format {
    /// By the extension of `path`, in any case; nothing for an extension that is not known.
    pub fn of(path: &Path) -> Option<Format> {
        let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
        match write::Format::of(path) {
            Some(write::Format::Csv) => Some(Format::Csv),
            Some(write::Format::Xlsx) => Some(Format::Xlsx),
            None => matches!(extension.as_deref(), Some("html" | "htm")).then_some(Format::Html),
        }
    }

    /// Whether the rows can be mended in it, and it can be sent again.
    pub fn is_for_mending(self) -> bool {
        self != Format::Html
    }

    /// The rows that such a report has where nobody says which.
    pub fn usual_rows(self) -> Only {
        match self {
            Format::Csv | Format::Xlsx => Only::All,
            Format::Html => Only::Problems,
        }
    }
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
    /// Rows that were asked for and are more than a page can show.
    pub left_out: u64,
}

/// Writes the report of `run`.
///
/// # Errors
/// Those of the ledger and of [`sheet::write::WholeFile::create`].
pub async fn write(ledger: &Ledger, run: &Run, request: &Request<'_>) -> Result<Written, Error> {
    match request.format {
        Format::Csv => table::write(ledger, run, request, write::Format::Csv).await,
        Format::Xlsx => table::write(ledger, run, request, write::Format::Xlsx).await,
        Format::Html => html::write(ledger, run, request).await,
    }
}

/// What the service said of the first records that it refused, with the row that each began on and the header of the
/// column that its field came from, grouped by cause. At most `limit` records.
pub async fn refused(ledger: &Ledger, run: &Run, limit: u32) -> Result<Causes, Error> {
    let mut causes = Causes::default();
    let mut outcomes = Outcomes::new(ledger, run.id);
    let found = outcomes.of_all(&ledger.failed(run.id, limit).await?).await?;
    for outcome in found.iter() {
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

//! Options of a report: format, rows and destination.

use std::path::{Path, PathBuf};

use sheetport_ledger::RecordState;
use sheetport_sheet::ReportWords;
use sheetport_sheet::write::Existing;

use super::choices::Choices;
use super::csv_form::CsvForm;

/// The meaning of a check's pending records, for people.
pub(crate) const READY_TO_SEND: &str = "valid and ready to send";
/// The meaning of accepted records in a rehearsal.
pub(crate) const ACCEPTED_IN_REHEARSAL: &str = "accepted in the rehearsal, and not sent to a service";
/// The service of a rehearsal, for people.
pub(crate) const IN_REHEARSAL: &str = "a temporary one on this machine";

/// A report to be written.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub path: &'a Path,
    pub format: Format,
    pub existing: Existing,
    pub rows: RowFilter,
    /// The command to run next.
    pub next: Option<&'a str>,
    /// Whether the ledger keeps the run, so that commands can refer to its number.
    pub is_kept: bool,
    /// Drop-down lists for columns of a workbook.
    pub choices: &'a [Choices],
    /// How a CSV is written, instead of the form of the run's file.
    pub csv: CsvForm,
    /// Titles of columns and words for states.
    pub words: &'a ReportWords,
    /// Hides data that a supplier should not see.
    pub for_supplier: bool,
}

/// A report's file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Csv,
    Xlsx,
    /// A web page for viewing, which cannot be edited and uploaded again.
    Html,
}

impl Format {
    /// Returns the format for the extension of `path`, in any letter case, or `None` for an unknown extension.
    pub fn of(path: &Path) -> Option<Format> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "csv" => Some(Format::Csv),
            "xlsx" => Some(Format::Xlsx),
            "html" | "htm" => Some(Format::Html),
            _ => None,
        }
    }

    /// Returns the extension of files in this format, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Xlsx => "xlsx",
            Format::Html => "html",
        }
    }

    /// Returns true if the rows can be fixed in the report and uploaded again.
    pub fn is_editable(self) -> bool {
        self != Format::Html
    }

    /// Returns the rows to include by default.
    pub fn default_rows(self) -> RowFilter {
        match self {
            Format::Csv | Format::Xlsx => RowFilter::All,
            Format::Html => RowFilter::Problems,
        }
    }
}

/// The rows to include in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFilter {
    All,
    /// Rejected, failed, unknown and pending rows, and rows with a warning.
    Problems,
    /// Rows with a warning.
    Warned,
    State(RecordState),
}

impl RowFilter {
    /// Names for the command line.
    pub const NAMES: &'static [&'static str] =
        &["all", "problems", "sent", "unchanged", "skipped", "rejected", "failed", "unknown", "pending", "warned"];

    /// Whether a report of these rows can be fixed and sent again. Of rows that are settled, nothing is left to do.
    pub fn has_open_rows(self) -> bool {
        !matches!(self, RowFilter::State(RecordState::Sent | RecordState::Unchanged | RecordState::Skipped))
    }

    pub fn from_name(name: &str) -> Option<RowFilter> {
        match name {
            "all" => Some(RowFilter::All),
            "problems" => Some(RowFilter::Problems),
            "warned" => Some(RowFilter::Warned),
            name => RecordState::from_name(name).map(RowFilter::State),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            RowFilter::All => "all",
            RowFilter::Problems => "problems",
            RowFilter::Warned => "warned",
            RowFilter::State(state) => state.name(),
        }
    }

    /// Whether to include a row of a record in `state`. Records of a check are pending if they are valid.
    pub(crate) fn includes(self, state: RecordState, is_check: bool, is_warned: bool) -> bool {
        match self {
            RowFilter::All => true,
            RowFilter::Problems => is_warned || state.is_problem() && !(is_check && state == RecordState::Pending),
            RowFilter::Warned => is_warned,
            RowFilter::State(wanted) => state == wanted,
        }
    }
}

/// A written report.
#[derive(Debug)]
pub struct Written {
    pub path: PathBuf,
    pub rows: u64,
    /// Rows beyond the limits of a page.
    pub left_out: u64,
}

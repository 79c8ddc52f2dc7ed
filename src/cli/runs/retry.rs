//! Flags of `retry`.

use std::path::{Path, PathBuf};

use clap::Args;
use sheetport_findings::Code;

use crate::cli::flag_groups::{OfSheet, Reading, Sending, parameter, question};

const RETRY_EXAMPLES: &str = "\
A report is recognized by its sheetport_run and sheetport_row columns. You may sort and filter its rows, and add rows at
the end. The outcome of each row is taken from the ledger on this machine, not from the file.

Examples:
  sheetport retry prices.report.xlsx
  sheetport retry prices.report.xlsx --dry-run
  sheetport retry 12";

/// Send the records that were not accepted, from a report with fixed rows or from a run
///
/// From a report, only the records that were not accepted yet are sent, with the current values of their rows and the
/// template of the run. Rows that you added are sent as well. With the number of a run, the records that the service
/// refused are sent again unchanged.
#[derive(Args, Debug)]
#[command(after_help = RETRY_EXAMPLES)]
pub struct Retry {
    /// Report (.csv, .xlsx; - for standard input), or number of a run whose refused records are sent again; write ./42
    /// for a file called 42
    #[arg(value_name = "FILE|RUN")]
    pub what: PathBuf,
    /// Send all rows of the file as new records, regardless of earlier runs; this can create duplicates
    #[arg(long)]
    pub as_new: bool,
    /// Template to use instead of the run's own; required with --as-new if the ledger does not know the run
    #[arg(short, long, value_name = "TEMPLATE")]
    pub template: Option<String>,
    /// Set a parameter of the template given with --template: warehouse=W1
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameter, requires = "template")]
    pub set: Vec<(String, String)>,
    /// Folder whose files the template given with --template may extend or use as lookup tables
    #[arg(long, value_name = "FOLDER", requires = "template")]
    pub allow_lookup: Vec<PathBuf>,
    #[command(flatten)]
    pub of_sheet: OfSheet,
    #[command(flatten)]
    pub sending: Sending,
    /// Show what would be sent, with the first requests, and send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Send nothing if a row needs fixing [default: as in the run]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub all_or_nothing: Option<bool>,
    /// Treat warnings as problems [default: as in the run]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub strict: Option<bool>,
    /// Answer a question about rows with yes, by its code: rows that were held back for it are sent. Can be repeated
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = question)]
    pub accept: Vec<Code>,
    #[command(flatten)]
    pub reading: Reading,
}

#[derive(Debug, PartialEq, Eq)]
pub enum RetryTarget<'a> {
    Run(i64),
    File(&'a Path),
}

/// Takes digits as the number of a run, and everything else as a file.
pub(super) fn target_of(what: &Path) -> RetryTarget<'_> {
    let digits = what.to_str().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    match digits.and_then(|digits| digits.parse().ok()) {
        Some(run) => RetryTarget::Run(run),
        None => RetryTarget::File(what),
    }
}

impl Retry {
    /// Returns the retry of a file or run without further flags.
    pub(super) fn of(what: PathBuf, sending: Sending) -> Retry {
        Retry {
            what,
            as_new: false,
            template: None,
            set: Vec::new(),
            allow_lookup: Vec::new(),
            sending,
            dry_run: false,
            all_or_nothing: None,
            strict: None,
            accept: Vec::new(),
            of_sheet: Default::default(),
            reading: Default::default(),
        }
    }

    pub fn target(&self) -> RetryTarget<'_> {
        target_of(&self.what)
    }

    /// Returns the first flag in use for files only.
    pub fn file_flag(&self) -> Option<String> {
        let flags = [
            (self.as_new, "as-new"),
            (self.template.is_some(), "template"),
            (self.dry_run, "dry-run"),
            (self.all_or_nothing.is_some(), "all-or-nothing"),
            (self.strict.is_some(), "strict"),
            (!self.accept.is_empty(), "accept"),
        ];
        let flags = flags.into_iter().filter_map(|(in_use, flag)| in_use.then_some(flag));
        let of_sheet = self.of_sheet.in_use().into_iter().map(|(flag, _)| flag);
        let reading = self.reading.in_use().into_iter().map(|(flag, _)| flag);
        flags.chain(of_sheet).chain(reading).next().map(|flag| format!("--{flag}"))
    }
}

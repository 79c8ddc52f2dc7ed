//! The words of `retry`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Pacing, Reading};

const RETRY_EXAMPLES: &str = "\
A report is recognised by its sheetport_run and sheetport_row columns; sort and filter its rows as you like, and add rows
at the end. What became of each row is looked up in the ledger of this machine, not in the file.

Examples:
  sheetport retry prices.report.xlsx
  sheetport retry prices.report.xlsx --dry-run
  sheetport retry 12";

/// Send what a run could not: hand its mended report back, or name the run
///
/// Of a report, exactly the records that were not accepted yet are sent, as their rows stand in the file now, with the
/// template of that run; rows that were added go with them. Of a run's number, the records that the service refused are
/// sent again as they were.
#[derive(Args, Debug)]
#[command(after_help = RETRY_EXAMPLES)]
pub struct Retry {
    /// A report, mended or not (.csv, .xlsx; - is standard input), or the number of the run whose failed records are sent
    /// again; ./42 is a file
    #[arg(value_name = "FILE|RUN")]
    pub what: PathBuf,
    /// Take all rows of the file as new ones, whatever was sent before: records that must not be made twice are made
    /// again
    #[arg(long)]
    pub as_new: bool,
    /// Another template than that of the run; needed with --as-new where the ledger does not know the run
    #[arg(short, long, value_name = "TEMPLATE")]
    pub template: Option<String>,
    #[command(flatten)]
    pub pacing: Pacing,
    /// Plan only: show what would be sent, with the first requests, and send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Stop when the service has refused more records than this
    #[arg(long, value_name = "N")]
    pub max_errors: Option<u64>,
    /// Send nothing unless every row can be sent
    #[arg(long)]
    pub all_or_nothing: bool,
    /// Where to write the report, a file that is not there yet [default: beside the file, when a row has a problem]
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

/// What is tried again.
#[derive(Debug, PartialEq, Eq)]
pub enum Retried<'a> {
    Run(i64),
    File(&'a Path),
}

impl Retry {
    pub fn what(&self) -> Retried<'_> {
        let digits = self.what.to_str().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        match digits.and_then(|digits| digits.parse().ok()) {
            Some(run) => Retried::Run(run),
            None => Retried::File(&self.what),
        }
    }

    /// A flag that was given and is of no use for a run's number.
    pub fn file_flag(&self) -> Option<&'static str> {
        let Reading { delimiter, encoding, quote, escape } = &self.reading;
        [
            (self.as_new, "--as-new"),
            (self.template.is_some(), "--template"),
            (self.dry_run, "--dry-run"),
            (self.all_or_nothing, "--all-or-nothing"),
            (delimiter.is_some(), "--delimiter"),
            (encoding.is_some(), "--encoding"),
            (quote.is_some(), "--quote"),
            (escape.is_some(), "--escape"),
        ]
        .into_iter()
        .find_map(|(is_given, flag)| is_given.then_some(flag))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{Path, Retried};
    use crate::cli::{Cli, Command};

    #[test]
    fn digits_alone_are_a_run_and_all_else_is_a_file() {
        for (word, expected) in [
            ("42", Retried::Run(42)),
            ("./42", Retried::File(Path::new("./42"))),
            ("42.csv", Retried::File(Path::new("42.csv"))),
            ("-", Retried::File(Path::new("-"))),
            ("99999999999999999999", Retried::File(Path::new("99999999999999999999"))),
        ] {
            let Ok(Cli { command: Command::Retry(retry), .. }) = Cli::try_parse_from(["sheetport", "retry", word])
            else {
                panic!("{word} is not understood");
            };
            assert_eq!(retry.what(), expected, "{word}");
        }
    }
}

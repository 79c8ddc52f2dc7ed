//! The command line: commands, flags and help.

mod choice;
mod export;
mod file;
mod flag_groups;
mod global;
mod help;
mod job;
mod review;
mod runs;
mod serve;
mod setup;
mod template;
mod upload;
mod view;
mod work;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use sheetport_language::say;

use crate::error::EXIT_CODES;

pub use self::export::{Export, TableRows};
pub use self::flag_groups::{Input, Mark, OfSheet, Pacing, Reading, Sending, Titles};
pub use self::global::{Color, Global, LogFormat};
pub use self::help::{Completions, Help, Man, Schema, language, texts};
pub use self::job::{Job, JobFile, JobSchedule, JobsShown};
pub use self::review::Review;
pub(crate) use self::runs::age;
pub use self::runs::{
    Apply, Backup, Continue, Erase, Prune, Report, Resolve, Resume, Retry, RetryTarget, Rows, Runs, RunsAction, Undo,
};
pub use self::serve::{
    Data, Lifetimes, Listen, Load, Rehearsal, Serve, ServeAction, Show, Shown, Token, VariableShell,
};
pub use self::setup::{Doctor, Init, Login, Whoami};
pub use self::template::{Infer, Template};
pub use self::upload::{Check, Explain, Plan, Upload};
pub use self::view::View;
pub use self::work::Work;

/// Moves business records between spreadsheets and the Workspace Business-Records API.
///
/// Give it your spreadsheet and a mapping template. It reports every problem in the file before anything is sent, uploads
/// the valid records, and returns the same spreadsheet with the outcome of each row.
#[derive(Debug, Parser)]
#[command(name = "sheetport", version, max_term_width = 100, after_help = EXIT_CODES, arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub global: Global,
}

/// Returns the definition of the command line, in the language of the process.
pub fn command() -> clap::Command {
    help::translated(command_in_english())
}

/// Returns the definition of the command line, which has the texts that are to be translated.
pub fn command_in_english() -> clap::Command {
    help::with_short_help(Cli::command())
}

impl Cli {
    /// Parses the command line of the process.
    ///
    /// # Errors
    /// If it is wrong, or asks for help or the version.
    pub fn read() -> Result<Cli, clap::Error> {
        let mut command = command();
        let args: Vec<OsString> = std::env::args_os().collect();
        let matches = match command.try_get_matches_from_mut(&args) {
            Err(error) => match file::with_command(&error, args, file::has_display()) {
                Ok(Some(args)) => command.try_get_matches_from_mut(args)?,
                Ok(None) => return Err(error),
                Err(name) => {
                    let why = say!("'{name}' is a file, and there is no display for its page");
                    let tip = say!("tip: 'sheetport check {name}' finds its problems");
                    let message = format!("{why}\n\n  {tip}");
                    return Err(command.error(clap::error::ErrorKind::InvalidSubcommand, message));
                }
            },
            matches => matches?,
        };
        let mut cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        cli.global.note_flags(&matches);
        Ok(cli)
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Get started: store and test the address and the tokens, and find a spreadsheet to check
    Init(Init),
    /// Try everything in a few seconds: a service, an upload, a report and an export
    Demo(Demo),
    /// Read and check a whole spreadsheet, and send the records
    Upload(Upload),
    /// Report every problem in a spreadsheet, without sending anything
    Check(Check),
    /// Show what an upload would change in the service, and keep the plan
    Plan(Plan),
    /// Send what is approved of a plan, but for records that were changed in the service since
    Apply(Apply),
    /// Take a run back: the values from before it, and the opposite of its movements
    Undo(Undo),
    /// Match, fix and send a spreadsheet on a page in your browser
    Review(Review),
    /// Show how one row becomes a request: cells, conversion, fields and body
    Explain(Explain),
    /// Show how a spreadsheet is read: encoding, delimiter, sheets, header, columns and first rows
    View(View),
    /// Write a list of the service to a file, and check that it is complete
    Export(Export),
    /// Write a run's outcomes as a spreadsheet: the original columns and the outcome of each row
    Report(Report),
    Continue(Continue),
    /// Continue a stopped run
    Resume(Resume),
    Retry(Box<Retry>),
    /// Record whether requests with an unknown outcome were applied
    Resolve(Resolve),
    /// List, show, check, watch, stop and remove runs
    #[command(args_conflicts_with_subcommands = true)]
    Runs(Runs),
    /// Send queued runs, beside workers on other machines
    Work(Work),
    /// List, show, create and check mapping templates
    #[command(subcommand)]
    Template(Template),
    /// Run uploads and exports unattended: from an inbox, on a schedule, with notices
    #[command(subcommand)]
    Job(Job),
    /// Store the address and the tokens of a service in this profile
    Login(Login),
    /// Show the service, the workspace and the access level in use, and where tokens go
    #[command(hide = true)]
    Whoami(Whoami),
    /// Remove the stored tokens of this profile
    Logout,
    /// Check the machine, the settings and the service, and say how to correct what is wrong
    Doctor(Doctor),
    /// Run the service on this machine, for trials and rehearsals
    #[command(args_conflicts_with_subcommands = true)]
    Serve(Serve),
    /// Show the settings in force, and where each comes from
    #[command(hide = true)]
    Config,
    /// Print the JSON Schema of what a command prints with --json, or of a manifest
    Schema(Schema),
    /// Print the completions of a shell
    Completions(Completions),
    /// Print the licences of Sheetport and of everything by others that it contains
    Licenses,
    /// Write the pages of the manual
    Man(Man),
    /// Show the help of a command, or explain the code of a problem
    Help(Help),
}

impl Command {
    /// Returns the time zone given as a flag, if the command reads a sheet.
    pub fn time_zone(&self) -> Option<&str> {
        let of_sheet = match self {
            Command::Upload(args) => &args.input.of_sheet,
            Command::Check(args) => &args.input.of_sheet,
            Command::Plan(args) => &args.input.of_sheet,
            Command::Explain(args) => &args.input.of_sheet,
            Command::Retry(args) => &args.of_sheet,
            Command::Review(args) => &args.of_sheet,
            _ => return None,
        };
        of_sheet.keys().time_zone
    }

    /// Returns whether the command may send requests, or depends on the workspace of the tokens to judge like an upload.
    pub fn uses_tokens(&self) -> bool {
        !matches!(
            self,
            Command::Demo(_)
                | Command::View(_)
                | Command::Report(_)
                | Command::Template(_)
                | Command::Login(_)
                | Command::Logout
                | Command::Serve(_)
                | Command::Schema(_)
                | Command::Completions(_)
                | Command::Licenses
                | Command::Man(_)
                | Command::Help(_)
        )
    }
}

#[derive(Args, Debug)]
pub struct Demo {
    /// Folder for the files of the demo
    #[arg(long, value_name = "DIR", default_value = "sheetport-demo")]
    pub folder: PathBuf,
    /// Open the upload of the demo in the browser afterwards, to fix what was refused
    #[arg(long, conflicts_with = "json")]
    pub review: bool,
    /// Print the address of the page, without opening a browser
    #[arg(long, requires = "review")]
    pub no_open: bool,
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn retry_takes_digits_as_a_run_and_everything_else_as_a_file() {
        for (word, expected) in [
            ("42", RetryTarget::Run(42)),
            ("./42", RetryTarget::File(Path::new("./42"))),
            ("42.csv", RetryTarget::File(Path::new("42.csv"))),
            ("-", RetryTarget::File(Path::new("-"))),
            ("99999999999999999999", RetryTarget::File(Path::new("99999999999999999999"))),
        ] {
            let Ok(Cli { command: Command::Retry(retry), .. }) = Cli::try_parse_from(["sheetport", "retry", word])
            else {
                panic!("{word} is not accepted");
            };
            assert_eq!(retry.target(), expected, "{word}");
        }
    }
}

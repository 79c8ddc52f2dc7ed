//! One file a command: each reads as the story of what the command does.

mod check;
mod demo;
mod explain;
mod export;
mod input;
mod login;
mod own_service;
mod preview;
mod prune;
mod reading;
mod rehearse;
mod report;
mod reporting;
mod resolve;
mod resume;
mod retry;
mod retry_report;
mod runs;
mod sending;
mod serve;
mod serve_load;
mod shell;
mod signals;
mod summary;
mod template;
mod template_infer;
mod upload;
mod view;

use crate::cli::Command;
use crate::error::{Exit, Failure};
use crate::settings::Settings;

/// Runs one command to its exit code.
pub async fn run(command: Command, settings: Settings) -> Result<Exit, Failure> {
    match command {
        Command::Demo(args) => demo::run(&args, settings).await,
        Command::Upload(args) => upload::run(&args, &settings).await,
        Command::Check(args) => check::run(&args, &settings).await,
        Command::Explain(args) => explain::run(&args, &settings),
        Command::View(args) => view::run(&args, &settings),
        Command::Export(args) => export::run(&args, &settings).await,
        Command::Report(args) => report::run(&args, &settings).await,
        Command::Resume(args) => resume::run(&args, &settings).await,
        Command::Retry(args) => retry::run(&args, &settings).await,
        Command::Resolve(args) => resolve::run(&args, &settings).await,
        Command::Runs(args) => runs::run(&args, &settings).await,
        Command::Template(args) => template::run(&args, &settings).await,
        Command::Login(args) => login::login(&args, &settings).await,
        Command::Whoami => login::whoami(&settings).await,
        Command::Logout => login::logout(&settings),
        Command::Serve(args) => serve::run(args, &settings).await,
    }
}

/// Milliseconds since 1970, UTC: the clock of everything that is noted.
fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
pub fn no_runtime(error: std::io::Error) -> Failure {
    Failure::new(
        Exit::Fault,
        format!("the program can't start its workers: {error}"),
        "check the limits of processes and open files",
    )
}

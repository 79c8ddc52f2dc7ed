//! Sheetport moves business records between spreadsheets and the Workspace Business-Records REST API.
//!
//! This crate is the command line. The crates below `crates/` do the work; ARCHITECTURE.md says what each is for.
//!
//! | module | purpose |
//! |---|---|
//! | [`cli`] | flags and arguments |
//! | [`settings`] | settings of the command, resolved from flags, environment and file |
//! | [`commands`] | one file per command: parse, call one operation, print |
//! | [`ui`] | terminal output |
//! | [`error`] | exit codes and failures |

pub mod cli;
pub mod commands;
pub mod error;
pub mod settings;
pub mod ui;

use std::process::ExitCode;

use sheetport_language as language;
use sheetport_sheet as sheet;
use sheetport_telemetry as telemetry;
use sheetport_values::date;

use cli::{Cli, Command};
use error::{ErrorCode, Exit, Failure};
use settings::Settings;

/// Parses the command line, runs one command and returns its exit code.
pub fn run() -> ExitCode {
    if let Some(exit) = sheet::run_reader_if_asked() {
        return exit;
    }
    language::choose(&cli::language());
    let mut cli = match Cli::read() {
        Ok(cli) => cli,
        // Without arguments, the short help is the expected output.
        Err(_) if std::env::args_os().len() == 1 => {
            let written = ui::short_help(&cli::command().render_help());
            return ExitCode::from(if written { Exit::Done } else { Exit::Fault } as u8);
        }
        Err(error) => {
            if error.use_stderr() && std::env::args_os().any(|word| word == "--json") {
                ui::usage_as_json(&error);
            }
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            // Help on a full disk or a closed pipe.
            return ExitCode::from(if ui::usage(&error).is_ok() { exit } else { Exit::Fault } as u8);
        }
    };
    let json = cli.global.json;
    ui::start(&cli.global);
    // Help works where the settings are wrong.
    if let Command::Help(help) = &cli.command {
        return exit_code(commands::help(help, json), json);
    }
    if let Command::Job(job) = &cli.command
        && let Some(profile) = commands::profile_of_job(job)
    {
        cli.global.use_profile(profile);
    }
    let ended = Settings::resolve(cli.global, cli.command.uses_tokens()).and_then(|settings| {
        let zone = cli.command.time_zone().or(settings.context.defaults().time_zone);
        if let Some(zone) = zone.and_then(|name| date::zone(name).ok()) {
            date::choose_local_zone(zone);
        }
        let runtime = tokio::runtime::Runtime::new().map_err(no_runtime)?;
        telemetry::start(runtime.handle());
        let ended = runtime.block_on(commands::run(cli.command, settings));
        telemetry::finish();
        // Does not wait for a blocked read.
        runtime.shutdown_background();
        ended
    });
    exit_code(ended, json)
}

/// Prints the failure of a command, if any. Returns the exit code.
fn exit_code(ended: Result<Exit, Failure>, json: bool) -> ExitCode {
    let mut exit = ended.unwrap_or_else(|failure| {
        ui::failure(&failure, json);
        failure.exit()
    });
    if let Some((failure, is_told)) = ui::stdout_failure() {
        if is_told {
            ui::failure(&failure, false);
        }
        exit = if exit == Exit::Done { failure.exit() } else { exit };
    }
    ExitCode::from(exit as u8)
}

#[expect(clippy::needless_pass_by_value, reason = "passed to map_err")]
fn no_runtime(error: std::io::Error) -> Failure {
    let message = format!("worker threads can't be started: {error}");
    Failure::new(ErrorCode::Local, message, "check the limits on processes and open files")
}

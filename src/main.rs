//! Parses the command line, runs one command, and ends with its exit code.

use std::process::ExitCode;

use clap::Parser;
use sheetport::cli::Cli;
use sheetport::settings::Settings;
use sheetport::{commands, sheet, ui};

fn main() -> ExitCode {
    if let Some(exit) = sheet::run_reader_if_asked() {
        return exit;
    }
    let cli = Cli::parse();
    let json = cli.global.json;
    ui::start(&cli.global);
    let ended = Settings::resolve(cli.global).and_then(|settings| {
        let runtime = tokio::runtime::Runtime::new().map_err(commands::no_runtime)?;
        let ended = runtime.block_on(commands::run(cli.command, settings));
        // A read of a file that is blocked would keep the process from ending.
        runtime.shutdown_background();
        ended
    });
    let exit = ended.unwrap_or_else(|failure| {
        ui::failure(&failure, json);
        failure.exit
    });
    ExitCode::from(exit as u8)
}

//! Flags of `completions` and `man`, and the two lengths of help.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, Command};
use clap_complete::Shell;

use super::groups::grouped;
use crate::cli::choice::choice;

/// Heading of the options shared by all commands.
pub(in crate::cli) const GLOBAL: &str = "Global options";

const COMPLETIONS_HELP: &str = "\
Examples:
  sheetport completions bash > ~/.local/share/bash-completion/completions/sheetport
  sheetport completions zsh > ~/.zfunc/_sheetport      (with fpath+=~/.zfunc before compinit in ~/.zshrc)
  sheetport completions fish > ~/.config/fish/completions/sheetport.fish
  sheetport completions powershell | Out-String | Invoke-Expression      (in $PROFILE)";

#[derive(Args, Debug)]
#[command(after_help = COMPLETIONS_HELP)]
pub struct Completions {
    /// Shell that completes the words
    #[arg(value_parser = choice(shells()))]
    pub shell: Shell,
}

#[derive(Args, Debug)]
pub struct Man {
    /// Folder for the pages, created if it is missing
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

fn shells() -> [(PossibleValue, Shell); 4] {
    [("bash", Shell::Bash), ("zsh", Shell::Zsh), ("fish", Shell::Fish), ("powershell", Shell::PowerShell)]
        .map(|(name, shell)| (PossibleValue::new(name), shell))
}

/// Shortens `-h`: hides examples, exit codes and the shared options, which `--help` shows.
pub(in crate::cli) fn with_short_help(command: Command) -> Command {
    let mut command = grouped(command).mut_args(|argument| match argument.get_help_heading() {
        Some(GLOBAL) => argument.hide_short_help(true),
        _ => argument,
    });
    if let Some(text) = command.get_after_help().cloned() {
        command = command.after_long_help(text);
    }
    let more = match command.get_name() {
        "sheetport" => {
            "`sheetport COMMAND --help` describes a command, `sheetport --help` has the global options and the exit codes."
        }
        _ => "`--help` has all flags, examples and the global options.",
    };
    command.after_help(more).mut_subcommands(with_short_help)
}

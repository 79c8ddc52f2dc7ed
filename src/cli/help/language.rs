//! The language of the help.

use clap::builder::StyledStr;
use clap::{Arg, Command};
use sheetport_language::catalogue;

/// Variables of the environment that name the language, the most important one first.
const VARIABLES: [&str; 4] = ["SHEETPORT_LANG", "LC_ALL", "LC_MESSAGES", "LANG"];

/// What paragraphs of examples begin with.
const EXAMPLES: &str = "Examples:";

/// Returns the language that the command line or the environment names. It is known before the command line is parsed, whose
/// errors are in this language, too.
pub fn language() -> String {
    let mut words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = words.next().filter(|word| word != "--") {
        match word.strip_prefix("--lang") {
            Some("") => return words.next().unwrap_or_default(),
            Some(value) if value.starts_with('=') => return value[1..].to_owned(),
            _ => {}
        }
    }
    let set = VARIABLES.iter().filter_map(|name| std::env::var(name).ok());
    set.into_iter().find(|value| !value.is_empty()).unwrap_or_default()
}

/// Returns the command line with its texts in the language of the process.
pub(in crate::cli) fn translated(command: Command) -> Command {
    if catalogue().is_none() {
        return command;
    }
    rewritten(command, &mut |text| {
        catalogue().map_or_else(|| text.to_owned(), |known| known.message(text).into_owned())
    })
}

/// Returns the texts of a command line that people read.
pub fn texts(command: Command) -> Vec<String> {
    let mut found = Vec::new();
    rewritten(command, &mut |text| {
        found.push(text.to_owned());
        text.to_owned()
    });
    found
}

/// Replaces each text of a command and of those below it.
fn rewritten(mut command: Command, replace: &mut dyn FnMut(&str) -> String) -> Command {
    let mut new = |text: Option<&StyledStr>| text.map(|text| paragraphs(&text.to_string(), replace));
    let texts = (
        new(command.get_about()),
        new(command.get_long_about()),
        new(command.get_after_help()),
        new(command.get_after_long_help()),
    );
    if let Some(text) = texts.0 {
        command = command.about(text);
    }
    if let Some(text) = texts.1 {
        command = command.long_about(text);
    }
    if let Some(text) = texts.2 {
        command = command.after_help(text);
    }
    if let Some(text) = texts.3 {
        command = command.after_long_help(text);
    }
    command
        .mut_args(|argument| rewritten_argument(argument, replace))
        .mut_subcommands(|inner| rewritten(inner, replace))
}

/// Replaces each paragraph of a text, except examples.
fn paragraphs(text: &str, replace: &mut dyn FnMut(&str) -> String) -> String {
    let mut new = |text: &str| if text.starts_with(EXAMPLES) { text.to_owned() } else { replace(text) };
    text.split("\n\n").map(&mut new).collect::<Vec<_>>().join("\n\n")
}

fn rewritten_argument(mut argument: Arg, replace: &mut dyn FnMut(&str) -> String) -> Arg {
    // The value parser owns these texts; they are translated when they are printed.
    for meaning in argument.get_possible_values().iter().filter_map(|value| value.get_help()) {
        replace(&meaning.to_string());
    }
    if let Some(text) = argument.get_help().map(ToString::to_string) {
        argument = argument.help(paragraphs(&text, replace));
    }
    if let Some(text) = argument.get_long_help().map(ToString::to_string) {
        argument = argument.long_help(paragraphs(&text, replace));
    }
    if let Some(heading) = argument.get_help_heading().and_then(|heading| catalogue()?.word(heading)) {
        argument = argument.help_heading(heading);
    }
    argument
}

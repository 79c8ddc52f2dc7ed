//! Terminal output. Results go to stdout; progress, remarks and errors go to stderr. Text of others does nothing there: control
//! characters are shown, and a line stays one line.

pub mod accounting;
pub mod approval;
pub mod changes;
mod columns;
mod data;
pub mod inference;
mod log;
pub mod markdown;
pub mod missing;
pub mod problems;
pub mod profile;
pub mod progress;
pub mod style;
mod terminal;
pub mod view;

use std::borrow::Cow;
use std::fmt::Display;
use std::io::Write;
use std::sync::OnceLock;

use serde::Serialize;
use sheetport_files::visible::{escaped_json, one_line, visible};
use sheetport_language::{self as language, message, say};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::cli::{Color, Global, LogFormat};
use crate::error::{ErrorCode, Failure};

pub use self::data::{csv_data, data};

/// Sets up colors and logging for the whole process.
pub fn start(global: &Global) {
    let is_plain = terminal::set_plain(global.plain);
    let choice = match global.color {
        Color::Auto if is_plain => anstream::ColorChoice::Never,
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
    let level = match global.verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    // What a dependency notices is either in one of our messages or no concern of the user. With -v its warnings are shown, but no
    // details, because they could contain secrets.
    let of_others = if global.verbose == 0 { LevelFilter::OFF } else { LevelFilter::WARN };
    let filter = Targets::new().with_default(of_others).with_target(env!("CARGO_CRATE_NAME"), level);
    let lines = tracing_subscriber::fmt::layer().with_target(false).with_ansi(false);
    let registry = tracing_subscriber::registry().with(filter);
    match global.log_format {
        LogFormat::Text => registry.with(lines.with_writer(log::text)).init(),
        LogFormat::Json => registry.with(lines.json().flatten_event(true).with_writer(log::json)).init(),
    }
}

/// The first error of writing to stdout.
static STDOUT_ERROR: OnceLock<std::io::Error> = OnceLock::new();

/// Prints a line to stdout. A write error, for example because `head` closed the pipe, is stored and reported at the end of the
/// command.
pub fn line(text: impl Display) {
    print_to_stdout(&terminal::for_stdout(&shown(text)));
}

/// Prints lines of data, such as a template, to stdout. Unchanged, except to a terminal.
pub fn text(text: &str) {
    let mut output = data();
    if let Err(error) = writeln!(output, "{}", text.trim_end()).and_then(|()| output.flush()) {
        let _ = STDOUT_ERROR.set(error);
    }
}

fn print_to_stdout(line: &str) {
    if let Err(error) = writeln!(anstream::stdout(), "{line}") {
        let _ = STDOUT_ERROR.set(error);
    }
}

/// Returns a line for the terminal.
fn shown(text: impl Display) -> String {
    style::translated(&text.to_string(), |text| one_line(text).into_owned())
}

/// Returns the failure if something could not be written to stdout, and whether to say so: not if the program that reads the
/// output has ended, such as `head`.
pub fn stdout_failure() -> Option<(Failure, bool)> {
    let error = std::io::stdout().flush().err();
    let error = STDOUT_ERROR.get().or(error.as_ref())?;
    let message = format!("standard output can't be written: {error}");
    let failure = Failure::new(ErrorCode::Local, message, "what was sent is saved; free some space");
    Some((failure, error.kind() != std::io::ErrorKind::BrokenPipe))
}

/// Prints a heading to stdout.
pub fn heading(text: &str) {
    let strong = style::STRONG;
    line("");
    line(format_args!("{strong}{}{strong:#}", message(text)));
}

/// Formats the next command.
fn next_line(next: &str) -> String {
    let strong = style::STRONG;
    say!("  {strong}Next{strong:#}    {next}")
}

/// Prints the next command to stdout, if any, on one line for copying.
pub fn next(next: Option<&str>) {
    if let Some(next) = next {
        print_to_stdout(&shown(next_line(next)));
    }
}

/// Prints the next command to stderr, for a command whose stdout is data.
pub fn next_remark(next: Option<&str>) {
    if let Some(next) = next {
        remark_on_one_line(next_line(next));
    }
}

/// Prints a remark to stderr.
pub fn remark(text: impl Display) {
    let _ = writeln!(anstream::stderr(), "{}", terminal::for_stderr(&shown(message(&text.to_string()))));
}

/// Prints a remark to stderr on one line, for copying.
fn remark_on_one_line(text: impl Display) {
    let _ = writeln!(anstream::stderr(), "{}", shown(text));
}

/// Asks on stderr and returns a line from stdin in lower case, or `None` at the end of the input.
pub fn ask(question: &str) -> Option<String> {
    ask_as_written(question).map(|answer| answer.to_lowercase())
}

/// Asks like [`ask`], and returns the answer unchanged.
pub fn ask_as_written(question: &str) -> Option<String> {
    let _ = write!(anstream::stderr(), "{} ", shown(question));
    let mut answer = String::new();
    match std::io::stdin().read_line(&mut answer) {
        Ok(1..) => Some(answer.trim().to_owned()),
        Ok(0) | Err(_) => None,
    }
}

/// Prints a JSON object to stdout.
pub fn json(value: &impl Serialize) {
    if let Ok(text) = serde_json::to_string(value) {
        print_to_stdout(&escaped_json(&text));
    }
}

/// Prints the help of a command to stdout.
pub fn help(text: &clap::builder::StyledStr) {
    print_to_stdout(language::help(&text.ansi().to_string()).trim_end());
}

/// Prints the short help. Returns whether writing succeeded.
pub fn short_help(text: &clap::builder::StyledStr) -> bool {
    writeln!(anstream::stdout(), "{}", language::help(&text.ansi().to_string()).trim_end()).is_ok()
}

/// Prints an error in the command line to stdout, in the format of command errors.
pub fn usage_as_json(error: &clap::Error) {
    let text = error.render().to_string();
    let mut parts = text.trim_start_matches("error: ").splitn(2, "\n\n");
    let message = parts.next().unwrap_or_default().lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let tip = parts.next().and_then(|rest| rest.lines().find_map(|line| line.trim().strip_prefix("tip: ")));
    let hint = tip.unwrap_or("add --help to the command");
    let failure = Failure::new(ErrorCode::Usage, one_line(&message), one_line(hint));
    json(&serde_json::json!({"error": failure.json(), "next": null}));
}

/// Prints an error in the command line, or the requested help. Without styles if an argument contains control characters, as file
/// names may.
pub fn usage(error: &clap::Error) -> std::io::Result<()> {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let hostile: Vec<String> = words.filter(|word| matches!(one_line(word), Cow::Owned(_))).collect();
    let is_english = language::catalogue().is_none();
    if hostile.is_empty() && !error.use_stderr() && !is_english {
        return write!(anstream::stdout(), "{}", language::help(&error.render().ansi().to_string()));
    }
    if hostile.is_empty() && is_english {
        return error.print();
    }
    let mut text = language::usage(&error.render().to_string());
    for word in &hostile {
        // The message may quote the value of a flag alone.
        let value = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
        text = text.replace(word, &one_line(word)).replace(value, &one_line(value));
    }
    match error.use_stderr() {
        true => write!(std::io::stderr(), "{}", visible(&text)),
        false => write!(std::io::stdout(), "{}", visible(&text)),
    }
}

/// Prints a failure and the hint to stderr, and with `--json` as an object to stdout.
pub fn failure(failure: &Failure, as_json: bool) {
    if as_json {
        let mut object = serde_json::json!({"error": failure.json(), "next": failure.next});
        if let Some((run, accounting)) = &failure.run {
            object["run"] = (*run).into();
            // Serializing numbers can't fail.
            object["accounting"] = serde_json::to_value(accounting).unwrap_or_default();
        }
        json(&object);
    }
    let error = style::ERROR;
    let text = language::lines(&failure.message);
    let mut lines = text.lines();
    remark(say!("{error}error{error:#}: {}", lines.next().unwrap_or_default()));
    lines.for_each(remark);
    if let Some(words) = &failure.hint {
        hint(words);
    }
    if let Some((run, Some(accounting))) = &failure.run {
        let counts = accounting.states().into_iter().filter(|(_, count)| *count > 0);
        let counts = counts.map(|(state, count)| format!("{} {}", thousands(count), language::word(state.name())));
        remark(say!("run {run}: {}", counts.collect::<Vec<_>>().join(", ")));
    }
    if let Some(next) = &failure.next {
        remark_on_one_line(say!("next: {next}"));
    }
}

/// Prints advice on the previous message to stderr.
pub fn hint(words: &str) {
    let hint = style::HINT;
    // One line, because the hint may contain a command to copy.
    remark_on_one_line(say!("{hint}hint{hint:#}: {}", message(words)));
}

pub use sheetport_language::{counted, thousands};

/// Returns a label in the language of the process, padded to a width, which other languages than English exceed.
pub fn label(english: &str, width: usize) -> String {
    let width = if language::catalogue().is_some() { width + 5 } else { width };
    format!("{:<width$}", language::word(english))
}

/// Formats a heading and a list as lines, wrapped with the same indent: `heading a, b, c`. A long list ends with the number
/// of further items.
pub fn list(indent: &str, heading: &str, items: &[String]) -> Vec<String> {
    list_of(60, indent, heading, items)
}

/// Formats a list like [`list`], with the first few items alone, for what is only to be noticed.
pub fn short_list(indent: &str, heading: &str, items: &[String]) -> Vec<String> {
    list_of(12, indent, heading, items)
}

fn list_of(most: usize, indent: &str, heading: &str, items: &[String]) -> Vec<String> {
    let most_columns = terminal::table_width();
    let mut lines = Vec::new();
    let mut line = format!("{indent}{}", language::word(heading));
    let further = items.len().saturating_sub(most);
    let more = (further > 0).then(|| say!("and {} more", thousands(further as u64)));
    let shown = items.len().min(most);
    for (place, item) in items.iter().take(most).chain(&more).enumerate() {
        let item = columns::cut(item, most_columns);
        let comma = if place + 1 < shown { "," } else { "" };
        let length = columns::width(&item) + comma.len() + 1;
        if columns::width(&line) + length > most_columns && line.len() > indent.len() {
            lines.push(std::mem::replace(&mut line, format!("{indent}{item}{comma}")));
        } else {
            line.push_str(&format!(" {item}{comma}"));
        }
    }
    lines.push(line);
    lines
}

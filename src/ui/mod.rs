//! All that speaks to a terminal. Results go to stdout; progress, remarks and errors go to stderr.

pub mod accounting;
mod columns;
pub mod inference;
pub mod problems;
pub mod progress;
pub mod style;
pub mod view;

use std::io::Write;

use serde::Serialize;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::cli::{Color, Global, LogFormat};
use crate::error::Failure;

/// Sets colours and logging up for the whole process.
pub fn start(global: &Global) {
    let choice = match global.color {
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
    let ansi = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    // Of what we are built on, only warnings: their details are not ours to keep secrets out of.
    let filter = Targets::new().with_default(LevelFilter::WARN).with_target(env!("CARGO_CRATE_NAME"), level);
    let lines = tracing_subscriber::fmt::layer().with_target(false).with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(filter);
    match global.log_format {
        LogFormat::Text => registry.with(lines.with_ansi(ansi)).init(),
        LogFormat::Json => registry.with(lines.json().flatten_event(true)).init(),
    }
}

/// A line on stdout. A reader that has closed it, such as `head`, is no fault.
pub fn line(text: impl std::fmt::Display) {
    let _ = writeln!(anstream::stdout(), "{text}");
}

/// Standard output for data that is not for a person: buffered, and never coloured.
pub fn data() -> std::io::BufWriter<std::io::StdoutLock<'static>> {
    std::io::BufWriter::with_capacity(64 * 1024, std::io::stdout().lock())
}

/// A heading over the lines that follow, on stdout.
pub fn heading(text: &str) {
    let strong = style::STRONG;
    line(format_args!("\n{strong}{text}{strong:#}"));
}

/// A remark for the person, on stderr.
pub fn remark(text: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Asks on stderr and reads a line from stdin, in lower case. Nothing: there is no more to read.
pub fn ask(question: &str) -> Option<String> {
    ask_as_written(question).map(|answer| answer.to_lowercase())
}

/// The same, as the person wrote it.
pub fn ask_as_written(question: &str) -> Option<String> {
    let _ = write!(anstream::stderr(), "{question} ");
    let mut answer = String::new();
    match std::io::stdin().read_line(&mut answer) {
        Ok(1..) => Some(answer.trim().to_owned()),
        Ok(0) | Err(_) => None,
    }
}

/// One JSON object on stdout.
pub fn json(value: &impl Serialize) {
    if let Ok(text) = serde_json::to_string(value) {
        line(text);
    }
}

/// What went wrong and what to do, on stderr; under `--json` the same as an object on stdout.
pub fn failure(failure: &Failure, as_json: bool) {
    if as_json {
        json(
            &serde_json::json!({"error": {"message": failure.message, "hint": failure.hint, "exit": failure.exit as u8}}),
        );
    }
    let error = style::ERROR;
    remark(format_args!("{error}error{error:#}: {}", failure.message));
    if let Some(words) = &failure.hint {
        hint(words);
    }
}

/// What to do about something that was just said, on stderr.
pub fn hint(words: &str) {
    let hint = style::HINT;
    remark(format_args!("{hint}hint{hint:#}: {words}"));
}

/// A number with its thousands apart: 12,345.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 record`, `2 records`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// Items after a heading, as many on a line as fit: `heading a, b, c`. Further lines are indented like the first.
pub fn list(indent: &str, heading: &str, items: &[String]) -> String {
    const WIDTH: usize = 100;
    let mut text = format!("{indent}{heading}");
    let mut width = columns::width(&text);
    for (place, item) in items.iter().enumerate() {
        let comma = if place + 1 < items.len() { "," } else { "" };
        let length = columns::width(item) + comma.len() + 1;
        if width + length > WIDTH && width > indent.len() {
            text.push_str(&format!("\n{indent}{item}{comma}"));
            width = indent.len() + length - 1;
        } else {
            text.push_str(&format!(" {item}{comma}"));
            width += length;
        }
    }
    text
}

//! `help`: the help of a command, or the explanation of a problem code.
//! `terminal` describes the commands for shells and programs.

pub(super) mod terminal;

use serde_json::{Value, json};
use sheetport_documents::nearest;
use sheetport_findings::{Code, Group};
use sheetport_language::{Explanation, Language, chosen, word};

use crate::cli::{Help, command};
use crate::error::{ErrorCode, Exit, Failure};
use crate::ui::{self, style};

/// The topic with the list of all codes.
const CODES: &str = "codes";

/// Prints the help of a topic. Works without settings, so that invalid settings do no harm.
pub fn help(args: &Help, as_json: bool) -> Result<Exit, Failure> {
    match args.topic.as_slice() {
        [code] if code == CODES => list(as_json),
        topic => match topic.iter().map(|name| Code::named(name)).collect::<Option<Vec<_>>>() {
            Some(codes) if !codes.is_empty() => show(&codes, as_json),
            _ => of_command(topic)?,
        },
    }
    Ok(Exit::Done)
}

fn list(as_json: bool) {
    if as_json {
        return print_json(Code::ALL);
    }
    let width = Code::ALL.iter().map(|code| code.name().len()).max().unwrap_or_default();
    let strong = style::STRONG;
    for group in Group::ALL {
        ui::heading(chosen().group_title(*group));
        for code in group.codes() {
            let cause = plain(&chosen().explanation(*code).cause);
            ui::line(format_args!("  {strong}{code:width$}{strong:#}  {}", first_sentence(&cause)));
        }
    }
    ui::next(Some("sheetport help CODE"));
}

fn show(codes: &[Code], as_json: bool) {
    if as_json {
        return print_json(codes);
    }
    let strong = style::STRONG;
    for code in codes {
        let Explanation { cause, example, remedy, .. } = chosen().explanation(*code);
        ui::line(format_args!("{strong}{code}{strong:#}"));
        let question = code.asks().map(|asks| chosen().question(asks, *code));
        let texts = [("Cause", cause), ("Example", example), ("Remedy", remedy)];
        for (name, text) in texts.into_iter().chain(question.iter().map(|text| ("Question", text))) {
            for (index, line) in wrapped(&plain(text)).into_iter().enumerate() {
                let name = if index == 0 { word(name) } else { "" };
                ui::line(format_args!("  {strong}{name:<9}{strong:#}{line}"));
            }
        }
    }
}

/// Prints the explanations in English, like all JSON.
fn print_json(codes: &[Code]) {
    let explained = |code: &Code| -> Value {
        let Explanation { title, cause, example, remedy } = Language::default().explanation(*code);
        json!({"code": code, "title": title, "cause": cause, "example": example, "remedy": remedy})
    };
    ui::json(&json!({ "command": "help", "codes": codes.iter().map(explained).collect::<Vec<_>>() }));
}

/// Returns a text without the marks of Markdown.
fn plain(text: &str) -> String {
    text.replace('`', "'").replace('*', "")
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.')
}

/// Wraps a text at 80 characters. Longer words stay whole.
fn wrapped(text: &str) -> Vec<String> {
    const WIDTH: usize = 80;
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        if let Some(line) = lines.last_mut().filter(|line| line.is_empty() || line.len() + word.len() < WIDTH) {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Prints the help of a command, or of Sheetport for an empty topic.
fn of_command(topic: &[String]) -> Result<(), Failure> {
    let mut root = command();
    root.build();
    let mut found = &mut root;
    for name in topic {
        let names: Vec<String> = found.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        found = found.find_subcommand_mut(name).ok_or_else(|| unknown(name, names))?;
    }
    ui::help(&found.render_long_help());
    Ok(())
}

fn unknown(topic: &str, commands: Vec<String>) -> Failure {
    let codes = Code::ALL.iter().map(|code| code.name());
    let hint = match nearest(topic, codes.chain(commands.iter().map(String::as_str))) {
        Some(nearest) => format!("did you mean `sheetport help {nearest}`?"),
        None => "`sheetport help` lists the commands, `sheetport help codes` the codes of problems".to_owned(),
    };
    Failure::new(ErrorCode::Usage, format!("there is no command and no code '{topic}'"), hint)
}

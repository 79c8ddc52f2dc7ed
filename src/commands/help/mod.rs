//! `help`: the help of a command, or the explanation of a problem code.
//! `terminal` describes the commands for shells and programs.

pub(super) mod terminal;

use sheetport_findings::{ExplainedCode, code_groups, codes, explain_code, nearest_topic};
use sheetport_language::{message, word};

use crate::cli::{Help, command};
use crate::error::{Exit, Failure};
use crate::ui::{self, style};

/// The topic with the list of all codes.
const CODES: &str = "codes";

/// Prints the help of a topic. Works without settings, so that invalid settings do no harm.
pub fn help(args: &Help, as_json: bool) -> Result<Exit, Failure> {
    match args.topic.as_slice() {
        [code] if code == CODES => list(as_json),
        topic => match topic.iter().map(|code| explain_code(code)).collect::<Option<Vec<_>>>() {
            Some(codes) if !codes.is_empty() => show(&codes, as_json),
            _ => of_command(topic)?,
        },
    }
    Ok(Exit::Done)
}

fn list(as_json: bool) {
    if as_json {
        return print_json(&codes().collect::<Vec<_>>());
    }
    let width = codes().map(|explanation| explanation.code.len()).max().unwrap_or_default();
    let strong = style::STRONG;
    for group in code_groups() {
        ui::heading(&group.title);
        for ExplainedCode { code, cause, .. } in &group.codes {
            ui::line(format_args!("  {strong}{code:width$}{strong:#}  {}", first_sentence(&plain(&message(cause)))));
        }
    }
    ui::next(Some("sheetport help CODE"));
}

fn show(codes: &[&ExplainedCode], as_json: bool) {
    if as_json {
        return print_json(codes);
    }
    let strong = style::STRONG;
    for ExplainedCode { code, cause, example, remedy, .. } in codes {
        ui::line(format_args!("{strong}{code}{strong:#}"));
        for (name, text) in [("Cause", cause), ("Example", example), ("Remedy", remedy)] {
            for (index, line) in wrapped(&plain(&message(text))).into_iter().enumerate() {
                let name = if index == 0 { word(name) } else { "" };
                ui::line(format_args!("  {strong}{name:<9}{strong:#}{line}"));
            }
        }
    }
}

fn print_json(codes: &[&ExplainedCode]) {
    ui::json(&serde_json::json!({ "command": "help", "codes": codes }));
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
    let hint = match nearest_topic(topic, &commands) {
        Some(nearest) => format!("did you mean `sheetport help {nearest}`?"),
        None => "`sheetport help` lists the commands, `sheetport help codes` the codes of problems".to_owned(),
    };
    Failure::new(Exit::Usage, format!("there is no command and no code '{topic}'"), hint)
}

//! `help`: the help of a command, or the explanation of a problem code, a key of templates, a state or an exit code.
//! `terminal` describes the commands for shells and programs.

mod keys;
mod paragraphs;
pub(super) mod terminal;

use serde_json::{Value, json};
use sheetport_documents::nearest;
use sheetport_findings::{Code, Group};
use sheetport_language::{Explanation, Language, chosen, message, word};
use sheetport_ledger::RecordState;

use self::keys::Key;
use self::paragraphs::{paragraph, title};
use crate::cli::{Help, command};
use crate::error::{EXIT_CODES, ErrorCode, Exit, Failure};
use crate::ui::{self, style};

/// The topics with the list of all codes, and of all keys of templates.
const CODES: &str = "codes";
const KEYS: &str = "keys";

/// What a topic names, beside commands.
#[derive(Default)]
struct Topic {
    codes: Vec<Code>,
    keys: Vec<Key>,
    state: Option<RecordState>,
    /// An exit code, and what it means.
    exit: Option<(u8, &'static str)>,
}

/// Prints the help of a topic. Works without settings, so that invalid settings do no harm.
pub fn help(args: &Help, as_json: bool) -> Result<Exit, Failure> {
    match args.topic.as_slice() {
        [code] if code == CODES && !as_json => list(),
        [key] if key == KEYS && !as_json => list_keys(),
        words => {
            let topic = Topic::of(words);
            match words {
                _ if topic.is_empty() => of_command(words)?,
                _ if as_json => topic.print_json(),
                // A command explains itself; its name may be that of a key, too.
                [name] if command().find_subcommand(name).is_some() => of_command(words)?,
                _ => topic.show(),
            }
        }
    }
    Ok(Exit::Done)
}

impl Topic {
    fn of(words: &[String]) -> Topic {
        match words {
            [name] if name == CODES => Topic { codes: Code::ALL.to_vec(), ..Topic::default() },
            [name] if name == KEYS => Topic { keys: keys::all(), ..Topic::default() },
            [name] => Topic {
                codes: Code::named(name).into_iter().collect(),
                keys: keys::named(name),
                state: RecordState::from_name(name),
                exit: name.parse().ok().and_then(meaning_of_exit),
            },
            // Several codes, as a report lists them.
            names => {
                let codes = names.iter().map(|name| Code::named(name)).collect::<Option<Vec<_>>>();
                Topic { codes: codes.unwrap_or_default(), ..Topic::default() }
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.codes.is_empty() && self.keys.is_empty() && self.state.is_none() && self.exit.is_none()
    }

    fn show(&self) {
        show(&self.codes);
        self.keys.iter().for_each(Key::show);
        if let Some(state) = self.state {
            title(state.name(), word("a state of records, in summaries and reports"));
            paragraph("Meaning", &message(state.meaning()));
        }
        if let Some((code, meaning)) = self.exit {
            title(&code.to_string(), word("an exit code"));
            paragraph("Meaning", meaning);
        }
    }

    /// Prints the explanations in English, like all JSON.
    fn print_json(&self) {
        let explained = |code: &Code| -> Value {
            let Explanation { title, cause, example, remedy } = Language::default().explanation(*code);
            json!({"code": code, "title": title, "cause": cause, "example": example, "remedy": remedy})
        };
        ui::json(&json!({
            "command": "help",
            "codes": self.codes.iter().map(explained).collect::<Vec<_>>(),
            "keys": self.keys.iter().map(Key::json).collect::<Vec<_>>(),
            "state": self.state.map(|state| json!({"name": state.name(), "meaning": state.meaning()})),
            "exit": self.exit.map(|(code, meaning)| json!({"code": code, "meaning": meaning})),
        }));
    }
}

/// Returns an exit code with its line of `sheetport --help`.
fn meaning_of_exit(code: u8) -> Option<(u8, &'static str)> {
    let lines = EXIT_CODES.lines().filter_map(|line| line.trim().split_once("  "));
    let is_it = |codes: &str| codes.split(", ").any(|one| one.parse() == Ok(code));
    lines.filter(|(codes, _)| is_it(codes)).map(|(_, meaning)| (code, meaning.trim())).next()
}

fn list_keys() {
    let keys = keys::all();
    let width = keys.iter().map(|key| key.full_name().len()).max().unwrap_or_default();
    let strong = style::STRONG;
    for key in &keys {
        ui::line(format_args!("  {strong}{:width$}{strong:#}  {}", key.full_name(), first_part(key.description())));
    }
    ui::next(Some("sheetport help KEY"));
}

fn list() {
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

fn show(codes: &[Code]) {
    for code in codes {
        let Explanation { cause, example, remedy, .. } = chosen().explanation(*code);
        title(code.name(), word("a code of problems"));
        let question = code.asks().map(|asks| chosen().question(asks, *code));
        let texts = [("Cause", cause), ("Example", example), ("Remedy", remedy)];
        for (name, text) in texts.into_iter().chain(question.iter().map(|text| ("Question", text))) {
            paragraph(name, &plain(text));
        }
    }
}

/// Returns a text without the marks of Markdown.
fn plain(text: &str) -> String {
    text.replace('`', "'").replace('*', "")
}

/// Returns a text up to its first semicolon or colon.
fn first_part(text: &str) -> &str {
    text.split_once([';', ':']).map_or(text, |(first, _)| first)
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.')
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
    let keys = keys::all();
    let keys = keys.iter().map(|key| key.name.as_str());
    let hint = match nearest(topic, codes.chain(commands.iter().map(String::as_str)).chain(keys)) {
        Some(nearest) => format!("did you mean `sheetport help {nearest}`?"),
        None => "`sheetport help` lists the commands, `sheetport help codes` the codes of problems, `sheetport help keys` the keys of templates".to_owned(),
    };
    Failure::new(ErrorCode::Usage, format!("there is no command, code, key, state or exit code '{topic}'"), hint)
}

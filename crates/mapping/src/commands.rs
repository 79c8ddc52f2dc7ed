//! The words of a column that says for each row what is done with its record.
//!
//! The column is mapped like a field, by `[fields.command]`, so that its words can be translated and be questions of a person. It is
//! never sent.

use sheetport_documents::nearest;
use sheetport_findings::Command;
use sheetport_records::{Field, JsonType, RecordKind};
use sheetport_values::normalize::folded_word;

use super::model::{Constant, OnBlank, Otherwise, Place, Source, Template, Translate};
use super::modes::why_not_only;
use super::problem::Cause;

/// The field to which a template maps the column.
pub static COMMAND: Field =
    Field::optional("command", JsonType::String, "what is done with the record: create, update or skip; not sent");

/// What a word asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Do(Command),
    Delete,
}

/// The words, in lower case. Those of the programs that export such columns, and of people who write them.
const WORDS: &[(&str, Word)] = &[
    ("create", Word::Do(Command::Create)),
    ("new", Word::Do(Command::Create)),
    ("add", Word::Do(Command::Create)),
    ("insert", Word::Do(Command::Create)),
    ("neu", Word::Do(Command::Create)),
    ("anlegen", Word::Do(Command::Create)),
    ("erstellen", Word::Do(Command::Create)),
    ("hinzufügen", Word::Do(Command::Create)),
    ("update", Word::Do(Command::Update)),
    ("change", Word::Do(Command::Update)),
    ("modify", Word::Do(Command::Update)),
    ("ändern", Word::Do(Command::Update)),
    ("aktualisieren", Word::Do(Command::Update)),
    ("merge", Word::Do(Command::Merge)),
    ("upsert", Word::Do(Command::Merge)),
    ("zusammenführen", Word::Do(Command::Merge)),
    ("skip", Word::Do(Command::Skip)),
    ("ignore", Word::Do(Command::Skip)),
    ("überspringen", Word::Do(Command::Skip)),
    ("ignorieren", Word::Do(Command::Skip)),
    ("auslassen", Word::Do(Command::Skip)),
    ("delete", Word::Delete),
    ("remove", Word::Delete),
    ("löschen", Word::Delete),
    ("entfernen", Word::Delete),
];

/// The names of such a column, in lower case.
const HEADERS: [&str; 4] = ["command", "befehl", "kommando", "aktion"];

/// Returns the command that a text stands for, in any case.
pub(super) fn command(text: &str, kind: RecordKind) -> Result<Command, Cause> {
    match word(text) {
        Some(Word::Do(command)) => match command.only().and_then(|only| why_not_only(kind, only)) {
            Some(why) => Err(Cause::CommandRefused(why)),
            None => Ok(command),
        },
        Some(Word::Delete) => Err(Cause::NoDeletion),
        None => {
            let folded = folded_word(text.trim());
            Err(Cause::NoCommand { nearest: nearest(&folded, WORDS.iter().map(|(word, _)| *word)).map(str::to_owned) })
        }
    }
}

fn word(text: &str) -> Option<Word> {
    let folded = folded_word(text.trim());
    WORDS.iter().find(|(known, _)| *known == folded).map(|(_, word)| *word)
}

/// Whether a column with this header and these different texts says what is done with each record.
pub fn is_command_column<'v>(header: &str, mut texts: impl Iterator<Item = &'v str>) -> bool {
    HEADERS.contains(&folded_word(header.trim()).as_str()) && texts.all(|text| word(text).is_some())
}

impl Template {
    /// Whether rows can say what is done with their records.
    pub fn has_commands(&self) -> bool {
        self.fields.iter().any(|rule| rule.place == Place::Command)
    }

    /// Returns the first word that the template itself gives as a command, and that is none.
    pub(super) fn wrong_command(&self) -> Option<(String, Cause)> {
        let rule = self.fields.iter().find(|rule| rule.place == Place::Command)?;
        let mut given: Vec<&Constant> = Vec::new();
        if let Source::Constant(constant) = &rule.source {
            given.push(constant);
        }
        if let OnBlank::Default(constant) = &rule.on_blank {
            given.push(constant);
        }
        if let Otherwise::Value(constant) = &rule.otherwise {
            given.push(constant);
        }
        if let Some(Translate::Map(map)) = &rule.translate {
            given.extend(map.entries.iter().map(|(_, to)| to));
        }
        given.into_iter().find_map(|constant| match constant {
            Constant::Text(text) => command(text, self.record).err().map(|cause| (text.clone(), cause)),
            Constant::Null => None,
            Constant::Number(number) => Some((number.to_string(), Cause::NoCommand { nearest: None })),
            Constant::Boolean(boolean) => Some((boolean.to_string(), Cause::NoCommand { nearest: None })),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_understood_in_any_case() {
        for (text, expected) in [
            ("NEW", Command::Create),
            (" add ", Command::Create),
            ("Ändern", Command::Update),
            ("MERGE", Command::Merge),
            ("Ignore", Command::Skip),
            ("ÜBERSPRINGEN", Command::Skip),
        ] {
            assert_eq!(command(text, RecordKind::Item), Ok(expected), "{text}");
        }
        assert_eq!(command("LÖSCHEN", RecordKind::Item), Err(Cause::NoDeletion));
        assert_eq!(command("updte", RecordKind::Item), Err(Cause::NoCommand { nearest: Some("update".to_owned()) }));
        assert!(matches!(command("new", RecordKind::Order), Err(Cause::CommandRefused(_))));
        assert!(matches!(command("update", RecordKind::Invoice), Err(Cause::CommandRefused(_))));
    }

    #[test]
    fn a_column_of_other_words_has_no_commands() {
        assert!(is_command_column("Command", ["NEW", "merge"].into_iter()));
        assert!(!is_command_column("Command", ["NEW", "left turn"].into_iter()));
        assert!(!is_command_column("Status", ["new"].into_iter()));
    }
}

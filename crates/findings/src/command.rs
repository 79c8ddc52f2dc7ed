//! What the row of a record says is to be done with it.

use serde::{Deserialize, Serialize};

use super::only::Only;

/// A command in the sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Send the record if the service does not have it yet.
    Create,
    /// Send the record if the service has it.
    Update,
    /// Send the record in either case.
    Merge,
    /// Leave the record out.
    Skip,
}

impl Command {
    pub const ALL: [Command; 4] = [Command::Create, Command::Update, Command::Merge, Command::Skip];

    /// Returns the name, as in templates.
    pub fn name(self) -> &'static str {
        match self {
            Command::Create => "create",
            Command::Update => "update",
            Command::Merge => "merge",
            Command::Skip => "skip",
        }
    }

    pub fn named(name: &str) -> Option<Command> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }

    /// Returns which records are sent, if not all.
    pub fn only(self) -> Option<Only> {
        match self {
            Command::Create => Some(Only::New),
            Command::Update => Some(Only::Known),
            Command::Merge | Command::Skip => None,
        }
    }
}

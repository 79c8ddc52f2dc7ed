//! What the pages need so that their commands can be run: commands.toml.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    pub page: Vec<PageSteps>,
}

/// What one page needs. The commands are written as on the page, without comments.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageSteps {
    pub path: String,
    /// Reason why no command of the page is run.
    pub not_run: Option<String>,
    /// Whether the commands need a database, `{postgres}`.
    #[serde(default)]
    pub needs_postgres: bool,
    /// Files that the commands find, each with the file of the repository that it is a copy of.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Commands that are run before the first one of the page.
    #[serde(default)]
    pub before: Vec<String>,
    /// Texts that are replaced in the commands and files. `{folder}` stands for the folder of the commands.
    #[serde(default)]
    pub replace: BTreeMap<String, String>,
    #[serde(default)]
    pub command: Vec<CommandStep>,
}

/// What differs for one command, or for all that begin with this text.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandStep {
    pub run: String,
    /// Reason why it is not run.
    pub not_run: Option<String>,
    /// Program that it needs. Without the program it is not run.
    pub needs: Option<String>,
    /// What is run in its place, if it would not end.
    pub replace: Option<String>,
    /// Whether the service that the page has started is stopped beforehand.
    #[serde(default)]
    pub stop: bool,
    /// What a person types on the terminal.
    #[serde(default)]
    pub answers: Vec<String>,
    /// Exit code; 0 by default.
    pub exit: Option<i32>,
    /// What a person changes in files beforehand.
    #[serde(default)]
    pub edit: Vec<Edit>,
    /// Command that is run beforehand.
    pub first: Option<String>,
}

/// Replaces a text in a file, once. In a workbook, in its cells.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    pub file: String,
    pub from: String,
    pub to: String,
}

impl Steps {
    pub fn load() -> Steps {
        toml::from_str(&super::pages::read("tests/it/docs/commands.toml")).unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn of(&self, page: &str) -> PageSteps {
        self.page.iter().find(|steps| steps.path == page).cloned().unwrap_or_default()
    }
}

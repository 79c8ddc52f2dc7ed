//! What is known of fixes that the template may learn or has learned.

use std::path::PathBuf;

use crate::operations::review::{Draft, MadeFix, NotRemembered};

/// A fix of many rows.
#[derive(Clone)]
pub(super) struct Made {
    pub fix: MadeFix,
    /// The template that does the same, or why there is none, for a number of edits and a template: looking for it takes long.
    pub found: Option<((usize, String), Result<Draft, NotRemembered>)>,
}

/// A fix that was put into the template.
#[derive(Clone)]
pub(super) struct Remembered {
    /// The own step after which undoing or redoing concerns it.
    pub step: Option<i64>,
    /// Whether its edits are undone and redone, too. Those that the template would repeat are gone already.
    pub has_edits: bool,
    pub before: Version,
    pub after: Version,
}

/// A template as it was at a time.
#[derive(Clone)]
pub(super) struct Version {
    pub draft: Draft,
    pub saved_at: Option<PathBuf>,
}

/// What undoing does to the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TemplateUndo {
    /// It forgets the fix.
    Forgets,
    /// It keeps the fix, because a person has changed it since.
    Keeps,
}

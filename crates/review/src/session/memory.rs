//! Fixes that can be remembered, or are remembered, in the template.

use std::path::PathBuf;

use sheetport_operations::review::{Draft, MadeFix, NotRemembered};

/// A fix of many rows.
#[derive(Clone)]
pub(super) struct Made {
    pub fix: MadeFix,
    /// The template with the same effect, or the reason why there is none, for a number of edits and a template. Cached, because the
    /// search is slow.
    pub found: Option<((usize, String), Result<Draft, NotRemembered>)>,
}

/// A fix that was put into the template.
#[derive(Clone)]
pub(super) struct Remembered {
    /// The own step after which undoing or redoing concerns it.
    pub step: Option<i64>,
    /// Whether undo and redo also concern the edits. Edits repeated by the template were removed.
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
pub(crate) enum TemplateUndo {
    /// It forgets the fix.
    Forgets,
    /// It keeps the fix, because a person has changed it since.
    Keeps,
}

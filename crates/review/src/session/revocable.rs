//! Long work on the rows of a file that somebody may cancel: afterwards, the file is as it was before.

use std::sync::Arc;

use sheetport_ledger::Edit;
use sheetport_operations::Context;
use sheetport_operations::review::{CheckedSheet, MadeFix, TemplateMistake};
use sheetport_plan::Edits;

use super::super::http::Failure;
use super::memory::Made;
use super::state::{Session, State};

impl Session {
    /// Makes a fix of many rows, and checks the rows.
    pub(crate) fn fix(&self, context: &Context, edits: Vec<Edit>, made: MadeFix) -> Result<(), Failure> {
        let work = || {
            self.make_fix(context, edits, made)?;
            self.check(context, false)
        };
        let back = || {
            self.undo(context)?;
            Arc::make_mut(&mut self.state().log).forget_undone();
            Ok(())
        };
        self.revocable(work, back)
    }

    /// Takes the last own step back, and checks the rows.
    pub(crate) fn undo_and_check(&self, context: &Context) -> Result<(), Failure> {
        let work = || {
            self.undo(context)?;
            self.check(context, false)
        };
        self.revocable(work, || self.redo(context))
    }

    /// Repeats the last undone step, and checks the rows.
    pub(crate) fn redo_and_check(&self, context: &Context) -> Result<(), Failure> {
        let work = || {
            self.redo(context)?;
            self.check(context, false)
        };
        self.revocable(work, || self.undo(context))
    }

    /// Does long work. If somebody cancels it, `back` takes back what was stored by then.
    fn revocable(
        &self,
        work: impl FnOnce() -> Result<(), Failure>,
        back: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let _under_way = self.sending.begin_work();
        let before = Before::of(&self.state());
        let done = work();
        if !self.sending.is_cancelled() {
            return done;
        }
        if self.state().log.count() > before.count {
            // The rows are judged as before, without judging them again.
            self.state().checked_revision = None;
            back()?;
        }
        self.state().take_verdicts_of(before);
        Err(Failure::cancelled())
    }
}

/// What a cancelled work leads back to. Nothing that grows with the edits but the current ones: they change under it.
struct Before {
    /// The number of edits, including undone edits.
    count: usize,
    edits: Arc<Edits>,
    template: String,
    checked: Option<Arc<CheckedSheet>>,
    unchecked: Vec<TemplateMistake>,
    made: Option<Made>,
    is_checked: bool,
    is_fully_checked: bool,
}

impl Before {
    fn of(state: &State) -> Before {
        Before {
            count: state.log.count(),
            edits: Arc::clone(state.log.current()),
            template: state.draft.toml.clone(),
            checked: state.checked.clone(),
            unchecked: state.unchecked.clone(),
            made: state.made.clone(),
            is_checked: state.checked_revision == Some(state.revision),
            is_fully_checked: state.fully_checked == Some(state.revision),
        }
    }
}

impl State {
    /// Takes the check of an earlier state with the same rows.
    fn take_verdicts_of(&mut self, before: Before) {
        if *self.log.current() == before.edits && self.draft.toml == before.template && before.is_checked {
            self.fully_checked = before.is_fully_checked.then_some(self.revision);
            (self.checked, self.unchecked, self.made) = (before.checked, before.unchecked, before.made);
            self.checked_revision = Some(self.revision);
        }
    }
}

//! Fixes of many rows that the template does in every file from now on, and taking that back.

use std::path::Path;
use std::sync::Arc;

use axum::http::StatusCode;
use sheetport_ledger::Edit;
use sheetport_operations::review::{Draft, EditLog, MadeFix, NotRemembered, sendable};
use sheetport_operations::{Context, Spreadsheet};
use sheetport_plan::Edits;
use tokio::runtime::Handle;

use super::super::http::Failure;
use super::memory::{Made, Remembered, TemplateUndo, Version};
use super::state::{Session, State};

impl Session {
    /// Stores the edits of a fix of many rows.
    pub(crate) fn make_fix(&self, context: &Context, edits: Vec<Edit>, fix: MadeFix) -> Result<(), Failure> {
        let count = edits.len();
        self.change_edits(context, |_| edits)?;
        let mut state = self.state();
        let step = state.log.last_step();
        state.made = step.map(|step| Made { fix: MadeFix { step, count, ..fix }, found: None });
        Ok(())
    }

    /// Returns a template that repeats the last fix of many rows in every file, or the reason why there is none.
    pub(crate) fn remembering(&self, context: &Context) -> Result<Result<Draft, NotRemembered>, Failure> {
        let state = self.state().clone();
        let none = || Failure::new(StatusCode::CONFLICT, "nothing was fixed last");
        let made = state.whole_fix().ok_or_else(none)?;
        let asked = (state.log.count(), state.draft.toml.clone());
        if let Some((_, found)) = made.found.as_ref().filter(|(known, _)| *known == asked) {
            return Ok(found.clone());
        }
        let found = self.template_of_fix(context, &state, &made.fix)?;
        let mut current = self.state();
        if let Some(made) = current.made.as_mut().filter(|known| known.fix.step == made.fix.step) {
            made.found = Some((asked, found.clone()));
        }
        Ok(found)
    }

    /// Tries each way to say a fix in the template: all rows must be sent as they are with the fix.
    fn template_of_fix(
        &self,
        context: &Context,
        state: &State,
        fix: &MadeFix,
    ) -> Result<Result<Draft, NotRemembered>, Failure> {
        let candidates = fix.candidates(&self.columns().mapping);
        if candidates.is_empty() {
            return Ok(Err(NotRemembered::NoSuchRule));
        }
        let handle = Handle::current();
        let with_fix = handle.block_on(sendable(context, state.spreadsheet(&self.file)?))?;
        let mut without = Edits::clone(state.log.current());
        state.log.opposite(fix.step).iter().for_each(|edit| without.add(edit));
        let without = Arc::new(without);
        let input = Spreadsheet { edits: Some(Arc::clone(&without)), ..state.spreadsheet(&self.file)? };
        if handle.block_on(sendable(context, input)).is_ok_and(|sent| sent == with_fix) {
            return Ok(Err(NotRemembered::NoEffect));
        }
        for changes in candidates {
            let mut draft = state.draft.clone();
            // Not each change suits each template.
            if changes.iter().any(|change| draft.edit(change).is_err()) {
                continue;
            }
            let Ok(template) = draft.load(&self.file) else { continue };
            let input = Spreadsheet { template, edits: Some(Arc::clone(&without)), ..state.spreadsheet(&self.file)? };
            if handle.block_on(sendable(context, input)).is_ok_and(|sent| sent == with_fix) {
                return Ok(Ok(draft));
            }
        }
        Ok(Err(NotRemembered::OtherRows))
    }

    /// Puts the last fix of many rows into the template, and saves it.
    pub(crate) fn remember(&self, context: &Context) -> Result<(), Failure> {
        let revision = self.state().revision;
        let overtaken = || Failure::new(StatusCode::CONFLICT, "the rows were changed meanwhile");
        let draft = self.remembering(context)?.map_err(|_| Failure::bad_request("the template can't do this"))?;
        let made = self.state().made.take().ok_or_else(overtaken)?;
        if self.state().revision != revision {
            return Err(overtaken());
        }
        let before = self.state().version();
        let has_edits = !made.fix.applies_twice();
        if !has_edits {
            self.change_edits(context, |log| log.opposite(made.fix.step))?;
            Arc::make_mut(&mut self.state().log).forget_undone();
        }
        self.change_draft(|known| {
            *known = draft;
            Ok(())
        })?;
        self.save_template(context)?;
        let mut state = self.state();
        let (step, after) = (state.log.last_step(), state.version());
        (state.remembered, state.forgotten) = (Some(Remembered { step, has_edits, before, after }), None);
        Ok(())
    }

    /// Takes the last own step back. A fix that was put into the template is taken out of it, too, unless a person has changed the
    /// template since.
    pub(crate) fn undo(&self, context: &Context) -> Result<(), Failure> {
        let remembered = {
            let mut state = self.state();
            let last = state.log.last_step();
            state.remembered.take_if(|it| it.step == last)
        };
        if remembered.as_ref().is_none_or(|it| it.has_edits) {
            self.change_edits(context, EditLog::undo)?;
        }
        if let Some(it) = remembered
            && self.replace_template(context, &it.after, &it.before)?
        {
            let mut state = self.state();
            let step = state.log.last_undone();
            state.forgotten = Some(Remembered { step, ..it });
        }
        Ok(())
    }

    /// Repeats the last undone step of this person, and restores the remembered fix in the template.
    pub(crate) fn redo(&self, context: &Context) -> Result<(), Failure> {
        let forgotten = {
            let mut state = self.state();
            let last = state.log.last_undone();
            state.forgotten.take_if(|it| it.step == last)
        };
        if forgotten.as_ref().is_none_or(|it| it.has_edits) {
            self.change_edits(context, EditLog::redo)?;
        }
        if let Some(it) = forgotten
            && self.replace_template(context, &it.before, &it.after)?
        {
            let mut state = self.state();
            let step = state.log.last_step();
            state.remembered = Some(Remembered { step, ..it });
        }
        Ok(())
    }

    /// Replaces the template and its saved file if the current template is `old`. Returns whether the template was replaced.
    fn replace_template(&self, context: &Context, old: &Version, new: &Version) -> Result<bool, Failure> {
        {
            let mut state = self.state();
            if state.draft.toml != old.draft.toml {
                return Ok(false);
            }
            (state.draft, state.saved_at, state.is_saved) = (new.draft.clone(), new.saved_at.clone(), false);
            state.columns = None;
            state.revision += 1;
            self.sending.note_revision(state.revision);
        }
        match (&new.saved_at, &old.saved_at) {
            (Some(_), _) => drop(self.save_template(context)?),
            // The file was created for the fix, and is unchanged.
            (None, Some(path)) if has_text(path, &old.draft.toml) => {
                std::fs::remove_file(path)
                    .map_err(|error| Failure::bad_request(format!("{} can't be removed: {error}", path.display())))?;
            }
            (None, _) => {}
        }
        Ok(true)
    }
}

fn has_text(path: &Path, text: &str) -> bool {
    std::fs::read(path).is_ok_and(|known| known == text.as_bytes())
}

impl State {
    /// Returns the last fix of many rows, if nothing of it was changed since.
    fn whole_fix(&self) -> Option<&Made> {
        self.made.as_ref().filter(|made| self.log.opposite(made.fix.step).len() == made.fix.count)
    }

    /// Returns the step of the last fix of many rows, the number of its cells or rows, and whether it has left rows out.
    pub(crate) fn last_fix(&self) -> Option<(i64, usize, bool)> {
        self.whole_fix().map(|made| (made.fix.step, made.fix.count, made.fix.leaves_rows_out()))
    }

    /// Whether a step can be undone, and the effect on the template.
    pub(crate) fn can_undo(&self) -> (bool, Option<TemplateUndo>) {
        let last = self.log.last_step();
        let of_template =
            self.remembered.as_ref().filter(|it| it.step == last).map(|it| {
                if self.draft.toml == it.after.draft.toml { TemplateUndo::Forgets } else { TemplateUndo::Keeps }
            });
        (self.log.can_undo() || of_template.is_some(), of_template)
    }

    /// Whether there is anything to redo.
    pub(crate) fn can_redo(&self) -> bool {
        let last = self.log.last_undone();
        self.log.can_redo() || self.forgotten.as_ref().is_some_and(|it| it.step == last)
    }

    fn version(&self) -> Version {
        Version { draft: self.draft.clone(), saved_at: self.saved_at.clone() }
    }
}

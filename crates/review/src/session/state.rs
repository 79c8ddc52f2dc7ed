//! A file under review.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sheetport_ledger::{Edit, RunId};
use sheetport_mapping::Template;
use sheetport_operations::review::Refused;
use sheetport_operations::review::TemplateMistake;
use sheetport_operations::review::{
    CheckedSheet, ColumnLook, Draft, DraftOrigin, EditLog, EditStore, Mapping, OpenSheet, Reading, RowVerdict,
    TemplateEdit, column_looks, examine, last_run, mapping, mistakes, open_sheet, propose,
};
use sheetport_operations::{self as operations, Context, Event, InputFile, Spreadsheet};
use sheetport_plan::{Edits, Source};
use sheetport_records::RecordKind;
use sheetport_sheet::column_letters;
use sheetport_sheet::write::{Existing, WholeFile};
use tokio::runtime::Handle;

use super::super::http::Failure;
use super::drafts::KeptDraft;
use super::look::Look;
use super::memory::{Made, Remembered};
use super::progress::{Comparing, Sending};

/// The folder of templates of dropped files, below the home folder.
const TEMPLATES: &str = "templates";
/// The new text of an edit that leaves a footnote out.
const FOOTNOTE: &str = "footnote";
/// Changed rows whose verdicts take long enough for somebody to wait for them.
const MANY: usize = 1_000;

/// A file under review. Several tabs may call all methods at the same time.
pub(crate) struct Session {
    pub file: Arc<InputFile>,
    /// Never locked while waiting for the ledger: its server may hang.
    state: Mutex<State>,
    /// The edits in the ledger. Locked for each change of [`State::log`], before `state`.
    store: Mutex<EditStore>,
    file_hash: String,
    /// Allows one check at a time: the next check includes all changes made meanwhile.
    checking: Mutex<()>,
    pub sending: Arc<Sending>,
    pub comparing: Comparing,
    look: Mutex<Option<Look>>,
    /// Whether edits of other people are looked for.
    is_watched: AtomicBool,
    /// Where a new template is saved.
    save_as: PathBuf,
    /// What was decided about the columns before something was sent.
    kept: KeptDraft,
}

/// The choices and changes people have made.
#[derive(Clone)]
pub(crate) struct State {
    pub reading: Reading,
    pub sheet: Arc<OpenSheet>,
    pub draft: Draft,
    /// Whether the saved template is identical to the draft.
    pub is_saved: bool,
    /// Where the template was saved for this file, to be written again after further changes.
    pub saved_at: Option<PathBuf>,
    /// The last fix of many rows, as a candidate for the template.
    pub(super) made: Option<Made>,
    /// A fix that the template has learned, until it is undone.
    pub(super) remembered: Option<Remembered>,
    /// A remembered fix removed from the template by undo, for redo.
    pub(super) forgotten: Option<Remembered>,
    /// Shared with responses under way, like all large values.
    pub log: Arc<EditLog>,
    /// The column of each field; dropped when the template changes.
    pub columns: Option<Arc<Columns>>,
    pub checked: Option<Arc<CheckedSheet>>,
    /// Why the sheet can't be checked with the template.
    pub unchecked: Vec<TemplateMistake>,
    /// Raised by every change of the rows, the template or the edits.
    pub revision: u64,
    /// The checked revision.
    pub checked_revision: Option<u64>,
    /// The revision of the last check of all rows. Later changes concern few rows, which were checked alone.
    pub(super) fully_checked: Option<u64>,
    /// The last run that sent the file.
    pub last_run: Option<RunId>,
    /// The rows that the service refused in the last run.
    pub refused: Arc<Refused>,
    /// Whether a person approved what the last run sent, so that something may have been left out.
    pub last_was_approved: bool,
    /// The run of the file, if the file is a report.
    pub report_of: Option<RunId>,
    /// Whether the file is a report. Of a report, all sheets are read.
    is_report: bool,
}

/// The result of reading the header with the template.
pub(crate) struct Columns {
    pub mapping: Mapping,
    pub mistakes: Vec<TemplateMistake>,
    /// The look of each column; none if the rows can't be read.
    pub looks: Vec<ColumnLook>,
}

impl Session {
    /// Opens a file, and finds or proposes a template. `who` names the person editing.
    pub(crate) fn open(context: &Context, file: InputFile, who: &str) -> Result<Session, Failure> {
        let file = Arc::new(file);
        let save_as = save_as(context, &file);
        let reading = Reading::default();
        let (store, log) = Handle::current().block_on(EditStore::of_file(context, &file, who))?;
        let mut state = open_state(context, &file, (reading, None), Arc::new(log), &save_as)?;
        let kept = KeptDraft::of(&context.home, store.file_hash());
        // A template that was recognized is a later decision.
        if state.draft.origin == DraftOrigin::Proposed
            && let Some(text) = kept.text()
        {
            state.draft.set_text(text);
        }
        let session = Session {
            file,
            state: Mutex::new(state),
            file_hash: store.file_hash().to_owned(),
            store: Mutex::new(store),
            checking: Mutex::new(()),
            sending: Arc::default(),
            comparing: Comparing::default(),
            look: Mutex::default(),
            is_watched: AtomicBool::new(false),
            save_as,
            kept,
        };
        Ok(session)
    }

    pub(crate) fn is_sending(&self) -> bool {
        self.sending.is_running()
    }

    /// Claims the task of watching for edits by other people. Returns `false` if another connection does so already.
    pub(crate) fn begin_watching(&self) -> bool {
        !self.is_watched.swap(true, Ordering::SeqCst)
    }

    pub(crate) fn end_watching(&self) {
        self.is_watched.store(false, Ordering::SeqCst);
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the look at the changes, if there was one.
    pub(crate) fn look(&self) -> MutexGuard<'_, Option<Look>> {
        self.look.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the file with other options, and finds or proposes a template again.
    pub(crate) fn change_reading(&self, context: &Context, reading: Reading) -> Result<(), Failure> {
        let known = self.state().clone();
        let record = (reading.header_row != known.reading.header_row).then_some(known.draft.record);
        let mut state = open_state(context, &self.file, (reading, record), known.log, &self.save_as)?;
        let mut current = self.state();
        state.revision = current.revision + 1;
        // There may be further edits meanwhile.
        state.log = Arc::clone(&current.log);
        *current = state;
        Ok(())
    }

    /// Proposes a template for another kind of record.
    pub(crate) fn change_kind(&self, context: &Context, record: RecordKind) -> Result<(), Failure> {
        let reading = self.state().reading.clone();
        let proposal = propose(context, (&self.file, &reading), Some(record), &self.save_as, &|_| {});
        let draft = Handle::current().block_on(proposal)?;
        self.change_draft(|known| {
            *known = draft;
            Ok(())
        })
    }

    /// Keeps what a person has decided about the columns for when the file is opened again. Where the home folder can't be written,
    /// sending says so.
    pub(crate) fn keep_draft(&self) {
        let text = self.state().draft.toml.clone();
        let _ = self.kept.keep(&text);
    }

    /// Changes the template by a click.
    pub(crate) fn change_template(&self, change: &TemplateEdit) -> Result<(), Failure> {
        self.change_draft(|draft| draft.edit(change))
    }

    pub(crate) fn set_template(&self, text: String) -> Result<(), Failure> {
        self.change_draft(|draft| {
            draft.set_text(text);
            Ok(())
        })
    }

    pub(super) fn change_draft(
        &self,
        change: impl FnOnce(&mut Draft) -> Result<(), operations::Error>,
    ) -> Result<(), Failure> {
        let mut state = self.state();
        let mut draft = state.draft.clone();
        change(&mut draft)?;
        state.draft = draft;
        state.columns = None;
        state.is_saved = false;
        state.revision += 1;
        self.sending.note_revision(state.revision);
        Ok(())
    }

    /// Returns the columns of the fields and the mistakes in the template.
    pub(crate) fn columns(&self) -> Arc<Columns> {
        let state = self.state().clone();
        if let Some(columns) = state.columns {
            return columns;
        }
        let columns = Arc::new(self.find_columns(&state));
        let mut current = self.state();
        if current.revision == state.revision {
            current.columns = Some(Arc::clone(&columns));
        }
        columns
    }

    fn find_columns(&self, state: &State) -> Columns {
        let header_row = state.sheet.header_row;
        let loaded = load(&self.file, state);
        let (names, mistakes) = match &loaded {
            Ok(_) => (Vec::new(), Vec::new()),
            Err(error) => (header_names(&state.sheet, header_row), mistakes(error)),
        };
        let loaded = loaded.as_ref().ok().map(|(template, source)| (template, source));
        let mapping = mapping(&state.draft, loaded, (header_row, &names));
        let below = mapping.header_row.unwrap_or_default();
        // Without them, the page shows the columns without examples.
        let looks = column_looks(&state.sheet.rows, below, mapping.columns.len()).unwrap_or_default();
        Columns { mapping, mistakes, looks }
    }

    /// Checks the current revision of the sheet, unless this was done. `is_full` reads all rows even if the changed rows were
    /// checked alone. Leaves footnotes below the records out.
    pub(crate) fn check(&self, context: &Context, is_full: bool) -> Result<(), Failure> {
        self.check_as_it_is(context, is_full)?;
        match self.leave_footnotes_out(context)? {
            true => self.check_as_it_is(context, false),
            false => Ok(()),
        }
    }

    /// Leaves the rows out that are certainly no records. What a person has taken again stays.
    fn leave_footnotes_out(&self, context: &Context) -> Result<bool, Failure> {
        let state = self.state().clone();
        let Some(checked) = state.checked.as_deref().filter(|_| state.fully_checked == Some(state.revision)) else {
            return Ok(false);
        };
        let sheet = state.sheet.sheet;
        let mut rows = checked.footnotes(&state.sheet.rows)?;
        rows.retain(|row| !state.log.was_edited(sheet, *row));
        let edits = rows.iter().map(|row| (sheet, *row, None, Some(FOOTNOTE.to_owned())));
        // A ledger that can't be written is told of by the first edit; until then, the rows are problems.
        Ok(!rows.is_empty() && self.change_edits(context, |log| log.edits(edits)).is_ok())
    }

    fn check_as_it_is(&self, context: &Context, is_full: bool) -> Result<(), Failure> {
        let _one = self.checking.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.state().clone();
        let checked = if is_full { state.fully_checked } else { state.checked_revision };
        if checked == Some(state.revision) {
            return Ok(());
        }
        let sending = &self.sending;
        let _under_way = sending.begin_work();
        let extent = state.sheet.rows.extent();
        let all = extent.is_complete.then_some(extent.rows);
        let report_of: Mutex<Option<RunId>> = Mutex::new(None);
        let checked = state.spreadsheet(&self.file).and_then(|input| {
            Handle::current().block_on(async {
                let observer = |event: Event<'_>| match event {
                    Event::ReportOf(run) => {
                        *report_of.lock().unwrap_or_else(PoisonError::into_inner) = Some(run.id);
                    }
                    event => sending.note_reading(event, all),
                };
                let goes_on = || !sending.is_cancelled();
                let Some(mut checked) = examine(context, input, &goes_on, &observer).await? else { return Ok(None) };
                let last = last_run(context, &self.file_hash).await?;
                let about = last.as_ref().map(|(run, _)| (run.id, run.approved_at.is_some()));
                let refused = last.map(|(run, problems)| Refused::of(&run, problems)).unwrap_or_default();
                // Rows changed since the run no longer count as refused.
                let edited = refused.edited_since(&state.log, checked.sheet_index());
                let open = refused.problems.iter().filter(|(row, _)| !edited.contains(row));
                checked.add_refusals(&open.cloned().collect::<Vec<_>>());
                Ok(Some((checked, about, refused)))
            })
        });
        let Some(checked) = checked.transpose() else {
            return Err(Failure::cancelled());
        };
        let mut current = self.state();
        if current.checked_revision > Some(state.revision) && checked.is_ok() {
            // Rows changed meanwhile were checked alone.
            return Ok(());
        }
        match checked {
            Ok((checked, last_run, refused)) => {
                current.refused = Arc::new(refused);
                (current.checked, current.unchecked) = (Some(Arc::new(checked)), Vec::new());
                current.last_run = last_run.map(|(run, _)| run);
                current.last_was_approved = last_run.is_some_and(|(_, was_approved)| was_approved);
                current.report_of = report_of.into_inner().unwrap_or_else(PoisonError::into_inner);
            }
            Err(error) => (current.checked, current.unchecked) = (None, mistakes(&error)),
        }
        (current.checked_revision, current.fully_checked) = (Some(state.revision), Some(state.revision));
        Ok(())
    }

    /// Takes the edits that other people have stored meanwhile, then stores the edits that `change` returns. Returns the problems
    /// of the changed rows, if these rows could be checked alone.
    pub(crate) fn change_edits(
        &self,
        context: &Context,
        change: impl FnOnce(&mut EditLog) -> Vec<Edit>,
    ) -> Result<Option<Vec<RowVerdict>>, Failure> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = Handle::current();
        let mut known = self.state().log.count();
        self.take_edits(handle.block_on(store.news(context, known))?)?;
        let edits = {
            let mut state = self.state();
            known = state.log.count();
            change(Arc::make_mut(&mut state.log))
        };
        let stored = match edits.is_empty() {
            true => Vec::new(),
            false => handle.block_on(store.add(context, &edits, known))?,
        };
        self.take_edits(stored)
    }

    /// Takes what other people have edited meanwhile, and tells the pages.
    pub(crate) fn take_edits_of_others(&self, context: &Context) -> Result<(), Failure> {
        // The thread that holds the lock stores an edit, and takes the edits of others too.
        let Ok(mut store) = self.store.try_lock() else { return Ok(()) };
        let known = self.state().log.count();
        let news = Handle::current().block_on(store.news(context, known))?;
        self.take_edits(news).map(drop)
    }

    /// Applies edits read from the ledger. Returns the problems of the edited rows, if these rows could be checked alone.
    fn take_edits(&self, edits: Vec<Edit>) -> Result<Option<Vec<RowVerdict>>, Failure> {
        let mut state = self.state();
        if edits.is_empty() {
            let is_checked = state.checked.is_some() && state.checked_revision == Some(state.revision);
            return Ok(is_checked.then(Vec::new));
        }
        let before = Arc::clone(state.log.current());
        let sheet = state.sheet.sheet;
        let changed = Arc::make_mut(&mut state.log).append(edits);
        let changed: Vec<u64> = changed.into_iter().filter(|(of, _)| *of == sheet).map(|(_, row)| row).collect();
        state.revision += 1;
        let progress = |done: usize, all: usize| self.sending.note_work(done as u64, Some(all as u64));
        let verdicts = match changed.len() {
            0..MANY => state.revise(&before, &changed, &|_, _| true)?,
            _ => state.revise(&before, &changed, &progress)?,
        };
        self.sending.note_revision(state.revision);
        Ok(verdicts)
    }

    /// Invalidates the last check after an outside change, such as a run. Returns the new revision.
    pub(crate) fn expire(&self) -> u64 {
        self.comparing.expire();
        let mut state = self.state();
        state.revision += 1;
        state.revision
    }

    /// Saves the template unless it is saved or built in. Returns the name to use with `-t`.
    pub(crate) fn save_template(&self, context: &Context) -> Result<String, Failure> {
        let mut state = self.state();
        if !state.is_saved && !state.draft.is_as_it_was() {
            let template = state.draft.load(&self.file)?;
            // Never overwrites a template written by a person.
            let (path, existing) = match &state.saved_at {
                Some(path) => (path.clone(), Existing::Replace),
                None => (operations::unused(&self.save_as), Existing::Keep),
            };
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
            }
            let file = WholeFile::create(&path, existing).map_err(operations::Error::from)?;
            file.finish_with(state.draft.toml.as_bytes()).map_err(operations::Error::from)?;
            state.draft.saved_at(&path);
            state.saved_at = Some(path);
            drop(template);
            operations::trust(context, &state.draft.load(&self.file)?)?;
            self.kept.forget();
        }
        state.is_saved = true;
        Ok(state.draft.name.clone())
    }
}

impl State {
    /// Brings the check up to date after edits, if only few rows are concerned.
    fn revise(
        &mut self,
        before: &Edits,
        changed: &[u64],
        progress: &dyn Fn(usize, usize) -> bool,
    ) -> Result<Option<Vec<RowVerdict>>, Failure> {
        let State { checked, log, sheet, revision, checked_revision, .. } = self;
        let Some(checked) = checked.as_mut().filter(|_| *checked_revision == Some(*revision - 1)) else {
            return Ok(None);
        };
        let verdicts = Arc::make_mut(checked).revise(&sheet.rows, (before, log.current()), changed, progress)?;
        if verdicts.is_some() {
            *checked_revision = Some(*revision);
        }
        Ok(verdicts)
    }

    /// Returns the file with the template and the edits, as the input of an upload.
    pub(crate) fn spreadsheet<'a>(&'a self, file: &'a InputFile) -> Result<Spreadsheet<'a>, operations::Error> {
        Ok(Spreadsheet {
            file,
            template: self.draft.load(file)?,
            sheet: self.reading.sheet.as_deref().filter(|_| !self.is_report),
            text: self.reading.options(),
            rows: None,
            is_strict: false,
            accepts: &[],
            edits: Some(Arc::clone(self.log.current())),
        })
    }
}

fn open_state(
    context: &Context,
    file: &Arc<InputFile>,
    (mut reading, record): (Reading, Option<RecordKind>),
    log: Arc<EditLog>,
    save_as: &Path,
) -> Result<State, Failure> {
    let mut sheet = open_sheet(file, &reading)?;
    let draft = Handle::current().block_on(propose(context, (file, &reading), record, save_as, &|_| {}))?;
    let mut state = State {
        reading: reading.clone(),
        sheet: Arc::new(sheet),
        draft,
        is_saved: false,
        saved_at: None,
        made: None,
        remembered: None,
        forgotten: None,
        log,
        columns: None,
        checked: None,
        unchecked: Vec::new(),
        revision: 0,
        checked_revision: None,
        fully_checked: None,
        last_run: None,
        refused: Arc::default(),
        last_was_approved: false,
        report_of: None,
        is_report: false,
    };
    // The template may read another sheet than the first, or several.
    let loaded = load(file, &state).ok();
    state.is_report = loaded.as_ref().is_some_and(|(_, source)| source.is_report());
    let other = loaded.and_then(|(_, source)| {
        let part = source.tables.first()?;
        let is_other = source.tables.len() > 1 || part.sheet != state.sheet.sheet;
        is_other.then(|| source.name_of(part).to_owned())
    });
    if let Some(name) = other.filter(|_| state.sheet.book.has_named_sheets()) {
        reading.sheet = Some(name);
        sheet = open_sheet(file, &reading)?;
        (state.reading, state.sheet) = (reading, Arc::new(sheet));
    }
    Ok(state)
}

/// Loads the template and finds its columns.
fn load(file: &InputFile, state: &State) -> Result<(Template, Source), operations::Error> {
    let input = state.spreadsheet(file)?;
    let source = operations::review::bind(&input)?;
    Ok((input.template, source))
}

/// Returns the names of the columns; a column without a name gets its letter.
fn header_names(sheet: &OpenSheet, header_row: Option<u64>) -> Vec<String> {
    let width = sheet.rows.extent().width;
    let row = header_row.and_then(|row| sheet.rows.numbered(&[row]).ok()?.into_iter().next());
    let name = |column: usize| match &row {
        Some(row) => row.get(column).shown().trim().to_owned(),
        None => column_letters(column),
    };
    (0..width).map(name).collect()
}

/// Returns the path for a new template: beside the file, or in the home folder for a file dropped on the page.
fn save_as(context: &Context, file: &InputFile) -> PathBuf {
    let is_dropped = file.path != file.name;
    let stem = file.name.file_stem().unwrap_or_default();
    let name = Path::new(stem).with_added_extension("toml");
    match is_dropped {
        true => context.home.join(TEMPLATES).join(name),
        false => file.name.with_file_name(name),
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::bad_request(format!("{} can't be written: {error}", path.display()))
}

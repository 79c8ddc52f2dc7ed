//! The template of a review while a person changes it.

use std::collections::BTreeMap;
use std::path::Path;

use sheetport_infer::{Confidence, Proposal, ProposedSource};
use sheetport_ledger::RunId;
use sheetport_mapping::Template;
use sheetport_mapping::load::SheetKeys;
use sheetport_records::RecordKind;

use super::super::sheet::Reading;
use super::edit::{TemplateEdit, without_examples};
use crate::context::{Context, Defaults};
use crate::error::Error;
use crate::event::Observer;
use crate::files::InputFile;
use crate::operation::Operation;
use crate::templates::infer::{InferRequest, infer};
use crate::templates::load_template::{load_template, load_text, read_sheet_lookups};
use crate::templates::recognize::{TemplateOrigin, Unrecognized, recognize};
use crate::uploads::run_of_report;

/// The built-in templates for lists of any origin.
const GENERAL: [&str; 5] = ["items", "orders", "transactions", "subscriptions", "invoices"];

/// An unsaved template.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The name of a built-in template, or the path of the file that the draft was loaded from or will be saved to.
    pub name: String,
    pub toml: String,
    pub record: RecordKind,
    pub origin: DraftOrigin,
    /// Why inference has chosen the column of a field, by the field's name in templates.
    pub reasons: BTreeMap<String, FieldReason>,
    /// The identifying field without a column, and the column from 0 whose unique names can take its place.
    pub names_as_key: Option<(String, usize)>,
    /// Notes from inference for the person to check.
    pub warnings: Vec<String>,
    /// The defaults of the profile. None for the template of a run, whose copy has those of its time.
    pub defaults: Defaults,
}

/// Where a draft comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftOrigin {
    BuiltIn,
    Folder,
    Run(RunId),
    Proposed,
}

/// The reason for the column of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldReason {
    pub confidence: Confidence,
    pub words: String,
}

/// Returns the template that fits a file, or proposes a template to be saved as `save_as`. A report keeps the template of its
/// run, because its few rows are worse evidence than the whole file. With `record`, always proposes a template for this kind of
/// record.
///
/// # Errors
/// If the file can't be read.
pub fn propose<'a>(
    context: &'a Context,
    (file, reading): (&'a InputFile, &'a Reading),
    record: Option<RecordKind>,
    save_as: &'a Path,
    observer: Observer<'a>,
) -> Operation<'a, Draft> {
    Box::pin(async move {
        let is_free = record.is_none() && reading.header_row.is_none();
        if is_free && let Some(run) = run_of_report(context, file, &reading.options()).await? {
            return Ok(Draft {
                record: run.about.record,
                origin: DraftOrigin::Run(run.id),
                name: run.about.template,
                toml: run.about.template_toml,
                reasons: BTreeMap::new(),
                names_as_key: None,
                warnings: Vec::new(),
                defaults: Defaults::default(),
            });
        }
        let known = if is_free { recognized(context, file, reading, observer).await? } else { None };
        if let Some(Known { unused: 0, draft, .. }) = &known {
            return Ok(draft.clone());
        }
        let request = InferRequest {
            file,
            record: known.as_ref().map(|known| known.draft.record).or(record),
            sheet: reading.sheet.as_deref(),
            text: reading.options(),
            header_row: reading.header_row,
            reading: reading.keys(),
        };
        let proposal = infer(context, &request, observer).await?;
        if let Some(known) = known
            && (!proposal.missing.is_empty() || columns_of(&proposal) <= known.used)
        {
            return Ok(known.draft);
        }
        let mut draft = Draft::proposed(context, proposal, save_as);
        if let Some(row) = reading.header_row {
            draft.edit(&TemplateEdit::Header(row))?;
        }
        Ok(draft)
    })
}

/// Returns the number of columns used by a proposal.
fn columns_of(proposal: &Proposal) -> usize {
    proposal.fields.iter().filter(|field| matches!(field.source, ProposedSource::Column { .. })).count()
}

/// An existing template that fits a file.
struct Known {
    draft: Draft,
    /// Number of columns used by the template.
    used: usize,
    /// Number of further columns available to a proposal: the columns without a field in a general built-in template.
    unused: usize,
}

/// Returns the template that clearly fits a file, if the template is built in, or was written or trusted by a person.
async fn recognized(
    context: &Context,
    file: &InputFile,
    reading: &Reading,
    observer: Observer<'_>,
) -> Result<Option<Known>, Error> {
    let unknown =
        Unrecognized { file, sheet: reading.sheet.as_deref(), text: reading.options(), keys: SheetKeys::default() };
    let recognized = recognize(context, &unknown, observer).await?;
    if !recognized.is_clear() {
        return Ok(None);
    }
    let best = recognized.candidates.into_iter().next().filter(|best| best.is_trusted);
    Ok(best.map(|best| {
        let is_general = best.origin == TemplateOrigin::BuiltIn && GENERAL.contains(&best.name.as_str());
        let draft = Draft {
            name: best.name,
            record: best.template.record,
            origin: match best.origin {
                TemplateOrigin::BuiltIn => DraftOrigin::BuiltIn,
                TemplateOrigin::Folder => DraftOrigin::Folder,
                TemplateOrigin::Run(run) => DraftOrigin::Run(run),
            },
            reasons: BTreeMap::new(),
            names_as_key: None,
            warnings: Vec::new(),
            defaults: context.profile_defaults(),
            toml: best.template.own_source().to_owned(),
        };
        let unused = if is_general { best.fit.columns.saturating_sub(best.fit.used) } else { 0 };
        Known { draft, used: best.fit.used, unused }
    }))
}

impl Draft {
    /// Returns a proposed template that is to be saved as `save_as`.
    pub fn proposed(context: &Context, proposal: Proposal, save_as: &Path) -> Draft {
        let reasons = proposal.fields.iter().map(|field| {
            (field.path(), FieldReason { confidence: field.confidence.clone(), words: field.reason.clone() })
        });
        Draft {
            name: save_as.display().to_string(),
            record: proposal.kind,
            origin: DraftOrigin::Proposed,
            reasons: reasons.collect(),
            names_as_key: proposal.missing.iter().find_map(|missing| Some((missing.path(), missing.unique_names()?.0))),
            warnings: proposal.warnings,
            defaults: context.profile_defaults(),
            toml: proposal.toml,
        }
    }

    /// Loads the template, with the defaults of the profile.
    ///
    /// # Errors
    /// [`Error::Template`] with all mistakes.
    pub fn load(&self, file: &InputFile) -> Result<Template, Error> {
        let mut template = load_text(Path::new(&self.name), &self.toml, self.defaults.keys())?;
        read_sheet_lookups(&mut template, &file.path, None)?;
        Ok(template)
    }

    /// Changes the template. Comments stay; the examples of a proposal go if they would show something else.
    ///
    /// # Errors
    /// If the text is not TOML.
    pub fn edit(&mut self, edit: &TemplateEdit) -> Result<(), Error> {
        self.toml = edit.apply(&self.toml)?;
        if self.origin == DraftOrigin::Proposed && edit.changes_values() {
            self.toml = without_examples(&self.toml)?;
        }
        Ok(())
    }

    /// Replaces the text. Also replaces the kind of record, if the new text is a valid template.
    pub fn set_text(&mut self, toml: String) {
        self.toml = toml;
        if let Ok(template) = load_text(Path::new(&self.name), &self.toml, SheetKeys::default()) {
            self.record = template.record;
        }
    }

    /// Returns whether the text is identical to its source.
    pub fn is_as_it_was(&self) -> bool {
        self.origin != DraftOrigin::Proposed && load_text_of(&self.name).is_some_and(|source| source == self.toml)
    }

    /// Records that the template was saved at `path`.
    pub fn saved_at(&mut self, path: &Path) {
        self.name = path.display().to_string();
        self.origin = DraftOrigin::Folder;
    }
}

/// Returns the text of a built-in or saved template.
fn load_text_of(name: &str) -> Option<String> {
    load_template(name, Default::default()).ok().map(|template| template.source)
}

//! Finds the templates that fit a spreadsheet.

use std::cmp::Reverse;
use std::path::Path;

use sheetport_infer::recognize::Fit;
use sheetport_ledger::RunId;
use sheetport_mapping::Template;
use sheetport_mapping::bind::HEADER_SEARCH_ROWS;
use sheetport_mapping::builtin::BUILT_IN;
use sheetport_mapping::load::SheetKeys;
use sheetport_mapping::usable::TopNames;
use sheetport_records::{Exported, is_list_of_changes};
use sheetport_sheet::{self as sheet, Options, Row, is_unsplit};

use super::super::context::Context;
use super::super::error::Error;
use super::super::event::Observer;
use super::super::files::{InputFile, changes_not_writable, exported_to, is_read_only, not_writable};
use super::known_templates::{templates_in, templates_of_runs};
use super::load_template::{TemplateChanges, load_template};
use super::trust::is_trusted;
use crate::operation::Operation;

/// Maximum number of sheets considered.
const MAX_SHEETS: usize = 20;
/// Prefix of the names of built-in templates for exports.
const FOR_EXPORTS: &str = "exported-";

/// A spreadsheet without a known template.
#[derive(Debug)]
pub struct Unrecognized<'a> {
    pub file: &'a InputFile,
    /// Name or number of the sheet; all sheets if `None`.
    pub sheet: Option<&'a str>,
    pub text: Options,
    /// Keys of `[sheet]` from flags. A template that lacks them is tried with them.
    pub keys: SheetKeys<'a>,
}

/// A template that fits a spreadsheet.
#[derive(Debug)]
pub struct Candidate {
    /// Name or path of the template, for `-t`.
    pub name: String,
    pub template: Template,
    pub origin: TemplateOrigin,
    /// Whether a person trusts the template in its current form.
    pub is_trusted: bool,
    pub fit: Fit,
}

/// The origin of a template. For an equal fit, a template written by a person is preferred to a built-in template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TemplateOrigin {
    BuiltIn,
    Folder,
    Run(RunId),
}

/// The templates that fit a spreadsheet, best first.
#[derive(Debug)]
pub struct Recognized {
    pub candidates: Vec<Candidate>,
    /// The built-in template that fits better, but has constants. A constant, such as the currency of an example, is a statement
    /// that no sheet makes: only a person can choose it.
    pub with_constants: Option<Candidate>,
    /// Whether a wrong delimiter puts all columns of the file into one. No template fits such a file.
    pub is_unsplit: bool,
}

impl Recognized {
    /// Returns whether the first template is a good fit, and all equally good templates make the same kind of record.
    pub fn is_clear(&self) -> bool {
        let Some(first) = self.candidates.first() else { return false };
        let equals = self.candidates.iter().filter(|other| other.fit.rank() == first.fit.rank());
        first.fit.is_good() && equals.into_iter().all(|other| other.template.record == first.template.record)
    }
}

/// Finds the templates that fit a spreadsheet: built-in templates, templates next to the file, and templates of earlier runs that
/// still exist.
///
/// # Errors
/// If the file can't be read.
pub fn recognize<'a>(
    context: &'a Context,
    unknown: &'a Unrecognized<'a>,
    observer: Observer<'a>,
) -> Operation<'a, Recognized> {
    Box::pin(async move {
        let sheets = first_rows(unknown)?;
        // Only where a template says nothing, so that it stays the template that a person trusts.
        let changes = TemplateChanges { defaults: unknown.keys.or(context.defaults()), ..TemplateChanges::default() };
        let mut candidates: Vec<Candidate> = Vec::new();
        let consider = |candidates: &mut Vec<Candidate>, name: &str, template: Template, origin: TemplateOrigin| {
            if candidates.iter().any(|known| known.template.source == template.source) {
                return;
            }
            let fits = sheets.iter().filter(|rows| origin != TemplateOrigin::BuiltIn || is_for(name, rows));
            if let Some(fit) = fits.filter_map(|rows| Fit::of(&template, rows)).max_by_key(Fit::rank) {
                let is_trusted = is_trusted(context, &template);
                candidates.push(Candidate { name: name.to_owned(), template, origin, is_trusted, fit });
            }
        };
        for (run, _) in templates_of_runs(context, observer).await {
            // The current version of the template is used, so the file must still exist.
            let name = run.about.template;
            if Path::new(&name).is_file()
                && let Ok(template) = load_template(&name, changes)
            {
                consider(&mut candidates, &name, template, TemplateOrigin::Run(run.id));
            }
        }
        for (path, template) in templates_in(unknown.file.folder(), changes, observer) {
            consider(&mut candidates, &path.display().to_string(), template, TemplateOrigin::Folder);
        }
        let states =
            |candidate: &Candidate| candidate.origin == TemplateOrigin::BuiltIn && candidate.template.has_constants();
        // A template that can only use fewer columns than a good one is not read: reading all takes longer than checking a small sheet.
        for (usable, name) in built_in(&sheets) {
            let good = candidates.iter().filter(|candidate| candidate.fit.is_good() && !states(candidate));
            if good.map(|candidate| candidate.fit.used).max().is_some_and(|used| usable < used) {
                break;
            }
            consider(&mut candidates, name, load_template(name, changes)?, TemplateOrigin::BuiltIn);
        }
        let is_other = |candidate: &Candidate| candidate.origin != TemplateOrigin::BuiltIn && candidate.fit.is_good();
        if !candidates.iter().any(is_other) && sheets.iter().any(|rows| is_list_of_changes(&names(rows))) {
            return Err(changes_not_writable(&unknown.file.name));
        }
        let of_file = unknown.sheet.is_none().then(|| exported_to(&unknown.file.path)).flatten();
        if !candidates.iter().any(is_other)
            && let Some(read_only) =
                of_file.or_else(|| sheets.iter().find_map(|rows| exported(rows))).filter(is_read_only)
        {
            return Err(not_writable(&unknown.file.name, read_only));
        }
        candidates.sort_by_key(|candidate| {
            // The more general of equal built-in templates comes first.
            let place = BUILT_IN
                .iter()
                .position(|(name, _)| candidate.origin == TemplateOrigin::BuiltIn && *name == candidate.name);
            (Reverse(candidate.fit.rank()), place)
        });
        let (with_constants, candidates): (Vec<_>, Vec<_>) = candidates.into_iter().partition(states);
        let best = candidates.first().filter(|best| best.fit.is_good()).map(|best| best.fit.rank());
        let with_constants = with_constants
            .into_iter()
            .find(|other| other.fit.is_good() && best.is_none_or(|best| other.fit.rank() > best));
        let is_unsplit = sheets.iter().any(|rows| !rows.is_empty() && rows.iter().all(is_unsplit_row));
        Ok(Recognized { candidates, with_constants, is_unsplit })
    })
}

/// Returns the built-in templates with the number of columns that each can use at most, most first.
fn built_in(sheets: &[Vec<Row>]) -> Vec<(usize, &'static str)> {
    let tops: Vec<TopNames> = sheets.iter().map(|rows| TopNames::new(rows)).collect();
    let usable = |source: &str| tops.iter().map(|top| top.usable(source)).max().unwrap_or_default();
    let mut templates: Vec<_> = BUILT_IN.iter().map(|(name, source)| (usable(source), *name)).collect();
    templates.sort_by_key(|(usable, _)| Reverse(*usable));
    templates
}

/// Whether a built-in template may be for a sheet. For one that we have exported, only the one for this export sends all texts unchanged.
fn is_for(template: &str, rows: &[Row]) -> bool {
    exported(rows).is_none_or(|exported| template.strip_prefix(FOR_EXPORTS) == Some(exported.name))
}

fn is_unsplit_row(row: &Row) -> bool {
    row.len() == 1 && row.cells().all(|cell| is_unsplit(&cell.shown(), 2))
}

/// Returns the exported records whose header these rows have.
fn exported(rows: &[Row]) -> Option<&'static Exported> {
    Exported::with_header(&names(rows))
}

/// Returns the cells of the first row.
fn names(rows: &[Row]) -> Vec<String> {
    rows.first().map(|row| row.cells().map(|cell| cell.shown().into_owned()).collect()).unwrap_or_default()
}

/// Returns the first rows of each sheet.
fn first_rows(unknown: &Unrecognized<'_>) -> Result<Vec<Vec<Row>>, Error> {
    let of_file = |error: sheet::Error| Error::from(error.of_file(&unknown.file.name));
    let book = sheet::open(&unknown.file.path, &unknown.text).map_err(of_file)?;
    let sheets: Vec<usize> = match unknown.sheet {
        Some(wanted) if wanted != sheetport_plan::plan::ALL_SHEETS => vec![book.find_sheet(wanted).map_err(of_file)?],
        _ => (0..book.sheets().len().min(MAX_SHEETS)).collect(),
    };
    let first_rows = |sheet| book.first_rows(sheet, HEADER_SEARCH_ROWS);
    sheets.into_iter().map(first_rows).collect::<Result<_, _>>().map_err(of_file)
}

//! Proposing a template for a spreadsheet.

use std::path::{Path, PathBuf};

use super::context::Context;
use super::error::Error;
use super::event::{Event, Observer};
use super::input::InputFile;
use super::templates::{TemplateChanges, load_template, template_of_run};
use crate::records::RecordKind;
use crate::sheet::{self, Book, Options, Row};
use crate::template::builtin;
use crate::template::infer::{self, PreviousTemplate, Proposal, Sample};

/// Maximum number of templates considered in the folder of the file.
const MAX_TEMPLATES: usize = 100;
/// Maximum number of earlier runs considered.
const MAX_RUNS: u32 = 50;
/// Maximum number of sheets considered.
const MAX_SHEETS: usize = 50;
/// Text of a sample, in bytes.
const MAX_SAMPLE: usize = 32 << 20;

/// A spreadsheet without a template.
#[derive(Debug)]
pub struct InferRequest<'a> {
    pub file: &'a InputFile,
    pub record: RecordKind,
    /// Name or number of the sheet, or the best match if `None`.
    pub sheet: Option<&'a str>,
    pub text: Options,
    /// How the file is read, as keys of the template.
    pub reading: Vec<(&'static str, String)>,
}

/// Proposes a template. Templates next to the file and of earlier runs serve as examples.
pub async fn infer(context: &Context, request: &InferRequest<'_>, observer: Observer<'_>) -> Result<Proposal, Error> {
    let book = sheet::open(&request.file.path, &request.text)?;
    let name = &request.file.name;
    let folder = name.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut earlier = templates_in(folder);
    earlier.extend(templates_of_runs(context, observer).await);
    let sheets: Vec<usize> = match request.sheet {
        Some(wanted) => vec![book.find_sheet(wanted)?],
        None => (0..book.sheets().len().min(MAX_SHEETS)).collect(),
    };
    let is_named = book.has_named_sheets() && (book.sheets().len() > 1 || request.sheet.is_some());
    let mut best: Option<Proposal> = None;
    for sheet in sheets {
        let context = infer::Context {
            file: name.file_name().unwrap_or(name.as_os_str()).to_string_lossy().into_owned(),
            sheet: book.sheets().get(sheet).filter(|_| is_named).cloned(),
            reading: request.reading.clone(),
            previous: earlier.clone(),
        };
        let proposal =
            infer::propose(request.record, &Sample::new(first_rows(&book, sheet)?, request.record), &context);
        if best.as_ref().is_none_or(|best| proposal.score() > best.score()) {
            best = Some(proposal);
        }
    }
    best.ok_or_else(|| sheet::Error::Empty { path: request.file.path.clone() }.into())
}

/// Returns the first rows of a sheet, fewer if the rows are unusually large.
fn first_rows(book: &Book, sheet: usize) -> Result<Vec<Row>, Error> {
    let mut rows = book.rows(sheet)?;
    let mut first = Vec::new();
    let mut row = Row::default();
    let mut size = 0;
    while first.len() < Sample::NEEDED && size < MAX_SAMPLE && rows.next(&mut row)? {
        size += row.text_len();
        first.push(row.clone());
    }
    Ok(first)
}

/// Returns the templates in a folder. Other TOML files are ignored.
fn templates_in(folder: &Path) -> Vec<PreviousTemplate> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_toml = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_toml).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let template = load_template(path.to_str()?, TemplateChanges::default()).ok()?;
        Some(PreviousTemplate::new(&path.file_name()?.to_string_lossy(), &template))
    };
    paths.iter().take(MAX_TEMPLATES).filter_map(read).collect()
}

/// Returns the distinct templates of earlier runs, newest first, without built-in templates.
async fn templates_of_runs(context: &Context, observer: Observer<'_>) -> Vec<PreviousTemplate> {
    let runs = match context.existing_ledger().await {
        Ok(None) => return Vec::new(),
        Ok(Some(ledger)) => {
            let runs = ledger.runs(MAX_RUNS).await;
            ledger.close().await;
            runs.map_err(Error::from)
        }
        Err(error) => Err(error),
    };
    let Ok(runs) = runs else {
        observer(Event::Warning("the ledger can't be read, so the templates of earlier uploads are not considered"));
        return Vec::new();
    };
    let mut known: Vec<String> = Vec::new();
    let mut earlier = Vec::new();
    for run in runs {
        let about = run.about;
        if builtin::find(&about.template).is_some() || known.contains(&about.template_toml) {
            continue;
        }
        if let Ok(template) = template_of_run(&about) {
            earlier.push(PreviousTemplate::new(&format!("run {}", run.id), &template));
            known.push(about.template_toml);
        }
    }
    earlier
}

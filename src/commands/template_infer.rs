//! `template infer`: writes a template for a spreadsheet, and says what it took each column for.

use std::io::Write;
use std::path::Path;

use serde_json::json;

use super::input::{InputFile, options};
use super::shell::quoted;
use super::{sending, template};
use crate::cli::{Infer, Mark, Reading};
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::sheet::write::{Existing, WholeFile};
use crate::sheet::{self, Book, Row};
use crate::template::infer::{Context, Earlier, From, Proposal, Sample, infer};
use crate::template::{builtin, load};
use crate::ui;

/// Templates beside the file that are looked at.
const MOST_TEMPLATES: usize = 100;
/// Runs whose templates are looked at.
const MOST_RUNS: u32 = 50;
/// Sheets of a workbook among which the one that fits best is looked for.
const MOST_SHEETS: usize = 50;
/// Bytes of text that are looked at.
const MOST_TEXT: usize = 32 << 20;

pub async fn run(args: &Infer, settings: &Settings) -> Result<Exit, Failure> {
    // A name that is taken is refused before the work.
    let output = args.output.as_deref().map(|path| WholeFile::create(path, Existing::Keep)).transpose()?;
    let file = InputFile::open(&args.file)?;
    let book = sheet::open(&file.path, &options(&args.reading))?;
    let mut earlier = beside(&args.file);
    earlier.extend(of_runs(settings).await);
    let proposal = best(args, &file, &book, &earlier)?;
    let written = match output {
        Some(output) => Some(write(output, &proposal.toml)?),
        None => None,
    };
    if settings.output.json {
        ui::json(&as_json(&proposal));
    } else if written.is_none() {
        ui::line(proposal.toml.trim_end());
    }
    if settings.output.talks() {
        ui::inference::print(&proposal);
        ui::hint(&next(args, written.as_deref(), &proposal));
    }
    if !proposal.missing.is_empty() {
        let missing: Vec<String> = proposal.missing.iter().map(|missing| missing.path()).collect();
        ui::remark(format_args!("no column was found for what the service needs: {}", missing.join(", ")));
    }
    Ok(if proposal.missing.is_empty() { Exit::Done } else { Exit::RowsFailed })
}

/// The proposal for the sheet that was named, or for the one that fits best; of equals the first.
fn best(args: &Infer, file: &InputFile, book: &Book, earlier: &[Earlier]) -> Result<Proposal, Failure> {
    let sheets: Vec<usize> = match &args.sheet {
        Some(wanted) => vec![sheet_index(wanted, file, book)?],
        None => (0..book.sheets().len().min(MOST_SHEETS)).collect(),
    };
    let mut best: Option<Proposal> = None;
    for sheet in sheets {
        let named = book.has_named_sheets() && (book.sheets().len() > 1 || args.sheet.is_some());
        let context = Context {
            file: args
                .file
                .file_name()
                .map_or_else(|| file.name.display().to_string(), |name| name.to_string_lossy().into_owned()),
            sheet: book.sheets().get(sheet).filter(|_| named).cloned(),
            reading: reading(&args.reading),
            earlier: earlier.to_vec(),
        };
        let proposal = infer(args.record, &Sample::of(top(book, sheet)?, args.record), context);
        if best.as_ref().is_none_or(|best| proposal.worth() > best.worth()) {
            best = Some(proposal);
        }
    }
    best.ok_or_else(|| sheet::Error::Empty { path: file.path.clone() }.into())
}

fn sheet_index(wanted: &str, file: &InputFile, book: &Book) -> Result<usize, Failure> {
    let named = book.sheets().iter().position(|sheet| sheet == wanted);
    let numbered = || wanted.parse().ok().filter(|number| (1..=book.sheets().len()).contains(number)).map(|n| n - 1);
    named.or_else(numbered).ok_or_else(|| {
        let (path, name, available) = (file.path.clone(), wanted.to_owned(), book.sheets().to_vec());
        sheet::Error::NoSuchSheet { path, name, available }.into()
    })
}

/// The sheet's first rows; fewer where they are uncommonly large.
fn top(book: &Book, sheet: usize) -> Result<Vec<Row>, Failure> {
    let mut rows = book.rows(sheet)?;
    let mut top = Vec::new();
    let mut row = Row::default();
    let mut size = 0;
    while top.len() < Sample::NEEDED && size < MOST_TEXT && rows.next(&mut row)? {
        size += row.text_len();
        top.push(row.clone());
    }
    Ok(top)
}

/// The user's templates that lie beside the file. What is no template is passed over.
fn beside(file: &Path) -> Vec<Earlier> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_toml = |path: &std::path::PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_toml).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let template = template::load(path.to_str()?).ok()?;
        Some(Earlier::of(&path.file_name()?.to_string_lossy(), &template))
    };
    paths.iter().take(MOST_TEMPLATES).filter_map(read).collect()
}

/// The templates of earlier uploads, the newest first. A ledger that can't be read has no say.
async fn of_runs(settings: &Settings) -> Vec<Earlier> {
    if !settings.home.join("ledger.db").is_file() {
        return Vec::new();
    }
    let Ok(ledger) = sending::ledger(settings).await else {
        ui::remark("the ledger of earlier uploads can't be read, so their templates are not looked at");
        return Vec::new();
    };
    let runs = ledger.runs(MOST_RUNS).await.unwrap_or_default();
    ledger.close().await;
    let mut known: Vec<String> = Vec::new();
    let mut earlier = Vec::new();
    for run in runs {
        let about = run.about;
        // What comes with the program is nobody's choice.
        if builtin::find(&about.template).is_some() || known.contains(&about.template_toml) {
            continue;
        }
        if let Ok(template) = load::load(&about.template, &about.template_toml, &load::no_tables) {
            earlier.push(Earlier::of(&format!("run {}", run.id), &template));
            known.push(about.template_toml);
        }
    }
    earlier
}

fn write(mut output: WholeFile, toml: &str) -> Result<std::path::PathBuf, Failure> {
    let path = output.path().to_owned();
    output.write_all(toml.as_bytes()).map_err(|source| sheet::Error::Write { path, source })?;
    Ok(output.finish()?)
}

/// The flags that say how to read the file, as keys of a template.
fn reading(reading: &Reading) -> Vec<(&'static str, String)> {
    let delimiter = |byte| if byte == b'\t' { "tab".to_owned() } else { char::from(byte).to_string() };
    let mark = |mark: Mark| mark.0.map_or("none".to_owned(), |byte| char::from(byte).to_string());
    let keys = [
        ("delimiter", reading.delimiter.map(delimiter)),
        ("encoding", reading.encoding.clone()),
        ("quote", reading.quote.map(mark)),
        ("escape", reading.escape.map(mark)),
    ];
    keys.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

fn as_json(proposal: &Proposal) -> serde_json::Value {
    let fields = proposal.fields.iter().chain(&proposal.grouped_by).map(|proposed| {
        let shown = proposed.from.shown();
        let (column, value) = match &proposed.from {
            From::Column { .. } => (Some(shown), None),
            From::Constant(_) => (None, Some(shown)),
        };
        let mut field = json!({"field": proposed.path(), "column": column, "why": proposed.why, "sureness": proposed.sure.to_string()});
        if let Some(value) = value {
            field["value"] = json!(value);
        }
        field
    });
    json!({
        "template": proposal.toml,
        "fields": fields.collect::<Vec<_>>(),
        "unplaced": proposal.unplaced,
        "missing": proposal.missing.iter().map(|missing| missing.path()).collect::<Vec<_>>(),
    })
}

/// What a person would do next.
fn next(args: &Infer, written: Option<&Path>, proposal: &Proposal) -> String {
    let file = args.file.display().to_string();
    let named = match written {
        Some(path) => path.display().to_string(),
        None => Path::new(&file).with_extension("toml").display().to_string(),
    };
    let save = if written.is_none() { "save it, " } else { "" };
    let template = quoted(&named);
    if !proposal.missing.is_empty() {
        return format!("{save}fill in what is missing, then: sheetport template check {template}");
    }
    format!("{save}read it through, then: sheetport check {} -t {template}", quoted(&file))
}

//! `template`: the templates that come with the program, and checking one's own.

use std::path::Path;

use serde_json::json;

use crate::cli;
use crate::diagnostics::{Mistake, nearest};
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::sheet;
use crate::template::schema::schema;
use crate::template::skeleton::skeleton;
use crate::template::{Template, builtin, examples, load};
use crate::ui;

/// Templates larger than this are something else.
const MAX_SIZE: u64 = 1 << 20;
/// A lookup table is held whole.
const MOST_ROWS: usize = 1_000_000;

pub async fn run(command: &cli::Template, settings: &Settings) -> Result<Exit, Failure> {
    match command {
        cli::Template::List => list(settings),
        cli::Template::Show { name } => show(name),
        cli::Template::Check { template } => check(template, settings),
        cli::Template::New { record } => {
            ui::line(skeleton(*record).trim_end());
            Ok(Exit::Done)
        }
        cli::Template::Schema => {
            ui::json(&schema());
            Ok(Exit::Done)
        }
        cli::Template::Infer(args) => super::template_infer::run(args, settings).await,
    }
}

/// The template that `wanted` names: a built-in one, or a file.
pub fn load(wanted: &str) -> Result<Template, Failure> {
    if let Some(source) = builtin::find(wanted) {
        return Ok(load::load(wanted, source, &load::no_tables)?);
    }
    let path = Path::new(wanted);
    if let Some("csv" | "tsv" | "txt" | "xlsx" | "xls" | "ods") =
        path.extension().and_then(|extension| extension.to_str())
    {
        return Err(Failure::new(
            Exit::Usage,
            format!("{wanted} is no template"),
            "the spreadsheet goes first, the template after -t: sheetport upload FILE -t TEMPLATE",
        ));
    }
    let looks_like_a_path = path.extension().is_some() || path.components().count() > 1;
    let source = match std::fs::metadata(path) {
        Ok(metadata) if metadata.len() > MAX_SIZE => {
            return Err(Failure::new(
                Exit::Usage,
                format!("{wanted} is too large for a template"),
                "-t takes a template; the spreadsheet goes first",
            ));
        }
        Ok(_) => std::fs::read_to_string(path),
        Err(error) => Err(error),
    };
    match source {
        Ok(source) => Ok(load::load(wanted, &source, &|name| table(path, name))?),
        Err(_) if !looks_like_a_path => Err(no_such(wanted)),
        Err(error) => Err(Failure::new(
            Exit::Usage,
            format!("the template {wanted} can't be read: {error}"),
            "check its name; `sheetport template list` shows the built-in ones",
        )),
    }
}

/// The template of a run, from the copy that the run has of it. Its lookup tables are read again where it lay.
pub fn reload(name: &str, source: &str) -> Result<Template, Mistake> {
    load::load(name, source, &|table_name| table(Path::new(name), table_name))
}

/// The same, to send by it.
pub fn load_kept(name: &str, source: &str) -> Result<Template, Failure> {
    reload(name, source).map_err(|mistake| {
        let failure = Failure::from(mistake);
        let hint = failure.hint.into_iter().chain(["or name the template as it lies now: -t TEMPLATE".to_owned()]);
        Failure { hint: Some(hint.collect::<Vec<_>>().join("; ")), ..failure }
    })
}

/// The rows of a lookup table that lies beside the template at `path`. Any spreadsheet will do; its first sheet counts.
fn table(path: &Path, name: &str) -> Result<Vec<Vec<String>>, String> {
    let file = path.parent().unwrap_or(Path::new("")).join(name);
    let words = |error: sheet::Error| error.to_string();
    let book = sheet::open(&file, &sheet::Options::default()).map_err(words)?;
    let mut rows = book.rows(0).map_err(words)?;
    let mut row = sheet::Row::default();
    let mut table = Vec::new();
    while rows.next(&mut row).map_err(words)? {
        let before = usize::try_from(row.number).unwrap_or(usize::MAX).saturating_sub(1);
        if before >= MOST_ROWS {
            return Err(format!("{} has more than {MOST_ROWS} rows", file.display()));
        }
        table.resize(before.max(table.len()), Vec::new());
        table.push(row.cells().map(|cell| cell.shown().trim().to_owned()).collect());
    }
    Ok(table)
}

fn list(settings: &Settings) -> Result<Exit, Failure> {
    let load = |(name, source): &(&str, &str)| load::load(name, source, &load::no_tables);
    let templates = builtin::BUILT_IN.iter().map(load).collect::<Result<Vec<Template>, _>>()?;
    if settings.output.json {
        let listed = templates.iter().map(
            |template| json!({"name": template.name, "record": template.record.name(), "description": template.description}),
        );
        ui::json(&json!({"templates": listed.collect::<Vec<_>>()}));
        return Ok(Exit::Done);
    }
    let widest = |text: fn(&Template) -> &str| templates.iter().map(|template| text(template).len()).max();
    let name = widest(|template| &template.name).unwrap_or_default();
    let kind = widest(|template| template.record.name()).unwrap_or_default();
    ui::line(format_args!("{:<name$}  {:<kind$}  {}", "template", "for each", "what it reads"));
    for template in &templates {
        ui::line(format_args!("{:<name$}  {:<kind$}  {}", template.name, template.record.name(), template.description));
    }
    Ok(Exit::Done)
}

fn show(name: &str) -> Result<Exit, Failure> {
    let source = builtin::find(name).ok_or_else(|| no_such(name))?;
    ui::line(source.trim_end());
    Ok(Exit::Done)
}

fn check(wanted: &str, settings: &Settings) -> Result<Exit, Failure> {
    let template = load(wanted)?;
    let mismatches = examples::run(&template);
    if settings.output.json {
        let failed = mismatches.iter().map(|m| json!({"example": m.number, "expected": m.expected, "got": m.got}));
        ui::json(
            &json!({"template": template.name, "examples": template.examples.len(), "failed": failed.collect::<Vec<_>>()}),
        );
    } else {
        for mismatch in &mismatches {
            ui::line(format_args!("example {} does not come out as it says", mismatch.number));
            ui::line(format_args!("  expected  {}", mismatch.expected));
            ui::line(format_args!("  got       {}", mismatch.got));
        }
        if mismatches.is_empty() {
            ui::line(format_args!(
                "{}: well-formed; {} right",
                template.name,
                ui::counted(template.examples.len() as u64, "example")
            ));
        }
    }
    Ok(if mismatches.is_empty() { Exit::Done } else { Exit::Usage })
}

fn no_such(name: &str) -> Failure {
    let names: Vec<&str> = builtin::BUILT_IN.iter().map(|(name, _)| *name).collect();
    let hint = match nearest(name, names.iter().copied()) {
        Some(nearest) => {
            format!("did you mean {nearest}? a file of yours is named with its extension, as in prices.toml")
        }
        None => format!(
            "built in are: {}; a file of yours is named with its extension, as in prices.toml",
            names.join(", ")
        ),
    };
    Failure::new(Exit::Usage, format!("there is no template '{name}'"), hint)
}

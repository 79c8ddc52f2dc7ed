//! `template infer`: writes a template for a spreadsheet and explains the choice of columns.

use std::path::Path;

use serde_json::json;
use sheetport_documents::write::quoted as toml_text;
use sheetport_infer::{MissingField, Proposal, ProposedSource};
use sheetport_language::say;
use sheetport_operations::{self as operations, CommandLine, Context, InferRequest};
use sheetport_sheet::write::{Existing, WholeFile};

use crate::cli::Infer;
use crate::commands::console::Console;
use crate::commands::input::open;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

pub(super) async fn run(args: &Infer, settings: &Settings) -> Result<Exit, Failure> {
    // Refuses an existing file before the work.
    let output = args.output.as_deref().filter(|path| *path != Path::new("-"));
    let output = output.map(|path| WholeFile::create(path, Existing::Keep)).transpose()?;
    let file = open(&args.file, settings).await?;
    let request = InferRequest {
        file: &file,
        record: args.record,
        sheet: args.sheet.as_deref(),
        text: args.reading.options(),
        header_row: None,
        reading: args.reading.in_use(),
    };
    let console = Console::new(settings.output);
    let proposal = operations::infer(&settings.context, &request, &|event| console.show(event)).await?;
    let written = output.map(|output| output.finish_with(proposal.toml.as_bytes())).transpose()?;
    if settings.output.json {
        ui::json(&as_json(&proposal));
    } else if written.is_none() {
        ui::text(&proposal.toml);
    }
    if settings.output.talks() {
        ui::inference::print(&proposal);
        ui::hint(&next(args, written.as_deref(), &proposal, &settings.context));
    }
    if proposal.missing.is_empty() {
        return Ok(Exit::Done);
    }
    let missing: Vec<String> = proposal.missing.iter().map(missing_field).collect();
    ui::remark(say!("no column was found for required fields: {}", missing.join(", ")));
    let names = proposal.missing.iter().find_map(|missing| Some((missing.path(), missing.unique_names()?.1)));
    if let Some((field, label)) = names {
        let input = proposal.kind.input();
        ui::hint(&say!(
            "the names in '{label}' are unique and can identify the {} instead: add [fields.{field}] with the line column = {}; each \
             {} that is renamed becomes a new one",
            input.plural,
            toml_text(label),
            input.name
        ));
    }
    Ok(Exit::RowsFailed)
}

/// Returns a missing field with the columns that could be meant.
fn missing_field(missing: &MissingField) -> String {
    let candidates: Vec<String> = missing.candidates().map(|label| format!("'{label}'")).collect();
    match candidates.as_slice() {
        [] => missing.path(),
        candidates => format!("{} (perhaps {})", missing.path(), candidates.join(", ")),
    }
}

fn as_json(proposal: &Proposal) -> serde_json::Value {
    let fields = proposal.fields.iter().chain(&proposal.grouped_by).map(|proposed| {
        let shown = proposed.source.label();
        let (column, value) = match &proposed.source {
            ProposedSource::Column { .. } => (Some(shown), None),
            ProposedSource::Constant(_) | ProposedSource::Computed { .. } => (None, Some(shown)),
        };
        let mut field = json!({"field": proposed.path(), "column": column, "why": proposed.reason, "sureness": proposed.confidence.to_string()});
        if let Some(value) = value {
            field["value"] = json!(value);
        }
        field
    });
    json!({
        "template": proposal.toml,
        "record": proposal.kind.name(),
        "record_guess": proposal.is_kind_guess,
        "fields": fields.collect::<Vec<_>>(),
        "unplaced": proposal.unplaced,
        "missing": proposal.missing.iter().map(|missing| missing.path()).collect::<Vec<_>>(),
    })
}

/// Returns the advice for the next step.
fn next(args: &Infer, written: Option<&Path>, proposal: &Proposal, context: &Context) -> String {
    let path = written.map_or_else(|| args.file.with_extension("toml"), Path::to_owned);
    let save = if written.is_none() { "save the template, " } else { "" };
    if proposal.missing.is_empty() {
        let check = CommandLine::new(context, "check").file(&args.file).short('t', "template", &path);
        format!("{save}review it, then run: {check}")
    } else {
        let check = CommandLine::new(context, "template check").file(&path);
        format!("{save}fill in the missing fields, then run: {check}")
    }
}

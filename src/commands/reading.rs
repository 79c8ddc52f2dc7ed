//! What `upload` and `check` share before anything is sent: opening a spreadsheet, saying how it was read, and summing
//! up a pass over it.

use super::input::{InputFile, options};
use super::shell::quoted;
use super::summary::Summary;
use crate::cli::{Input, Mark};
use crate::error::{Exit, Failure};
use crate::ledger::{NewRun, RunCommand, SheetSelection};
use crate::settings::Settings;
use crate::template::bind::{Columns, Missing};
use crate::template::model::FieldRule;
use crate::template::{Layout, Template};
use crate::ui;
use crate::upload::{Source, Tally};

/// Opens the spreadsheet and finds the template's columns in it.
pub fn open(file: &InputFile, input: &Input, template: &Template) -> Result<Source, Failure> {
    let options = options(&input.reading).or(&template.sheet.text);
    Ok(Source::open_as(&file.path, &file.name, template, input.sheet.as_deref(), &options)?)
}

/// What a run over the file is about.
pub fn about(
    command: RunCommand,
    settings: &Settings,
    base_url: &str,
    file: &InputFile,
    source: &Source,
    template: &Template,
) -> Result<NewRun, Failure> {
    let first = source.parts.first();
    let sheet = match source.parts.as_slice() {
        [part] => SheetSelection::One(source.name_of(part).to_owned()),
        _ => SheetSelection::Several,
    };
    let column = |field: usize| {
        source.parts.iter().find_map(|part| Some(part.columns.of(part.layout.columns.get(field)?.first()?)))
    };
    let columns = template.rules().enumerate();
    Ok(NewRun {
        command,
        record: template.record,
        template: template.name.clone(),
        template_toml: template.source.clone(),
        file: file.lasting_name(),
        file_hash: source.hash()?,
        base_url: base_url.to_owned(),
        workspace: settings.credentials.workspace().unwrap_or_default(),
        sheet,
        header: source.header.clone(),
        header_row: first.map_or(0, |part| part.layout.header.row),
        columns: columns.filter_map(|(place, rule)| Some((rule.field.name.to_owned(), column(place)?))).collect(),
        chosen: source.chosen,
        retry_of: None,
        options: Vec::new(),
    })
}

/// Says how the file was read: what a person checks first when something looks odd.
pub fn describe(settings: &Settings, source: &Source, template: &Template) {
    for (sheet, missing) in &source.left_out {
        // One that has some of the columns may be meant, and a misspelt header is not to lose its rows in silence.
        if missing.found > 0 || !settings.output.quiet {
            left_out(sheet, missing);
        }
    }
    if !settings.output.talks() {
        return;
    }
    let (strong, faint) = (ui::style::STRONG, ui::style::FAINT);
    let sheets: Vec<String> = source
        .parts
        .iter()
        .map(|part| {
            let header = format!("header in row {}", part.layout.header.row);
            match source.book.has_named_sheets() {
                true => format!("sheet '{}', {header}", source.name_of(part)),
                false => header,
            }
        })
        .collect();
    ui::line(format_args!(
        "{strong}{}{strong:#}  {}, {}",
        source.path.display(),
        source.book.description(),
        sheets.join("; ")
    ));
    let heading = format!("{} by the template {}:", template.record.input().plural, template.name);
    let mapped = distinct(source.parts.iter().flat_map(|part| mapped(template, &part.layout)));
    ui::line(format_args!("{faint}{}{faint:#}", ui::list("  ", &heading, &mapped)));
    for (layout, drift) in
        source.parts.iter().flat_map(|part| part.layout.drifted.iter().map(|drift| (&part.layout, drift)))
    {
        let Some(name) = layout.header.names.get(drift.column) else { continue };
        ui::remark(format_args!(
            "no column was found for {}, which may be left out; '{}' is called almost like it and is not used",
            drift.field,
            name.trim()
        ));
    }
    if template.record.input().must_not_repeat() && source.parts.iter().any(|part| part.layout.status.is_some()) {
        ui::remark(
            "this is a report: its rows that were sent, or may have been, by what it says itself, are left out; \
             `sheetport retry` looks them up in the ledger",
        );
    }
    let unused = distinct(source.parts.iter().flat_map(|part| unused(&part.layout)));
    if !unused.is_empty() {
        ui::line(format_args!("{faint}{}{faint:#}", ui::list("  ", "not used:", &unused)));
    }
}

/// Says why a sheet is not read, if all that have the columns are to be.
fn left_out(sheet: &str, missing: &Missing) {
    let columns: Vec<String> = missing.columns.iter().map(ToString::to_string).collect();
    let why = match (missing.found, columns.as_slice()) {
        (0, _) | (_, []) => "it has none of the template's columns".to_owned(),
        _ => columns.join("; "),
    };
    ui::remark(format_args!("the sheet '{sheet}' is left out: {why}"));
}

/// Shows what is wrong with the sheet.
pub fn show_problems(tally: &Tally) {
    if tally.rejected > 0 {
        ui::heading("Wrong in the sheet");
        ui::problems::print(&tally.causes);
    }
}

/// Sums up a pass that sent nothing. `next` is the command that would send what it found right.
pub fn ended(
    command: &str,
    source: &Source,
    template: &Template,
    tally: &Tally,
    next: impl FnOnce() -> String,
) -> (Exit, Summary) {
    let file = source.path.display().to_string();
    let next = (tally.to_send > 0).then(next);
    let exit = if tally.rejected > 0 { Exit::RowsFailed } else { Exit::Done };
    (exit, Summary::of_tally(command, template.record.name(), &template.name, &file, tally, next))
}

/// The command that uploads what was read, read in the same way.
pub fn upload_of(input: &Input) -> String {
    let mut words = vec!["sheetport".to_owned(), "upload".to_owned(), input.file.display().to_string()];
    words.extend(["-t".to_owned(), input.template.clone()]);
    let delimiter = |byte| if byte == b'\t' { "tab".to_owned() } else { char::from(byte).to_string() };
    let mark = |mark: Mark| mark.0.map_or("none".to_owned(), |byte| char::from(byte).to_string());
    let reading = &input.reading;
    for (flag, value) in [
        ("--sheet", input.sheet.clone()),
        ("--delimiter", reading.delimiter.map(delimiter)),
        ("--encoding", reading.encoding.clone()),
        ("--quote", reading.quote.map(mark)),
        ("--escape", reading.escape.map(mark)),
    ] {
        words.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value]));
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn unused(layout: &Layout) -> impl Iterator<Item = String> {
    let name = |index: &usize| Some(layout.header.names.get(*index)?.trim().to_owned());
    layout.unused.iter().filter_map(name)
}

fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for text in texts {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct
}

/// Which column becomes which field.
fn mapped(template: &Template, layout: &Layout) -> Vec<String> {
    let name = |index: usize| Some(layout.header.names.get(index)?.trim().to_owned());
    let pair = |(rule, columns): (&FieldRule, &Columns)| {
        let from = match columns {
            Columns::None => return None,
            Columns::One(index) => name(*index)?,
            Columns::Several(indexes) => {
                indexes.iter().flatten().filter_map(|index| name(*index)).collect::<Vec<_>>().join(" + ")
            }
        };
        Some(format!("{from} → {}", rule.field.name))
    };
    template.rules().zip(&layout.columns).filter_map(pair).collect()
}

//! `upload`: read the whole file, plan every record, then send.

use std::sync::Arc;

use super::sending::{self, Sending};
use super::summary::Summary;
use super::{check, input, now, template};
use crate::api::Client;
use crate::cli::{Input, Upload};
use crate::error::{Exit, Failure};
use crate::ledger::NewRun;
use crate::settings::Settings;
use crate::template::{Layout, Template};
use crate::ui;
use crate::ui::progress::Progress;
use crate::upload::{Source, plan, read};

pub async fn run(args: &Upload, settings: &Settings) -> Result<Exit, Failure> {
    let (exit, summary) = upload(args, settings).await?;
    summary.print(settings.output);
    Ok(exit)
}

/// The whole of an upload but for its accounting, which the caller prints.
pub async fn upload(args: &Upload, settings: &Settings) -> Result<(Exit, Summary), Failure> {
    let template = Arc::new(template::load(&args.input.template)?);
    if let Some(report) = &args.report {
        sending::report_format(report)?;
    }
    if args.dry_run {
        return dry_run(args, settings, &template);
    }
    let client = Client::new(settings.base_url()?, settings.credentials.clone(), usize::from(args.pacing.concurrency))?;
    let source = Arc::new(open(&args.input, &template)?);
    let ledger = sending::ledger(settings).await?;
    let about = about(settings, &client, &source, &template);
    let _lock = ledger.lock(&sending::identity(&about))?;
    describe(settings, &source, &template);
    let progress = Progress::new(settings.output.progress, "reading", "row", None);
    let show = |rows| progress.at(rows, String::new);
    let (run, tally) = plan::plan(&ledger, &about, Arc::clone(&source), Arc::clone(&template), now(), &show).await?;
    progress.finish(tally.rows);
    if !settings.output.json && !settings.output.quiet && tally.rejected > 0 {
        ui::heading("Wrong in the sheet");
        ui::problems::print(&tally.causes);
    }
    let sending = Sending {
        settings,
        ledger: &ledger,
        client: Arc::new(client),
        run: ledger.run(run).await?,
        kind: template.record,
        pacing: &args.pacing,
        report: args.report.as_deref(),
    };
    let ended = match args.all_or_nothing && tally.rejected > 0 {
        true => sending.withhold().await?,
        false => sending.finish("upload").await?,
    };
    ledger.close().await;
    Ok(ended)
}

/// Opens the spreadsheet and finds the template's columns in it.
pub fn open(args: &Input, template: &Template) -> Result<Source, Failure> {
    let options = input::options(&args.reading).or(&template.sheet.text);
    Ok(Source::open(&args.file, template, args.sheet.as_deref(), &options)?)
}

/// Says how the file was read: what a person checks first when something looks odd.
pub fn describe(settings: &Settings, source: &Source, template: &Template) {
    if settings.output.quiet || settings.output.json {
        return;
    }
    let strong = ui::style::STRONG;
    let faint = ui::style::FAINT;
    let sheet =
        if source.book.has_named_sheets() { format!(", sheet '{}'", source.sheet_name()) } else { String::new() };
    ui::line(format_args!(
        "{strong}{}{strong:#}  {}{sheet}, header in row {}",
        source.path.display(),
        source.book.description(),
        source.layout.header.row
    ));
    let heading = format!("{} by the template {}:", template.record.input().plural, template.name);
    ui::line(format_args!("{faint}{}{faint:#}", ui::list("  ", &heading, &mapped(template, &source.layout))));
    let header = &source.layout.header.names;
    let unused: Vec<String> =
        source.layout.unused.iter().filter_map(|index| Some(header.get(*index)?.trim().to_owned())).collect();
    if !unused.is_empty() {
        ui::line(format_args!("{faint}{}{faint:#}", ui::list("  ", "not used:", &unused)));
    }
}

/// Which column becomes which field.
fn mapped(template: &Template, layout: &Layout) -> Vec<String> {
    let pair = |(rule, column): (&crate::template::model::FieldRule, &Option<usize>)| {
        let header = layout.header.names.get((*column)?)?;
        Some(format!("{} → {}", header.trim(), rule.field.name))
    };
    template.fields.iter().zip(&layout.columns).filter_map(pair).collect()
}

fn about(settings: &Settings, client: &Client, source: &Source, template: &Template) -> NewRun {
    let columns = template.fields.iter().zip(&source.layout.columns);
    NewRun {
        command: "upload".to_owned(),
        record: template.record.name().to_owned(),
        template: template.name.clone(),
        template_toml: template.source.clone(),
        file: absolute(&source.path),
        file_hash: source.hash.clone(),
        base_url: client.base().to_string(),
        workspace: settings.credentials.workspace().unwrap_or_default(),
        sheet: source.sheet_name().to_owned(),
        header: source.layout.header.names.iter().take(source.layout.width).cloned().collect(),
        header_row: source.layout.header.row,
        columns: columns.filter_map(|(rule, column)| Some((rule.field.name.to_owned(), (*column)?))).collect(),
    }
}

fn absolute(path: &std::path::Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

fn dry_run(args: &Upload, settings: &Settings, template: &Template) -> Result<(Exit, Summary), Failure> {
    let source = open(&args.input, template)?;
    describe(settings, &source, template);
    let tally = read::read(&source, template, |_| true)?;
    Ok(check::ended(settings, "upload", &source, template, &tally))
}

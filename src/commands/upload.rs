//! `upload`: read the whole file, plan every record, then send.

use std::sync::Arc;

use super::sending::{self, Sending};
use super::summary::Summary;
use super::{check, now, template};
use crate::api::Client;
use crate::cli::{Input, Upload};
use crate::error::{Exit, Failure};
use crate::ledger::NewRun;
use crate::settings::Settings;
use crate::sheet;
use crate::template::{Layout, Template};
use crate::ui;
use crate::ui::progress::Progress;
use crate::upload::{Source, plan, read};

pub async fn run(args: &Upload, settings: &Settings) -> Result<Exit, Failure> {
    let template = Arc::new(template::load(&args.input.template)?);
    if let Some(report) = &args.report {
        sending::check_report(report)?;
    }
    if args.dry_run {
        return dry_run(args, settings, &template);
    }
    let (exit, summary) = upload(args, settings, template).await?;
    summary.print(settings.output);
    Ok(exit)
}

/// Plans and sends, and answers what is to be printed of it.
pub async fn upload(args: &Upload, settings: &Settings, template: Arc<Template>) -> Result<(Exit, Summary), Failure> {
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
        ui::line("Wrong in the sheet:");
        ui::problems::print(&tally.causes);
        ui::line("");
    }
    if args.all_or_nothing && tally.rejected > 0 {
        ledger.withhold(run).await?;
        return withheld(args, &ledger, run).await;
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
    let ended = sending.finish("upload").await?;
    ledger.close().await;
    Ok(ended)
}

/// Opens the spreadsheet and finds the template's columns in it.
pub fn open(input: &Input, template: &Template) -> Result<Source, Failure> {
    let options = sheet::Options { delimiter: input.delimiter, encoding: input.encoding.clone() };
    Ok(Source::open(&input.file, template, input.sheet.as_deref(), &options)?)
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
    ui::line(format_args!(
        "  {faint}{} by the template {}: {}{faint:#}",
        template.record.input().plural,
        template.name,
        mapped(template, &source.layout)
    ));
    let names = |indexes: &[usize]| {
        indexes
            .iter()
            .filter_map(|index| source.layout.header.names.get(*index))
            .map(|name| name.trim().to_owned())
            .collect::<Vec<_>>()
    };
    let unused = names(&source.layout.unused);
    if !unused.is_empty() {
        ui::line(format_args!("  {faint}not used: {}{faint:#}", unused.join(", ")));
    }
}

fn mapped(template: &Template, layout: &Layout) -> String {
    let pair = |(rule, column): (&crate::template::model::FieldRule, &Option<usize>)| {
        let header = layout.header.names.get((*column)?)?;
        Some(format!("{} → {}", header.trim(), rule.field.name))
    };
    template.fields.iter().zip(&layout.columns).filter_map(pair).collect::<Vec<_>>().join(", ")
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

fn dry_run(args: &Upload, settings: &Settings, template: &Template) -> Result<Exit, Failure> {
    let source = open(&args.input, template)?;
    describe(settings, &source, template);
    let tally = read::read(&source, template, |_| true)?;
    check::show(settings, "upload", &args.input, &source, template, &tally);
    Ok(if tally.rejected > 0 { Exit::RowsFailed } else { Exit::Done })
}

async fn withheld(args: &Upload, ledger: &crate::ledger::Ledger, run: i64) -> Result<(Exit, Summary), Failure> {
    let run = ledger.run(run).await?;
    let accounting = ledger.accounting(run.id).await?;
    let report = match &args.report {
        None => None,
        Some(path) => {
            let format = sending::report_format(path)?;
            Some(
                crate::report::write(
                    ledger,
                    &run,
                    path,
                    format,
                    sheet::write::Existing::Keep,
                    crate::report::Only::All,
                )
                .await?
                .path,
            )
        }
    };
    let next = format!("sheetport report {} -o FILE.xlsx", run.id);
    ui::remark("nothing was sent: some rows can't be, and --all-or-nothing was given");
    Ok((Exit::RowsFailed, Summary::of_run("upload", &run, &accounting, report, Some(next))))
}

//! `upload`: read the whole file, plan every record, then send.

use std::path::Path;
use std::sync::Arc;

use super::sending::{self, Sending};
use super::summary::Summary;
use super::{now, reading, template};
use crate::api::Client;
use crate::cli::Upload;
use crate::error::{Exit, Failure};
use crate::ledger::NewRun;
use crate::settings::Settings;
use crate::template::Template;
use crate::ui::progress::Progress;
use crate::upload::read::{self, Keep};
use crate::upload::{Source, plan};

pub async fn run(args: &Upload, settings: &Settings) -> Result<Exit, Failure> {
    let (exit, summary) = upload(args, settings).await?;
    summary.print(settings.output);
    Ok(exit)
}

/// The whole of an upload but for its accounting, which the caller prints.
pub async fn upload(args: &Upload, settings: &Settings) -> Result<(Exit, Summary), Failure> {
    let template = Arc::new(template::load(&args.input.template)?);
    if let Some(report) = &args.report {
        sending::check_report(report)?;
    }
    if args.dry_run {
        return dry_run(args, settings, &template);
    }
    let client = Client::new(settings.base_url()?, settings.credentials.clone(), usize::from(args.pacing.concurrency))?;
    let source = Arc::new(reading::open(&args.input, &template)?);
    let ledger = sending::ledger(settings).await?;
    let about = about(settings, &client, &source, &template);
    let _lock = ledger.lock(&sending::identity(&about))?;
    reading::describe(settings, &source, &template);
    let progress = Progress::new(settings.output.progress, "reading", "row", None);
    let show = |rows| progress.at(rows, String::new);
    let (run, tally) = plan::plan(&ledger, &about, Arc::clone(&source), Arc::clone(&template), now(), &show).await?;
    progress.finish(tally.rows);
    if settings.output.talks() {
        reading::show_problems(&tally);
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

fn dry_run(args: &Upload, settings: &Settings, template: &Template) -> Result<(Exit, Summary), Failure> {
    let source = reading::open(&args.input, template)?;
    reading::describe(settings, &source, template);
    let tally = read::read(&source, template, Keep::Nothing, |_| true)?;
    if settings.output.talks() {
        reading::show_problems(&tally);
    }
    Ok(reading::ended("upload", &args.input, &source, template, &tally))
}

fn about(settings: &Settings, client: &Client, source: &Source, template: &Template) -> NewRun {
    let columns = template.rules().zip(&source.layout.columns);
    NewRun {
        command: "upload".to_owned(),
        record: template.record.name().to_owned(),
        template: template.name.clone(),
        template_toml: template.source.clone(),
        file: absolute(&source.path),
        file_hash: source.hash.clone(),
        base_url: client.address().to_owned(),
        workspace: settings.credentials.workspace().unwrap_or_default(),
        sheet: source.sheet_name().to_owned(),
        header: source.layout.header.names.iter().take(source.layout.width).cloned().collect(),
        header_row: source.layout.header.row,
        columns: columns.filter_map(|(rule, column)| Some((rule.field.name.to_owned(), column.first()?))).collect(),
    }
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

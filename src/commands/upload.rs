//! `upload`: read the whole file, plan every record, then send.

use std::sync::Arc;

use super::input::InputFile;
use super::sending::{self, Sending};
use super::summary::Summary;
use super::{now, reading, template};
use crate::api::Client;
use crate::cli::Upload;
use crate::error::{Exit, Failure};
use crate::ledger::{NewRun, SEVERAL_SHEETS};
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
    let file = InputFile::open(&args.input.file)?;
    let source = Arc::new(reading::open(&file, &args.input, &template)?);
    let ledger = sending::ledger(settings).await?;
    let about = about(settings, &client, &file, &source, &template)?;
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
    let file = InputFile::open(&args.input.file)?;
    let source = reading::open(&file, &args.input, template)?;
    reading::describe(settings, &source, template);
    let tally = read::read(&source, template, Keep::Nothing, |_| true)?;
    if settings.output.talks() {
        reading::show_problems(&tally);
    }
    Ok(reading::ended("upload", &args.input, &source, template, &tally))
}

fn about(
    settings: &Settings,
    client: &Client,
    file: &InputFile,
    source: &Source,
    template: &Template,
) -> Result<NewRun, Failure> {
    let first = &source.parts[0];
    let sheet = if source.parts.len() > 1 { SEVERAL_SHEETS } else { source.name_of(first) };
    let column = |field: usize| {
        source.parts.iter().find_map(|part| Some(part.places.of(part.layout.columns.get(field)?.first()?)))
    };
    let columns = template.rules().enumerate();
    Ok(NewRun {
        command: "upload".to_owned(),
        record: template.record.name().to_owned(),
        template: template.name.clone(),
        template_toml: template.source.clone(),
        file: file.lasting_name(),
        file_hash: source.hash()?,
        base_url: client.address().to_owned(),
        workspace: settings.credentials.workspace().unwrap_or_default(),
        sheet: sheet.to_owned(),
        header: source.header.clone(),
        header_row: first.layout.header.row,
        columns: columns.filter_map(|(place, rule)| Some((rule.field.name.to_owned(), column(place)?))).collect(),
    })
}

//! `upload`: read the whole file, plan every record, then send.

use std::sync::Arc;
use std::time::Instant;

use super::input::InputFile;
use super::login::check_may_write;
use super::sending::{self, Sending};
use super::summary::Summary;
use super::{now, preview, reading, rehearse, reporting, template};
use crate::cli::Upload;
use crate::client::{Client, Pace};
use crate::error::{Exit, Failure};
use crate::ledger::{CallOption, Ledger, NewRun, RunCommand};
use crate::settings::Settings;
use crate::template::Template;
use crate::ui;
use crate::ui::progress::Progress;
use crate::upload::server_diff::{self, Connection};
use crate::upload::{Source, plan};

pub async fn run(args: &Upload, settings: &Settings) -> Result<Exit, Failure> {
    let (exit, summary) = match args.rehearse {
        true => rehearse::run(args, settings).await?,
        false => upload(args, settings).await?,
    };
    summary.print(settings.output);
    Ok(exit)
}

/// The whole of an upload but for its accounting, which the caller prints.
pub async fn upload(args: &Upload, settings: &Settings) -> Result<(Exit, Summary), Failure> {
    let template = Arc::new(template(args)?);
    if let Some(report) = &args.report {
        reporting::check_report(report)?;
    }
    if args.dry_run {
        return dry_run(args, settings, &template);
    }
    let client = Client::new(settings.base_url()?, settings.credentials.clone(), usize::from(args.pacing.concurrency))?;
    check_may_write(settings)?;
    let file = InputFile::open(&args.input.file)?;
    let source = Arc::new(open(&file, args, &template)?);
    let ledger = sending::ledger(settings).await?;
    let mut about = reading::about(RunCommand::Upload, settings, client.address(), &file, &source, &template)?;
    about.options.extend(options(args).filter(|(.., is_asked)| *is_asked).map(|(_, option, _)| option));
    let lock = ledger.lock_upload(&about)?;
    if !args.allow_repeat {
        check_not_repeated(&ledger, &about, &template).await?;
    }
    reading::describe(settings, &source, &template);
    let progress = Progress::new(settings.output.progress, "reading", "row", None);
    let show = |rows| progress.at(rows, String::new);
    let (run, tally) = plan::plan(&ledger, &about, Arc::clone(&source), Arc::clone(&template), now(), &show).await?;
    progress.finish(tally.rows);
    if settings.output.talks() {
        reading::show_problems(&tally);
    }
    let run = ledger.lock_run_with(lock, run).await?;
    let sending = Sending {
        settings,
        ledger: &ledger,
        client: Arc::new(client),
        kind: template.record,
        pacing: &args.pacing,
        max_errors: args.max_errors,
        report: args.report.as_deref(),
        is_rehearsal: args.rehearse,
        run,
    };
    let ended = match args.all_or_nothing && tally.rejected > 0 {
        true => sending.withhold("upload").await?,
        false => {
            if args.changed_only {
                ledger.mark_unchanged(sending.run.run(), now()).await?;
                leave_listed(&sending).await?;
            }
            sending.finish("upload").await?
        }
    };
    ledger.close().await;
    Ok(ended)
}

/// Leaves out what the service lists as it would be sent. That its list can't be read is no reason not to send.
async fn leave_listed(sending: &Sending<'_>) -> Result<(), Failure> {
    let pace = Pace::new(sending.pacing.rate.or(sending.settings.rate), Instant::now());
    let concurrency = usize::from(sending.pacing.concurrency);
    let connection = Connection { client: &sending.client, pace: &pace, concurrency };
    let compared =
        server_diff::mark_unchanged(sending.ledger, sending.run.run(), sending.kind, &connection, now()).await?;
    if let Some(error) = compared.failed {
        ui::remark(format_args!(
            "what the service lists could not be read, and all that may have changed is sent: {error}"
        ));
    }
    Ok(())
}

/// The template, with what the flags say of the call's options.
fn template(args: &Upload) -> Result<Template, Failure> {
    let mut template = template::load(&args.input.template)?;
    for (flag, option, is_asked) in options(args).filter(|(.., is_asked)| *is_asked) {
        let input = template.record.input();
        if input.options().all(|field| field.name != option.name()) {
            return Err(Failure::new(
                Exit::Usage,
                format!("{flag} is for orders, and the template {} is for {}", template.name, input.plural),
                "leave it out",
            ));
        }
        template.set_option(option.name(), is_asked);
    }
    if args.changed_only && template.record.input().key.is_empty() {
        return Err(Failure::new(
            Exit::Usage,
            format!(
                "--changed-only can't be had for {}: nothing tells one from another",
                template.record.input().plural
            ),
            "leave it out",
        ));
    }
    Ok(template)
}

/// Flags that set an option of the call: the flag, the option, and whether it was given.
fn options(args: &Upload) -> impl Iterator<Item = (&'static str, CallOption, bool)> {
    [
        ("--create-missing-items", CallOption::CreateMissingItems, args.create_missing_items),
        ("--trigger-workflows", CallOption::TriggerWorkflows, args.trigger_workflows),
    ]
    .into_iter()
}

fn open(file: &InputFile, args: &Upload, template: &Template) -> Result<Source, Failure> {
    let mut source = reading::open(file, &args.input, template)?;
    source.chosen = args.rows;
    Ok(source)
}

/// Refuses a file of records that would be made a second time.
async fn check_not_repeated(ledger: &Ledger, about: &NewRun, template: &Template) -> Result<(), Failure> {
    if template.record.input().create.as_ref().is_none_or(|call| call.repeatable) {
        return Ok(());
    }
    for run in ledger.runs_of_file(about).await? {
        let earlier = ledger.run(run).await?;
        let accounting = ledger.accounting(run).await?;
        let overlap = match (about.chosen, earlier.about.chosen) {
            (Some((first, last)), Some((other_first, other_last))) => first <= other_last && other_first <= last,
            _ => true,
        };
        if !overlap || accounting.sent + accounting.unknown == 0 {
            continue;
        }
        let sent = ui::counted(accounting.sent + accounting.unknown, "record");
        let plural = template.record.input().plural;
        let hint = match accounting.pending {
            0 => "--allow-repeat makes them a second time".to_owned(),
            _ => format!("`sheetport resume {run}` sends the rest; --allow-repeat makes all of them a second time"),
        };
        return Err(Failure::new(
            Exit::Usage,
            format!("run {run} sent this file before ({sent}), and {plural} that are sent again are made again"),
            hint,
        ));
    }
    Ok(())
}

fn dry_run(args: &Upload, settings: &Settings, template: &Template) -> Result<(Exit, Summary), Failure> {
    let file = InputFile::open(&args.input.file)?;
    let source = open(&file, args, template)?;
    let tally = preview::dry_run(&source, template, settings)?;
    Ok(reading::ended("upload", &source, template, &tally, || reading::upload_of(&args.input)))
}

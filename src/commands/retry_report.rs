//! `retry FILE`: a report comes back, mended or not, and exactly the records that were not accepted yet are sent.
//!
//! Which run it is of, its rows say; what became of them, the ledger says. Whatever is not plain is refused before
//! anything is planned, or is a problem of its row: nothing is sent twice by guessing.

use std::path::Path;
use std::sync::Arc;

use super::input::{InputFile, options};
use super::login::check_may_write;
use super::resume::{Bound, bind};
use super::retry::{check_nothing_pending, refused};
use super::sending::{self, Sending};
use super::shell::quoted;
use super::summary::Summary;
use super::{now, preview, reading, template};
use crate::cli::Retry;
use crate::client::Client;
use crate::error::{Exit, Failure};
use crate::ledger::{self, CallOption, Family, Ledger, NewRun, Run, RunCommand, RunId, UploadLock};
use crate::settings::Settings;
use crate::template::Template;
use crate::ui;
use crate::ui::progress::Progress;
use crate::upload::retry::{Report, load_history};
use crate::upload::{Source, Tally, plan};

/// Names of runs in a report that are looked up.
const LOOKED_UP: usize = 20;

/// A report, ready to be planned.
struct Ready {
    source: Source,
    template: Template,
    /// Nothing: its rows are taken as new ones.
    of: Option<Run>,
    family: Option<Family>,
    /// Of the call, beside the template.
    options: Vec<CallOption>,
}

pub async fn run(path: &Path, args: &Retry, settings: &Settings) -> Result<Exit, Failure> {
    let file = InputFile::open(path)?;
    let report = Report::open(&file.path, &file.name, &options(&args.reading))?;
    let ledger = sending::ledger(settings).await?;
    let named = run_of(&ledger, &file, &report).await;
    let (exit, summary) = if args.as_new {
        as_new(&ledger, &file, &report, named.ok(), args, settings).await?
    } else {
        again(&ledger, &file, &report, named?, args, settings).await?
    };
    ledger.close().await;
    summary.print(settings.output);
    Ok(exit)
}

async fn again(
    ledger: &Ledger,
    file: &InputFile,
    report: &Report,
    run: Run,
    args: &Retry,
    settings: &Settings,
) -> Result<(Exit, Summary), Failure> {
    let template = template_of(Some(&run), args)?;
    if template.record != run.about.record {
        let why = format!("its records are of the kind {}, and those of {} are not", run.about.record, template.name);
        return Err(refused(run.id, &why, "leave the template out: the run's own is known"));
    }
    // Nothing is sent by a dry run, so it needs neither tokens nor to be alone.
    let bound = match args.dry_run {
        true => None,
        false => Some(bind(ledger, &run, settings, usize::from(args.pacing.concurrency), Bound::Report).await?),
    };
    let family = ledger.family(&run).await?;
    check_nothing_pending(ledger, run.id, &family).await?;
    let source = Source::open_report(&file.path, &file.name, report, &template);
    let mut source = source.map_err(|error| {
        let failure = Failure::from(error);
        let own = "the sheet's own columns stand to the left of those that begin with sheetport_".to_owned();
        Failure { hint: Some(failure.hint.map_or(own.clone(), |hint| format!("{hint}; {own}"))), ..failure }
    })?;
    source.history = Some(load_history(ledger, &run, &family, report, &source, &template).await?);
    if settings.output.talks() {
        ui::line(format_args!("A report of run {}, {}", run.id, run.about.file));
    }
    let options = run.about.options.clone();
    let ready = Ready { source, template, of: Some(run), family: Some(family), options };
    match bound {
        None => dry_run(ready, file, settings),
        Some((client, locked)) => send(ledger, ready, file, client, locked.into_lock(), args, settings).await,
    }
}

/// All rows are new, to whichever service is meant now.
async fn as_new(
    ledger: &Ledger,
    file: &InputFile,
    report: &Report,
    named: Option<Run>,
    args: &Retry,
    settings: &Settings,
) -> Result<(Exit, Summary), Failure> {
    let template = template_of(named.as_ref(), args)?;
    let source = match report.sheets.is_empty() {
        false => Source::open_report(&file.path, &file.name, report, &template)?,
        true => Source::open_as(&file.path, &file.name, &template, None, &options(&args.reading))?,
    };
    let options = named.map(|run| run.about.options).unwrap_or_default();
    let ready = Ready { source, template, of: None, family: None, options };
    if args.dry_run {
        return dry_run(ready, file, settings);
    }
    let client = Client::new(settings.base_url()?, settings.credentials.clone(), usize::from(args.pacing.concurrency))?;
    check_may_write(settings)?;
    let about = about(&ready, file, client.address(), settings)?;
    let lock = ledger.lock_upload(&about)?;
    send(ledger, ready, file, client, lock, args, settings).await
}

async fn send(
    ledger: &Ledger,
    ready: Ready,
    file: &InputFile,
    client: Client,
    lock: UploadLock,
    args: &Retry,
    settings: &Settings,
) -> Result<(Exit, Summary), Failure> {
    let about = about(&ready, file, client.address(), settings)?;
    let mut _own_lock = None;
    if let (Some(run), Some(family)) = (&ready.of, &ready.family) {
        // Somebody may be about to upload the same file by itself.
        _own_lock = Some(ledger.lock_upload(&about)?);
        check_not_uploaded(ledger, &about, run.id, family, &ready.template).await?;
    }
    let kind = ready.template.record;
    let Ready { source, template, .. } = ready;
    let (source, template) = (Arc::new(source), Arc::new(template));
    reading::describe(settings, &source, &template);
    let progress = Progress::new(settings.output.progress, "reading", "row", None);
    let show = |rows| progress.at(rows, String::new);
    let (run, tally) = plan::plan(ledger, &about, Arc::clone(&source), Arc::clone(&template), now(), &show).await?;
    progress.finish(tally.rows);
    if settings.output.talks() {
        reading::show_problems(&tally);
    }
    look_back(&tally);
    let sending = Sending {
        settings,
        ledger,
        client: Arc::new(client),
        run: ledger.lock_run_with(lock, run).await?,
        kind,
        pacing: &args.pacing,
        max_errors: args.max_errors,
        report: args.report.as_deref(),
        is_rehearsal: false,
    };
    let (exit, mut summary) = match args.all_or_nothing && tally.rejected > 0 {
        true => sending.withhold("retry").await?,
        false => sending.finish("retry").await?,
    };
    let is_next = summary.accounting.pending + summary.accounting.unknown == 0;
    if let Some(doubtful) = tally.in_doubt.filter(|_| is_next) {
        summary.next = Some(format!("sheetport resolve {doubtful}"));
    }
    Ok((exit, summary))
}

fn dry_run(ready: Ready, file: &InputFile, settings: &Settings) -> Result<(Exit, Summary), Failure> {
    let Ready { source, template, .. } = ready;
    let tally = preview::dry_run(&source, &template, settings)?;
    look_back(&tally);
    let next = || format!("sheetport retry {}", quoted(&file.name.display().to_string()));
    Ok(reading::ended("retry", &source, &template, &tally, next))
}

fn about(ready: &Ready, file: &InputFile, address: &str, settings: &Settings) -> Result<NewRun, Failure> {
    let about = reading::about(RunCommand::Retry, settings, address, file, &ready.source, &ready.template)?;
    let of = ready.of.as_ref();
    let chosen = of.and_then(|run| run.about.chosen);
    Ok(NewRun { retry_of: of.map(|run| run.id), chosen, options: ready.options.clone(), ..about })
}

/// The template that the person names, else that of the run, as it was then.
fn template_of(run: Option<&Run>, args: &Retry) -> Result<Template, Failure> {
    let mut template = match (&args.template, run) {
        (Some(wanted), _) => template::load(wanted)?,
        (None, Some(run)) => template::load_kept(&run.about.template, &run.about.template_toml)?,
        (None, None) => {
            return Err(Failure::new(
                Exit::Usage,
                "the ledger does not know the run of this file, so it is not known which template reads it",
                "name the template: sheetport retry FILE --as-new -t TEMPLATE",
            ));
        }
    };
    if let Some(run) = run {
        run.about.options.iter().for_each(|option| template.set_option(option.name(), true));
    }
    // People sort reports, and whoever hands one back does not have to sort it back.
    if let Some(group) = template.group.as_mut().filter(|_| !args.as_new) {
        group.rows = crate::template::model::GroupRows::Anywhere;
    }
    Ok(template)
}

/// The run that the rows of a report are of, or why there is none.
async fn run_of(ledger: &Ledger, file: &InputFile, report: &Report) -> Result<Run, Failure> {
    let name = file.name.display();
    let no_report = |why: String| {
        let hint = "hand the report back with all of its sheetport_ columns; to send all rows of this file as new ones: \
                    --as-new, which makes again what must not be made twice";
        Err(Failure::new(Exit::Usage, format!("{name} {why}"), hint))
    };
    if report.sheets.is_empty() {
        return no_report("has no column sheetport_run, so it is not known which of its rows were sent".to_owned());
    }
    if let Some(missing) = report.missing {
        return no_report(format!("has no column {missing}, so it is not known which of its rows were sent"));
    }
    let Some((first, _)) = report.runs.first() else {
        if report.without_run > 0 {
            let hint = "nothing was sent then; `sheetport upload FILE -t TEMPLATE` sends it";
            return Err(Failure::new(Exit::Usage, format!("{name} is the report of a check"), hint));
        }
        return no_report("names no run in its column sheetport_run".to_owned());
    };
    for (token, _) in report.runs.iter().take(LOOKED_UP) {
        let Some(number) = token.split('-').next().and_then(|number| number.parse::<RunId>().ok()) else { continue };
        match ledger.run(number).await {
            Ok(run) if run.token() == *token => {
                if run.about.reads_several_sheets() && !report.names_sheets {
                    return no_report("has no column sheetport_sheet, so its rows can't be told apart".to_owned());
                }
                return Ok(run);
            }
            Ok(_) | Err(ledger::Error::NoSuchRun(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let hint = "use the SHEETPORT_HOME of that upload, or have its report written there once more; to send all rows of \
                this file as new ones: --as-new, which makes again what must not be made twice";
    let message = format!("{name} is a report of run {first}, which is not in the ledger of this machine");
    Err(Failure::new(Exit::Usage, message, hint))
}

/// Refuses a report that was uploaded as a file, too, where its records would be made again.
async fn check_not_uploaded(
    ledger: &Ledger,
    about: &NewRun,
    run: RunId,
    family: &Family,
    template: &Template,
) -> Result<(), Failure> {
    if !template.record.input().must_not_repeat() {
        return Ok(());
    }
    for other in ledger.runs_of_file(about).await? {
        let accounting = ledger.accounting(other).await?;
        let is_own = family.runs.iter().any(|member| member.id == other);
        if !is_own && accounting.sent + accounting.unknown + accounting.pending > 0 {
            let why = format!("run {other} uploaded the same file by itself, and its records would be made again");
            return Err(refused(run, &why, &format!("hand back the report of run {other} instead")));
        }
    }
    Ok(())
}

/// Says what was changed in vain.
fn look_back(tally: &Tally) {
    if tally.edited == 0 {
        return;
    }
    let rows: Vec<String> = tally.first_edited.iter().map(u64::to_string).collect();
    let more = tally.edited.saturating_sub(rows.len() as u64);
    let more = if more > 0 { format!(" and {} more", ui::thousands(more)) } else { String::new() };
    ui::remark(format_args!(
        "{} of accepted records {} changed since, which is not sent: row{} {}{more}",
        ui::counted(tally.edited, "row"),
        if tally.edited == 1 { "was" } else { "were" },
        if tally.edited == 1 { "" } else { "s" },
        rows.join(", "),
    ));
    ui::hint("to change what the service has, put these rows into a file of their own and upload that");
}

//! Retrying an edited report: sends only the records not accepted yet.
//!
//! The rows of the report name the run, and the ledger knows the outcome of each row. Anything ambiguous is refused
//! before planning or becomes a problem of the row.

use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use sheetport_client::Client;
use sheetport_findings::{Code, Only};
use sheetport_ledger::{
    self as ledger, AllowRepeat, CallOption, KeyScope, Ledger, NewRun, Run, RunCommand, RunId, RunSettings, UploadLock,
};
use sheetport_mapping::Template;
use sheetport_mapping::load::SheetKeys;
use sheetport_mapping::model::GroupRows;
use sheetport_plan::compare::{Connection, Scope, looks_up};
use sheetport_plan::retry::{Report, load_history};
use sheetport_plan::{Edits, Source};
use sheetport_send::Grace;
use sheetport_sheet::Options;

use super::super::command_line::CommandLine;
use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::files::{InputFile, Spreadsheet, check_report_path, new_run};
use super::super::learned::{load_sizes, store_learned_sizes};
use super::super::rate::speed;
use super::super::results::{Finished, check_has_plan, next_command};
use super::super::runs::resume::{Bound, bind, refused};
use super::super::runs::retry::{RETRIED, check_nothing_pending, refuse_undo};
use super::super::send::{SendOptions, Sending, plan_run};
use super::super::templates::load_template::{read_sheet_lookups, template_of_run, template_of_run_with};
use super::compare::{Earlier, look_up};
use super::preview::{Preview, preview};
use crate::operation::{LocalOperation, Operation};

/// Maximum number of run names looked up per report.
const MAX_LOOKUPS: usize = 20;
const AS_NEW_HINT: &str = "--as-new sends all rows of this file as new records, which can create duplicates";

/// A report to retry.
#[derive(Debug)]
pub struct RetryReport<'a> {
    pub file: &'a InputFile,
    pub text: Options,
    /// Edits made in a review.
    pub edits: Option<Arc<Edits>>,
    /// Replaces the template of the run.
    pub template: Option<Template>,
    /// Keys of `[sheet]` from flags, instead of those of the run's own template.
    pub keys: SheetKeys<'a>,
    /// Sends all rows as new records.
    pub as_new: bool,
    /// Sends accepted records again, with the current cells of their rows.
    pub sends_accepted: bool,
    /// Skips records with the same values in the service. If false, the setting of the run applies.
    pub changed_only: bool,
    /// Sends the service's other lines of an order with those of the file. If false, the setting of the run applies.
    pub keep_lines: bool,
    /// The records to send. `None`: as the template or the run says.
    pub only: Option<Only>,
    /// Writes only fields that are blank in the service. If false, the template and the run decide.
    pub fill_blank: bool,
    /// Reads and keeps what the service has before the first request. If false, the setting of the run applies.
    pub undoable: bool,
    /// Sends nothing if a row can't be sent. As in the run of the report if `None`.
    pub all_or_nothing: Option<bool>,
    /// Treats warnings as problems. As in the run of the report if `None`.
    pub strict: Option<bool>,
    /// Questions that are answered with yes, besides those of the run.
    pub accepts: &'a [Code],
    pub sending: SendOptions<'a>,
}

impl<'a> RetryReport<'a> {
    /// Returns the retry for an uploaded or checked report. Accepted rows are sent again if possible, because a person may have
    /// edited them.
    pub(crate) fn of_uploaded(input: Spreadsheet<'a>, sending: SendOptions<'a>) -> RetryReport<'a> {
        RetryReport {
            file: input.file,
            text: input.text,
            edits: input.edits,
            sends_accepted: !input.template.record.input().must_not_repeat(),
            template: Some(input.template),
            keys: SheetKeys::default(),
            as_new: false,
            changed_only: false,
            keep_lines: false,
            only: None,
            fill_blank: false,
            undoable: false,
            all_or_nothing: None,
            strict: Some(input.is_strict),
            accepts: input.accepts,
            sending,
        }
    }

    /// Returns the settings of the retry: the settings of the run, overridden by this request and its template.
    fn over(&self, run: &RunSettings, template: &Template) -> RunSettings {
        RunSettings {
            only: self.only.or(template.only).or(run.only),
            commands: template.has_commands(),
            fill_blank: self.fill_blank || template.fill_blank || run.fill_blank,
            undoable: self.undoable || run.undoable,
            all_or_nothing: self.all_or_nothing.unwrap_or(run.all_or_nothing),
            strict: self.strict.unwrap_or(run.strict),
            accept: run.accept.iter().chain(self.accepts).copied().collect(),
            changed_only: self.changed_only || run.changed_only,
            keep_lines: self.keep_lines || run.keep_lines,
            ..self.sending.over(run)
        }
    }
}

/// A report with a known run and template.
struct Prepared {
    source: Source,
    template: Arc<Template>,
    /// The run of the report, or `None` if all rows are sent as new records.
    of: Option<Run>,
    /// Call options of the run.
    options: Vec<CallOption>,
    settings: RunSettings,
    /// The context of the run.
    context: Context,
    /// Client and lock, unless this is a preview.
    sender: Option<(Arc<Client>, UploadLock)>,
}

/// Sends the records of a report not accepted yet, as a new run.
pub fn retry_report<'a>(
    context: &'a Context,
    mut request: RetryReport<'a>,
    interrupt: BoxFuture<'a, Grace>,
    observer: Observer<'a>,
) -> LocalOperation<'a, Finished> {
    Box::pin(async move {
        check_report_path(context, request.sending.report).await?;
        let ledger = context.ledger().await?;
        let prepared = prepare(context, &ledger, &mut request, true, observer).await?;
        let about = prepared.about(request.file)?;
        let Prepared { context, mut source, template, sender, settings, .. } = prepared;
        let (client, lock) = sender.expect("a report that is sent has a client and a lock");
        if looks_up(&template) {
            let connection = Connection::new(&client, speed(&settings, &context)?, settings.concurrency);
            load_sizes(&context, &connection, client.address()).await;
            let keys = KeyScope { base_url: client.address(), workspace: &about.workspace, record: template.record };
            let lines = (settings.keep_lines, Some(Earlier { ledger: &ledger, keys, is_noted: true }));
            look_up(&connection, &mut source, &template, Scope::Resolve, lines, observer).await?;
            store_learned_sizes(&context, &connection, client.address()).await;
        }
        let (run, tally) = plan_run(&ledger, &about, lock, source, template, observer).await?;
        if tally.to_send + tally.rejected + tally.edited == 0 && tally.accepted_earlier > 0 {
            observer(Event::Note("nothing to do: the service has accepted every row of this report"));
        }
        let sending = Sending::unattended(&context, &ledger, Some(client), run, &request.sending, observer);
        let mut finished = sending.send(interrupt).await?;
        if let Some(run) = tally.unknown_in
            && finished.accounting.pending + finished.accounting.unknown == 0
        {
            finished.next = Some(next_command::resolve(&context, run));
        }
        ledger.close().await;
        Ok(finished)
    })
}

/// Opens a report like a retry, without sending anything.
pub(crate) async fn open_report(
    context: &Context,
    mut request: RetryReport<'_>,
    observer: Observer<'_>,
) -> Result<(Source, Arc<Template>), Error> {
    let ledger = context.ledger().await?;
    let prepared = prepare(context, &ledger, &mut request, false, observer).await?;
    ledger.close().await;
    Ok((prepared.source, prepared.template))
}

/// Reads the whole report and returns the template and the first requests of a retry.
pub fn preview_retry<'a>(
    context: &'a Context,
    request: RetryReport<'a>,
    observer: Observer<'a>,
) -> Operation<'a, (Arc<Template>, Preview)> {
    Box::pin(async move {
        check_report_path(context, request.sending.report).await?;
        let (source, template) = open_report(context, request, observer).await?;
        let preview = preview(None, &source, &template, observer).await?;
        Ok((template, preview))
    })
}

impl Prepared {
    fn about(&self, file: &InputFile) -> Result<NewRun, Error> {
        let base_url = self.sender.as_ref().map_or("", |(client, _)| client.address());
        let about = new_run(RunCommand::Retry, &self.context, base_url, file, &self.source, &self.template)?;
        let of = self.of.as_ref();
        let chosen = of.and_then(|run| run.about.chosen);
        let (options, settings) = (self.options.clone(), self.settings.clone());
        Ok(NewRun { retry_of: of.map(|run| run.id), chosen, options, settings, ..about })
    }
}

async fn prepare(
    context: &Context,
    ledger: &Ledger,
    request: &mut RetryReport<'_>,
    sends: bool,
    observer: Observer<'_>,
) -> Result<Prepared, Error> {
    let file = request.file;
    let report = Report::open(&file.path, &file.name, &request.text)?;
    let run = run_of(ledger, file, &report).await;
    match request.as_new {
        true => prepare_as_new(context, ledger, request, &report, run.ok(), sends).await,
        false => prepare_again(context, ledger, request, &report, run?, sends, observer).await,
    }
}

async fn prepare_again(
    context: &Context,
    ledger: &Ledger,
    request: &mut RetryReport<'_>,
    report: &Report,
    run: Run,
    sends: bool,
    observer: Observer<'_>,
) -> Result<Prepared, Error> {
    check_has_plan(&run, RETRIED)?;
    refuse_undo(context, &run)?;
    let template = template_of(Some(&run), request)?;
    if template.record != run.about.record {
        let reason = format!(
            "it has records of the kind {}, but the template {} is not for them",
            run.about.record, template.name
        );
        return Err(refused(run.id, RETRIED, &reason, "leave out --template: the run has its own"));
    }
    check_fill_down(context, &run, &template)?;
    let settings = request.over(&run.about.settings, &template);
    // A preview sends nothing, so neither tokens nor the lock are needed.
    let (context, run, sender) = match sends {
        false => (context.for_run(&run)?, run, None),
        true => {
            let bound = bind(ledger, &run, context, settings.concurrency, RETRIED).await;
            let Bound { context, client, run: locked } = bound.map_err(|error| match error {
                Error::RunRefused { .. } => error.with_hint("--as-new sends all of its rows there as new records"),
                error => error,
            })?;
            (context, locked.run().clone(), Some((client, locked.into_lock())))
        }
    };
    let mut settings = RunSettings { connection: context.run_connection(), ..settings };
    let family = ledger.family(&run).await?;
    check_nothing_pending(&context, ledger, run.id, &family).await?;
    let source = Source::open_report(&request.file.path, &request.file.name, report, &template);
    let mut source = source.map_err(|error| {
        Error::from(error).with_hint("columns to the right of all that begin with sheetport_ are not read: keep those of the sheet on their left")
    })?;
    source.accept(&settings.accept);
    settings.accept.clone_from(&source.accepts);
    source.is_strict = settings.strict;
    source.allows_copies = settings.allow_repeat == AllowRepeat::All;
    source.history =
        Some(load_history(ledger, &run, &family, report, &source, &template, request.sends_accepted).await?);
    source.edits.clone_from(&request.edits);
    observer(Event::ReportOf(&run));
    let options = run.about.options.clone();
    Ok(Prepared { source, template: Arc::new(template), of: Some(run), options, settings, context, sender })
}

/// Fails if the template fills down other columns than that of the run did. The cells of a report are filled already, and the rows above
/// may be gone.
fn check_fill_down(context: &Context, run: &Run, template: &Template) -> Result<(), Error> {
    let filled = &template.sheet.fill_down;
    if filled.is_none() || template.source == run.about.template_toml {
        return Ok(());
    }
    if template_of_run(&run.about)?.sheet.fill_down == *filled {
        return Ok(());
    }
    let upload = CommandLine::new(context, "upload").file(Path::new(&run.about.file));
    let hint =
        format!("fill in the cells, or upload the first file: `{}`", upload.short('t', "template", &template.name));
    let reason = "the template fills down other columns than that of the run, and here other rows may stand above";
    Err(refused(run.id, RETRIED, reason, &hint))
}

/// Prepares to send all rows as new records, to the service of the context.
async fn prepare_as_new(
    context: &Context,
    ledger: &Ledger,
    request: &mut RetryReport<'_>,
    report: &Report,
    run: Option<Run>,
    sends: bool,
) -> Result<Prepared, Error> {
    let file = request.file;
    let template = template_of(run.as_ref(), request)?;
    let mut source = match report.sheets.is_empty() {
        false => Source::open_report(&file.path, &file.name, report, &template)?,
        true => Source::open_as(&file.path, &file.name, &template, None, &request.text)?,
    };
    // The rows go to the service of the context, which may differ from the service of the run.
    let usual = request.sending.settings(context);
    let earlier = run.as_ref().map_or(usual.clone(), |run| run.about.settings.clone());
    source.allows_copies = earlier.allow_repeat == AllowRepeat::All;
    let mut settings = RunSettings {
        profile: usual.profile,
        connection: usual.connection,
        allow_repeat: AllowRepeat::All,
        ..request.over(&earlier, &template)
    };
    source.is_strict = settings.strict;
    source.accept(&settings.accept);
    settings.accept.clone_from(&source.accepts);
    let options = run.map(|run| run.about.options).unwrap_or_default();
    let (template, context) = (Arc::new(template), context.clone());
    let mut prepared = Prepared { source, template, of: None, options, settings, context, sender: None };
    if sends {
        let context = &prepared.context;
        let client = context.writing_client(context.base_url()?, prepared.settings.concurrency)?;
        let about = new_run(RunCommand::Retry, context, client.address(), file, &prepared.source, &prepared.template)?;
        prepared.sender = Some((client, ledger.lock_upload(&about).await?));
    }
    Ok(prepared)
}

/// Returns the requested template, or the run's own copy.
fn template_of(run: Option<&Run>, request: &mut RetryReport<'_>) -> Result<Template, Error> {
    let mut template = match (request.template.take(), run) {
        (Some(template), _) => template,
        (None, Some(run)) => template_of_run_with(&run.about, request.keys)
            .map_err(|error| error.with_hint("or name the current template: -t TEMPLATE"))?,
        (None, None) => {
            let message = "the run of this file is not in the ledger, so its template is unknown";
            return Err(Error::invalid(message, "name the template: sheetport retry FILE --as-new -t TEMPLATE"));
        }
    };
    read_sheet_lookups(&mut template, &request.file.path, run.map(|run| Path::new(&run.about.file)))?;
    if let Some(run) = run {
        run.about.options.iter().for_each(|option| template.set_option(option.name(), true));
    }
    // People sort reports, so the rows of a record need not be together.
    if let Some(group) = template.group.as_mut().filter(|_| !request.as_new) {
        group.rows = GroupRows::Anywhere;
    }
    Ok(template)
}

/// Returns the run named in the rows of the report.
pub(super) async fn run_of(ledger: &Ledger, file: &InputFile, report: &Report) -> Result<Run, Error> {
    let name = file.name.display();
    let no_report = |problem: &str| {
        let hint = format!("send the report back with all of its sheetport_ columns; {AS_NEW_HINT}");
        Err(Error::invalid(format!("{name} {problem}"), hint))
    };
    let no_column =
        |column: &str| no_report(&format!("has no column {column}, so it is not known which of its rows were sent"));
    if report.sheets.is_empty() {
        return no_column("sheetport_run");
    }
    if let Some(missing) = report.missing {
        return no_column(missing);
    }
    let Some((first, _)) = report.runs.first() else {
        if report.without_run > 0 {
            let hint = "`sheetport upload FILE -t TEMPLATE` sends the file";
            return Err(Error::invalid(format!("{name} is the report of a check, which sent nothing"), hint));
        }
        return no_report("names no run in its column sheetport_run");
    };
    if report.is_of_rehearsal() {
        let hint = "`sheetport upload FILE -t TEMPLATE` sends all of its rows";
        let message = format!("{name} is the report of a rehearsal, which sent nothing to a service");
        return Err(Error::invalid(message, hint));
    }
    for (token, _) in report.runs.iter().take(MAX_LOOKUPS) {
        let Some(number) = token.split('-').next().and_then(|number| number.parse::<RunId>().ok()) else { continue };
        match ledger.run(number).await {
            Ok(run) if run.token() == *token => {
                if run.about.reads_several_sheets() && !report.names_sheets {
                    return no_report("has no column sheetport_sheet, so its rows can't be told apart");
                }
                return Ok(run);
            }
            Ok(_) | Err(ledger::Error::NoSuchRun(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let hint = format!("use the SHEETPORT_HOME of that upload, or write the report again there; {AS_NEW_HINT}");
    Err(Error::invalid(format!("{name} is a report of run {first}, which is not in the ledger of this machine"), hint))
}

//! The commands: each parses flags, calls an operation and prints the result. `console`, `input`, `next_command` and `summary`
//! belong to several commands.

mod console;
mod demo;
mod export;
mod help;
mod input;
mod job;
mod next_command;
mod review;
mod runs;
mod serve;
mod setup;
mod summary;
mod template;
mod upload;
mod view;
mod work;

pub use help::help;
pub use job::profile_of_job;

use sheetport_language::say;
use sheetport_operations::{self as operations, with_login};
use sheetport_telemetry::Span;
use sheetport_trial::LocalService;

use crate::cli::{Command, Job, Titles};
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;
use console::signals;

/// Runs a command and returns its exit code.
pub async fn run(command: Command, mut settings: Settings) -> Result<Exit, Failure> {
    signals::outlive_file_size_limit();
    let command = match command {
        Command::Continue(args) => match runs::go_on::chosen(args, &settings).await? {
            Ok(command) => command,
            Err(exit) => return Ok(exit),
        },
        command => command,
    };
    settings.context.report_words = titles(&command).words();
    if matches!(
        command,
        Command::Upload(_) | Command::Apply(_) | Command::Undo(_) | Command::Resume(_) | Command::Retry(_)
    ) && settings.output.can_ask()
    {
        ask_about_older_ledger(&settings).await?;
    }
    let context = settings.context.clone();
    let keep = settings.keep.filter(|_| transfers(&command)).map(|age| (age, settings.clone()));
    let ended = match traced(&command) {
        Some(name) => {
            let span = Span::command(name);
            let ended = span.within(Box::pin(run_with_service(command, settings))).await;
            span.exit(ended.as_ref().map_or_else(|failure| failure.exit(), |exit| *exit) as u8);
            if ended.is_err() {
                span.failed();
            }
            ended
        }
        None => run_with_service(command, settings).await,
    };
    if let Some((age, settings)) = keep {
        runs::prune::keep(age, &settings).await;
    }
    ended.map_err(|failure| Failure {
        hint: failure.hint.map(|hint| with_login(&hint, &context.given, &context.profile)),
        ..failure
    })
}

/// Asks whether an older ledger is to be taken as it is. Without a yes, records that must not be repeated are held back.
async fn ask_about_older_ledger(settings: &Settings) -> Result<(), Failure> {
    let context = &settings.context;
    if context.accepts_older_ledger {
        return Ok(());
    }
    let Some(older) = operations::older_ledger(context).await? else { return Ok(()) };
    ui::remark(older);
    if matches!(ui::ask(&say!("Send from this older ledger all the same? [y/N]")).as_deref(), Some("y" | "yes")) {
        operations::accept_older_ledger(context).await?;
    }
    Ok(())
}

fn transfers(command: &Command) -> bool {
    matches!(
        command,
        Command::Upload(_)
            | Command::Apply(_)
            | Command::Undo(_)
            | Command::Resume(_)
            | Command::Retry(_)
            | Command::Export(_)
            | Command::Job(_)
            | Command::Review(_)
    )
}

/// Returns the name of a command whose activity is one trace. Servers and workers have a trace for each run or part instead.
fn traced(command: &Command) -> Option<&'static str> {
    match command {
        Command::Upload(_) => Some("upload"),
        Command::Check(_) => Some("check"),
        Command::Plan(_) => Some("plan"),
        Command::Apply(_) => Some("apply"),
        Command::Undo(_) => Some("undo"),
        Command::Resume(_) => Some("resume"),
        Command::Retry(_) => Some("retry"),
        Command::Export(_) => Some("export"),
        Command::Job(_) => Some("job"),
        _ => None,
    }
}

/// Returns the flag for the language of the command's report.
fn titles(command: &Command) -> Titles {
    match command {
        Command::Upload(args) => args.titles,
        Command::Check(args) => args.titles,
        Command::Report(args) => args.titles,
        Command::Apply(args) => args.sending.titles,
        Command::Undo(args) => args.sending.titles,
        Command::Resume(args) => args.sending.titles,
        Command::Retry(args) => args.sending.titles,
        _ => Titles::default(),
    }
}

/// Runs a command. If the home folder refers to an embedded service and the command needs a service, starts this service first.
async fn run_with_service(command: Command, settings: Settings) -> Result<Exit, Failure> {
    let asks_service = match &command {
        Command::Check(args) => args.online,
        Command::Job(args) => matches!(args, Job::Run(_)),
        Command::Whoami(_)
        | Command::Doctor(_)
        | Command::Upload(_)
        | Command::Plan(_)
        | Command::Apply(_)
        | Command::Undo(_)
        | Command::Review(_)
        | Command::Export(_)
        | Command::Resume(_)
        | Command::Retry(_) => true,
        _ => false,
    };
    let service = if asks_service { LocalService::of_home(&settings.context).await? } else { None };
    let Some(service) = service else { return run_command(command, settings).await };
    let ended = run_command(command, Settings { context: service.context.clone(), ..settings }).await;
    let stopped = service.stop().await;
    let exit = ended?;
    stopped?;
    Ok(exit)
}

async fn run_command(command: Command, settings: Settings) -> Result<Exit, Failure> {
    match command {
        Command::Init(args) => setup::init::init(&args, &settings).await,
        Command::Demo(args) => demo::run(&args, &settings).await,
        Command::Upload(args) if args.plan => upload::plan::run(&args.into_plan(), &settings).await,
        Command::Upload(args) => upload::run(&args, &settings).await,
        Command::Check(args) if args.requests => upload::run(&args.into_dry_run(), &settings).await,
        Command::Check(args) => upload::check::run(&args, &settings).await,
        Command::Plan(args) => upload::plan::run(&args, &settings).await,
        Command::Review(args) => review::run(&args, &settings).await,
        Command::Explain(args) => upload::explain::run(&args, &settings).await,
        Command::View(args) => view::run(&args, &settings).await,
        Command::Export(args) => export::run(&args, &settings).await,
        Command::Report(args) => runs::report::run(&args, &settings).await,
        Command::Apply(args) => runs::apply::run(&args, &settings).await,
        Command::Undo(args) => runs::undo::run(&args, &settings).await,
        Command::Continue(_) => unreachable!("`run` replaces it by the command that goes on"),
        Command::Resume(args) => runs::resume::run(&args, &settings).await,
        Command::Retry(args) => runs::retry::run(*args, &settings).await,
        Command::Resolve(args) => runs::resolve::run(&args, &settings).await,
        Command::Runs(args) => runs::run(&args, &settings).await,
        Command::Work(args) => work::run(&args, &settings).await,
        Command::Template(args) => template::run(&args, &settings).await,
        Command::Job(args) => job::run(&args, &settings).await,
        Command::Login(args) => setup::login::login(&args, &settings).await,
        Command::Whoami(args) => setup::login::whoami(&args, &settings).await,
        Command::Logout => setup::login::logout(&settings),
        Command::Doctor(args) => setup::doctor::run(&args, &settings).await,
        Command::Serve(args) => serve::run(args, &settings).await,
        Command::Config => Ok(setup::config::config(&settings)),
        Command::Schema(args) => Ok(help::terminal::schema(&args)),
        Command::Completions(args) => Ok(help::terminal::completions(&args)),
        Command::Licenses => Ok(help::terminal::licenses()),
        Command::Man(args) => help::terminal::man(&args),
        Command::Help(args) => help(&args, settings.output.json),
    }
}

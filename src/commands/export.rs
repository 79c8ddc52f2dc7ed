//! `export`: a whole list, or records by their ids, into a file.

use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use serde_json::json;

use super::signals::Interrupt;
use crate::cli::{Export, Exportable, Family};
use crate::client::{Client, Pace};
use crate::error::{Exit, Failure};
use crate::export::{self, Clock, Exported, IdFile, Job, Manifest, Output, Since, Source, Template, template};
use crate::records::{List, Single, company, contact, inventory, item, order, transaction};
use crate::settings::Settings;
use crate::sheet::write::{Packing, Shape, Style, TextKind};
use crate::ui;
use crate::ui::progress::Progress;

/// A template is short.
const LONGEST_TEMPLATE: u64 = 1 << 20;

pub async fn run(args: &Export, settings: &Settings) -> Result<Exit, Failure> {
    if is_stdout(&args.output) && settings.output.json {
        return Err(Failure::new(
            Exit::Usage,
            "standard output gets the records, and can't get a summary, too",
            "write the records to a file, or leave --json out",
        ));
    }
    let interrupt = Interrupt::default();
    let exported = tokio::select! {
        // Whoever asks to stop is listened to before the first request.
        biased;
        _ = interrupt.asked() => {
            let hint = "what was read is kept; the same command carries on with it within an hour";
            return Err(Failure::new(interrupt.exit(), "the export was interrupted", hint));
        }
        exported = export(args, settings) => exported?,
    };
    if settings.output.json {
        ui::json(&as_json(&exported));
    } else {
        print(&exported);
    }
    Ok(match &exported.manifest {
        manifest if !manifest.complete => Exit::Incomplete,
        manifest if manifest.not_found > 0 => Exit::RowsFailed,
        _ => Exit::Done,
    })
}

/// The whole of an export but for what is said of it.
pub async fn export(args: &Export, settings: &Settings) -> Result<Exported, Failure> {
    let job = job(args, settings)?;
    let concurrency = usize::from(args.pacing.concurrency);
    let mut client = Client::new(&job.base_url, settings.credentials.clone(), concurrency)?;
    if let Some(language) = &args.by_id.language {
        client = client.with_language(language)?;
    }
    let pace = Arc::new(Pace::new(args.pacing.rate.or(settings.rate), Instant::now()));
    let progress = Progress::new(settings.output.progress, "reading", "record", None);
    let show = |records, total: Option<u64>| {
        if let Some(total) = total {
            progress.set_total(total);
        }
        progress.at(records, String::new);
    };
    let exported = export::export(Arc::new(client), pace, &job, &show).await.map_err(resumable)?;
    progress.finish(exported.manifest.distinct);
    for remark in &exported.remarks {
        ui::remark(remark);
    }
    Ok(exported)
}

/// The object that `--json` prints. Its fields are part of the interface.
pub fn as_json(exported: &Exported) -> serde_json::Value {
    let manifest = &exported.manifest;
    json!({
        "command": "export",
        "records": manifest.records,
        "family": manifest.family,
        "file": exported.path,
        "manifest": exported.path.as_deref().map(Manifest::path_of),
        "count": manifest.count,
        "rows": manifest.rows,
        "distinct": manifest.distinct,
        "pages": manifest.pages,
        "duplicates": manifest.duplicates,
        "total": manifest.total,
        "older": manifest.older,
        "left_out": manifest.left_out,
        "cut": manifest.cut,
        "not_found": manifest.not_found,
        "not_found_file": exported.not_found,
        "complete": manifest.complete,
        "how": manifest.how,
        "resumed": manifest.resumed,
        "changes": manifest.changes,
        "removed": exported.removed,
    })
}

/// Says what was exported, and how it is known to be complete: on stderr where the records are on stdout.
pub fn print(exported: &Exported) {
    let manifest = &exported.manifest;
    let say = |text: std::fmt::Arguments<'_>| match exported.path {
        Some(_) => ui::line(text),
        None => ui::remark(text),
    };
    let (good, bad, faint) = (ui::style::GOOD, ui::style::BAD, ui::style::FAINT);
    let file = exported.path.as_deref().unwrap_or(Path::new("standard output"));
    let count = ui::thousands(manifest.count);
    say(format_args!("{count} {} in {}", manifest.records, file.display()));
    if manifest.complete {
        say(format_args!("  {good}complete{good:#}: {faint}{}{faint:#}", manifest.how));
    } else {
        say(format_args!("  {bad}not shown to be complete{bad:#}: {}", manifest.how));
    }
    let apart = [
        (manifest.older, "not changed since", manifest.since.as_deref()),
        (manifest.left_out, "left out by the template", None),
        (manifest.not_found, "not found", exported.not_found.as_deref().and_then(Path::to_str)),
    ];
    for (count, what, more) in apart.into_iter().filter(|(count, ..)| *count > 0) {
        let more = more.map(|more| format!(" {more}")).unwrap_or_default();
        say(format_args!("  {} {what}{more}", ui::thousands(count)));
    }
    if let Some(changes) = &manifest.changes {
        let [added, changed, removed] = [changes.added, changes.changed, changes.removed].map(ui::thousands);
        say(format_args!("  since the last export: {added} added, {changed} changed, {removed} removed"));
    }
    for path in &exported.removed {
        say(format_args!("  {faint}removed {}{faint:#}", path.display()));
    }
}

fn job(args: &Export, settings: &Settings) -> Result<Job, Failure> {
    let output = output(args)?;
    let has_date = matches!(&output, Output::File { pattern, .. } if export::has_date(pattern));
    if args.nightly.keep.is_some() && !has_date {
        let hint = "write it such as 'items-{date}.csv'";
        return Err(Failure::new(Exit::Usage, "--keep needs a file whose name has {date} in it", hint));
    }
    let now = jiff::Zoned::now();
    Ok(Job {
        source: source(args)?,
        output,
        style: Style {
            delimiter: args.look.delimiter,
            decimal_comma: args.look.locale.is_some_and(|locale| locale.0),
            bom: args.look.bom,
            raw: args.look.exact,
        },
        template: args.look.template.as_deref().map(|path| load(path, args.records)).transpose()?,
        explode: args.look.explode.clone(),
        since: args.nightly.since.unwrap_or(Since::Ever),
        verify: args.verify,
        fresh: args.fresh,
        keep: args.nightly.keep.map(usize::from),
        min_ratio: args.nightly.min_ratio,
        concurrency: usize::from(args.pacing.concurrency),
        home: settings.home.clone(),
        base_url: settings.base_url()?.trim_end_matches('/').to_owned(),
        workspace: settings.credentials.workspace().unwrap_or_default(),
        language: args.by_id.language.clone(),
        clock: Clock { started: now.timestamp(), today: now.date(), now: SystemTime::now },
    })
}

fn output(args: &Export) -> Result<Output, Failure> {
    let path = &args.output;
    if is_stdout(path) {
        let kind = args.look.format.map_or(TextKind::Csv, TextKind::from);
        return Ok(Output::Stdout { kind, packing: Packing::None });
    }
    if args.look.format.is_some() {
        let hint = "leave --format out, and give the file the extension";
        return Err(Failure::new(Exit::Usage, "a file's format is what its extension says", hint));
    }
    let unknown = || {
        let message = format!("{} has no extension that says what to write", path.display());
        Failure::new(Exit::Usage, message, format!("name it {}", Shape::NAMES))
    };
    let shape = Shape::of(path).ok_or_else(unknown)?;
    let pattern = path.to_str().ok_or_else(|| {
        let message = format!("{} is no name in Unicode", path.display());
        Failure::new(Exit::Usage, message, "give the file another name")
    })?;
    Ok(Output::File { pattern: pattern.to_owned(), shape })
}

fn source(args: &Export) -> Result<Source, Failure> {
    let name = word(args.records);
    if let Some(ids) = &args.by_id.ids {
        let single = single(args.records).ok_or_else(|| {
            let message = format!("{name} can't be read by their ids");
            Failure::new(Exit::Usage, message, "transactions, orders and inventories can; leave --ids out")
        })?;
        if args.by_id.external && !single.has_external_id {
            let message = format!("{name} have no external ids in the service");
            return Err(Failure::new(Exit::Usage, message, "leave --external out, and give the service's ids"));
        }
        let file = IdFile { path: ids.clone(), column: args.by_id.column.clone() };
        return Ok(Source::Ids { single, file, by_external_id: args.by_id.external });
    }
    match (list(args.records, args.family), args.records) {
        (Some(list), _) => Ok(Source::List(list)),
        (None, Exportable::Transactions) => {
            let hint = "give a spreadsheet with their ids: --ids FILE --column COLUMN";
            Err(Failure::new(Exit::Usage, "the service has no list of transactions", hint))
        }
        (None, _) => {
            let message = format!("this family of paths has no list of {name}");
            Err(Failure::new(Exit::Usage, message, "leave --family out"))
        }
    }
}

fn list(records: Exportable, family: Option<Family>) -> Option<&'static List> {
    let (public, legacy): (Option<&'static List>, Option<&'static List>) = match records {
        Exportable::Items => (Some(&item::LIST), Some(&item::OLDER_LIST)),
        Exportable::Orders => (Some(&order::LIST), Some(&order::OLDER_LIST)),
        Exportable::Companies => (Some(&company::LIST), None),
        Exportable::Contacts => (None, Some(&contact::LIST)),
        Exportable::Inventories => (Some(&inventory::LIST), None),
        Exportable::Transactions => (None, None),
    };
    match family {
        Some(Family::Public) => public,
        Some(Family::Legacy) => legacy,
        None => public.or(legacy),
    }
}

fn single(records: Exportable) -> Option<&'static Single> {
    match records {
        Exportable::Orders => Some(&order::SINGLE),
        Exportable::Inventories => Some(&inventory::SINGLE),
        Exportable::Transactions => Some(&transaction::SINGLE),
        Exportable::Items | Exportable::Companies | Exportable::Contacts => None,
    }
}

fn load(path: &Path, records: Exportable) -> Result<Template, Failure> {
    let unreadable = |reason: String| {
        let message = format!("the export template {} can't be read: {reason}", path.display());
        Failure::new(Exit::Usage, message, "check the name and that it is a text file")
    };
    let len = path.metadata().map_err(|error| unreadable(error.to_string()))?.len();
    if len > LONGEST_TEMPLATE {
        return Err(unreadable("it is too long for a template".to_owned()));
    }
    let source = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    let known: Vec<&str> = ALL.into_iter().map(word).collect();
    let template = template::load(&path.display().to_string(), &source, &known)?;
    match &template.record {
        Some(record) if record != word(records) => {
            let message = format!("the export template {} is for {record}", path.display());
            Err(Failure::new(Exit::Usage, message, format!("export {record} with it, or use another")))
        }
        _ => Ok(template),
    }
}

const ALL: [Exportable; 6] = [
    Exportable::Items,
    Exportable::Orders,
    Exportable::Companies,
    Exportable::Contacts,
    Exportable::Inventories,
    Exportable::Transactions,
];

fn word(records: Exportable) -> &'static str {
    match records {
        Exportable::Items => "items",
        Exportable::Orders => "orders",
        Exportable::Companies => "companies",
        Exportable::Contacts => "contacts",
        Exportable::Inventories => "inventories",
        Exportable::Transactions => "transactions",
    }
}

fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What stopped on the way is carried on with by the same command.
fn resumable(error: export::Error) -> Failure {
    let mut failure = Failure::from(error);
    if failure.exit == Exit::Stopped {
        let kept = "what was read is kept, and the same command carries on with it within an hour";
        failure.hint = Some(failure.hint.map_or_else(|| kept.to_owned(), |hint| format!("{hint}; {kept}")));
    }
    failure
}

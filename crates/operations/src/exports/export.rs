//! Exporting a list, or records selected by id, to a file.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime};

use sheetport_client::{self as client, Client, KnownSizes, Pace, PageSize};
use sheetport_datasets::{self as datasets, HAS_PARQUET};
use sheetport_export::{self as export, ChangesFile, Clock, Exported, Format, Job, Output, Since, Template};
use sheetport_files::absolute_path::absolute;
use sheetport_ledger::{ActivityKind, ActivityOutcome};
use sheetport_send::while_supplied;
use sheetport_sheet::write::{FileFormat, Style, TextKind};
use sheetport_storage::ObjectAddress;
use sheetport_telemetry::Span;
use sheetport_values::date::local_zone;

use super::super::activities::{begin_activity, end_activity};
use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::learned::Learned;
use super::super::lists::LISTS;
use super::request::{ExportRequest, KIND, TIME, chosen_template, details, latest, source};
use super::shared_rate::SharedRate;
use super::staging::Staging;
use crate::operation::Operation;

const RESUME_HINT: &str = "the records read so far are kept; run the same command again within an hour to continue";

/// Exports records to one file, for one request of [`ExportRequest::by_file`]. An identical later request continues an
/// interrupted export. Returns the result of each list.
pub fn export<'a>(
    context: &'a Context,
    request: &'a ExportRequest,
    observer: Observer<'a>,
) -> Operation<'a, Vec<Exported>> {
    Box::pin(async move {
        // A wrong request, or an address that gets no tokens, is refused before anything is noted or read.
        check(request)?;
        let base_url = context.base_url()?.trim_end_matches('/');
        let client = context.client(base_url, request.options.concurrency)?;
        let (lists, file) =
            (request.records.join(", "), request.output.as_ref().map(|file| file.display().to_string()));
        let begun = begin_activity(context, ActivityKind::Export, &lists, file.as_deref()).await;
        let exported = export_anywhere(context, request, client, observer).await;
        let (outcome, count, note) = end_of(&exported);
        end_activity(context, begun, outcome, count, note).await;
        exported
    })
}

/// Returns how an export ended, for the list of runs.
fn end_of(exported: &Result<Vec<Exported>, Error>) -> (ActivityOutcome, Option<u64>, Option<String>) {
    match exported {
        Ok(exported) => {
            let manifests = || exported.iter().map(|exported| &exported.manifest);
            let outcome = match manifests().all(|manifest| manifest.complete) {
                true => ActivityOutcome::Complete,
                false => ActivityOutcome::Incomplete,
            };
            (outcome, Some(manifests().map(|manifest| manifest.count).sum()), None)
        }
        Err(error) => (ActivityOutcome::Failed, None, Some(error.to_string())),
    }
}

/// Exports to local files or to object storage.
fn export_anywhere<'a>(
    context: &'a Context,
    request: &'a ExportRequest,
    client: Client,
    observer: Observer<'a>,
) -> Operation<'a, Vec<Exported>> {
    Box::pin(async move {
        let Some(staging) = Staging::of(context, request.output.as_deref())? else {
            if let Some(changes) = request.changes.as_ref().filter(|changes| ObjectAddress::is_meant(changes)) {
                let message = format!("{} is in object storage, but the records are not", changes.display());
                return Err(Error::invalid(message, "write both to the same bucket"));
            }
            return export_to_files(context, request, client, None, observer).await;
        };
        if request.latest.is_some() {
            let message = "--latest is a symbolic link, which object storage does not have";
            return Err(Error::invalid(message, "leave out --latest"));
        }
        let output = request.output.as_ref().map(|path| staging.local(path)).transpose()?;
        let changes = request.changes.as_ref().map(|path| staging.local(path)).transpose()?;
        if let Some((output, changes)) = output.as_ref().zip(changes.as_ref())
            && staging.holds(changes)
            && output.parent() != changes.parent()
        {
            let message = "--changes is in another folder of the bucket than the records";
            return Err(Error::invalid(message, "name a file in the same folder"));
        }
        let local = ExportRequest { output, changes, ..request.clone() };
        let exported = export_to_files(context, &local, client, Some(&staging), observer).await;
        let mut exported = exported.map_err(|error| error.in_words(|text| staging.shown_in(text)))?;
        staging.publish(&mut exported).await?;
        Ok(exported)
    })
}

/// Exports to local files. With a staging folder, these files stand for objects.
async fn export_to_files(
    context: &Context,
    request: &ExportRequest,
    mut client: Client,
    staging: Option<&Staging>,
    observer: Observer<'_>,
) -> Result<Vec<Exported>, Error> {
    let mut jobs: Vec<Job> =
        request.records.iter().map(|name| job(context, request, name)).collect::<Result<_, _>>()?;
    let base_url = context.base_url()?.trim_end_matches('/');
    let mut before = Vec::new();
    for job in &mut jobs {
        let known = Learned::load(context, base_url, job.source.path()).await;
        if let PageSize::Largest(sizes) = &mut job.page_size {
            *sizes = known.sizes;
        }
        before.push(known);
    }
    if let Some(language) = &request.options.language {
        client = client.with_language(language)?;
    }
    if let Some(staging) = staging {
        let (mut paths, mut extended) = (Vec::new(), Vec::new());
        for job in &mut jobs {
            if let Output::File { pattern, .. } = &job.output {
                job.shown_pattern = Some(staging.shown_in(pattern));
            }
            let of_job = export::paths(job)?;
            // What is extended or updated has to be here as a whole.
            let is_extended = job.options.append || matches!(&job.output, Output::File { format: Format::Sqlite, .. });
            let records = of_job.iter().filter(|(_, is_changes)| is_extended && !is_changes);
            extended.extend(records.map(|(path, _)| path.clone()));
            paths.extend(of_job.into_iter().map(|(path, _)| path));
        }
        staging.prepare(&paths, &extended).await?;
    }
    let known = before.first().copied().unwrap_or_default();
    let speed = known.speed(context.speed(request.rate, base_url));
    let shared = match speed {
        Some(speed) => SharedRate::of(context, base_url, speed).await,
        None => None,
    };
    let pace = Arc::new(match speed {
        Some(speed) => shared.iter().fold(Pace::new(Some(speed), Instant::now()), |pace, shared| shared.of_pace(pace)),
        None => Pace::free_until_refused(Instant::now()),
    });
    let has_records = AtomicBool::new(false);
    let show = |records, total| {
        has_records.fetch_or(records > 0, Ordering::Relaxed);
        observer(Event::Exported { records, total });
    };
    let exporting = export::export_together(Arc::new(client), Arc::clone(&pace), &jobs, &show);
    let supply = shared.as_ref().and_then(|shared| shared.supply(request.options.concurrency));
    let span = Span::export(jobs.iter().map(|job| job.source.name()), base_url, &context.workspace());
    let exported = span.within(Box::pin(while_supplied(supply, exporting))).await;
    match &exported {
        Ok(exported) => {
            let manifests = exported.iter().map(|exported| &exported.manifest);
            span.exported(
                manifests.clone().map(|manifest| manifest.count).sum(),
                manifests.clone().all(|manifest| manifest.complete),
            );
        }
        Err(_) => span.failed(),
    }
    if let Some(shared) = shared {
        shared.close().await;
    }
    for (index, (job, before)) in jobs.iter().zip(before).enumerate() {
        let exported = exported.as_ref().ok().and_then(|exported| exported.get(index));
        let sizes = exported.and_then(|exported| exported.known_sizes).unwrap_or(before.sizes);
        let learned = Learned { rate: pace.learned_rate().or(before.rate), sizes };
        learned.store(before, context, base_url, job.source.path()).await;
    }
    let exported = exported.map_err(|error| {
        let hint = match &error {
            error if has_records.load(Ordering::Relaxed) && is_resumable(error) => Some(RESUME_HINT.to_owned()),
            error => too_large(error, request).or_else(|| other_family(error, request)),
        };
        let error = Error::from(error);
        match hint {
            Some(hint) => error.with_hint(&hint),
            None => error,
        }
    })?;
    for remark in exported.iter().flat_map(|exported| &exported.remarks) {
        observer(Event::Warning(remark));
    }
    if !request.is_part
        && let Some(remark) = lacks_array(&exported)
    {
        observer(Event::Warning(remark));
    }
    if exported.iter().any(|exported| exported.lacks_baseline) {
        observer(Event::Note("--min-ratio was not checked, because no earlier export to this name is known"));
    }
    Ok(exported)
}

/// Returns the message that the array to explode is missing, if every list lacks the array.
pub fn lacks_array<'e>(exported: impl IntoIterator<Item = &'e Exported>) -> Option<&'e str> {
    let mut messages = exported.into_iter().map(|exported| exported.lacks_array.as_deref());
    let first = messages.next()??;
    messages.all(|message| message.is_some()).then_some(first)
}

/// Returns a hint if the service refused a page size set by the user.
fn too_large(error: &export::Error, request: &ExportRequest) -> Option<String> {
    let is_refused = matches!(error, export::Error::Api(client::Error::Status { status: 400 | 413 | 422, .. }));
    (request.page_size.is_some() && is_refused)
        .then(|| "the pages may be too large: leave out --page-size, and the largest one is found".to_owned())
}

/// Returns a hint for a missing list that may exist in the other family of paths.
fn other_family(error: &export::Error, request: &ExportRequest) -> Option<String> {
    let export::Error::Api(client::Error::Status { status: 404, path, .. }) = error else { return None };
    let lists = || LISTS.into_iter().filter(|list| request.records.contains(&list.name));
    let asked = lists().find(|list| path.starts_with(list.path))?;
    let other = lists().find(|list| list.name == asked.name && list.family != asked.family)?;
    Some(format!(
        "if it is right, the service may have {} at {}: --family {}",
        other.name,
        other.path,
        other.family.name()
    ))
}

/// Whether the same request can continue later with the records read so far.
fn is_resumable(error: &export::Error) -> bool {
    use client::{Error as E, Stop};
    match error {
        export::Error::Api(E::Stopped(Stop::Unauthorized(_) | Stop::Forbidden(_) | Stop::Redirected { .. })) => false,
        export::Error::Api(error) => matches!(error, E::Stopped(_) | E::Status { .. } | E::Unreadable(_)),
        export::Error::Page { .. } => true,
        _ => false,
    }
}

/// Checks a request before sending anything.
///
/// # Errors
/// If a part of the request is impossible.
pub fn check(request: &ExportRequest) -> Result<(), Error> {
    for part in request.by_file()? {
        for records in &part.records {
            let output = checked_output(&part, records)?;
            changes(&part, &output, records)?;
            chosen_template(&part, records)?;
            details(&part, records)?;
            latest(&part, &output, records)?;
        }
    }
    Ok(())
}

/// Returns the output, after checking the flags for its format.
fn checked_output(request: &ExportRequest, records: &str) -> Result<Output, Error> {
    let output = output(request, records)?;
    if request.options.since == Since::Last && matches!(output, Output::Stdout { .. }) {
        let message = "--since last needs the name of a file: standard output has no previous export";
        return Err(Error::invalid(message, "write to a file such as changes-{date}-{time}.csv"));
    }
    if request.options.append {
        check_append(request, &output)?;
    }
    let has_date = matches!(&output, Output::File { pattern, .. } if export::has_date(pattern));
    if request.options.keep.is_some() && !has_date {
        let message = "--keep needs {date} in the name of the file";
        return Err(Error::invalid(message, "name it like 'items-{date}.csv'"));
    }
    Ok(output)
}

fn job(context: &Context, request: &ExportRequest, records: &str) -> Result<Job, Error> {
    let output = checked_output(request, records)?;
    let template = chosen_template(request, records)?;
    let clock = Clock { local: jiff::Zoned::now().with_time_zone(local_zone()), now: SystemTime::now };
    Ok(Job {
        source: source(request, records)?,
        changes: changes(request, &output, records)?,
        latest: latest(request, &output, records)?,
        details: details(request, records)?,
        template: template.map(|template| Template { today: Some(clock.local.date()), ..template }),
        options: request.options.clone(),
        page_size: match request.page_size {
            Some(size) => PageSize::Chosen(u64::from(size)),
            None => PageSize::Largest(KnownSizes::default()),
        },
        home: context.home.clone(),
        base_url: context.base_url()?.trim_end_matches('/').to_owned(),
        workspace: context.workspace(),
        clock,
        output,
        shown_pattern: None,
    })
}

/// Refuses `--append` where nothing can be appended.
fn check_append(request: &ExportRequest, output: &Output) -> Result<(), Error> {
    if request.options.since != Since::Last {
        let message = "--append is for the changes since the last export";
        return Err(Error::invalid(message, "add --since last"));
    }
    match output {
        Output::File { format: Format::Sqlite, .. } => {
            let message = "--append is for files without ids: a database is updated by them in any case";
            Err(Error::invalid(message, "leave out --append"))
        }
        Output::File { format: format @ (Format::Sheet(FileFormat::Xlsx) | Format::Parquet), .. } => {
            let file = if *format == Format::Parquet { "a Parquet file" } else { "a workbook" };
            let message = format!("--append can't extend {file}");
            Err(Error::invalid(message, "write to .csv, .tsv or .ndjson, or name each file by its time: {date}-{time}"))
        }
        Output::File { pattern, .. } if pattern.contains(TIME) => {
            let message = "with {time} in its name, each file is a new one, to which nothing is appended";
            Err(Error::invalid(message, "leave out --append, or {time}"))
        }
        Output::File { .. } | Output::Stdout { .. } => Ok(()),
    }
}

fn output(request: &ExportRequest, records: &str) -> Result<Output, Error> {
    let Some(path) = &request.output else {
        return Ok(Output::Stdout { kind: request.stdout_format.unwrap_or(TextKind::Csv) });
    };
    if request.stdout_format.is_some() {
        let message = "--format is for standard output; a file's extension determines its format";
        return Err(Error::invalid(message, "leave out --format and change the extension"));
    }
    let (pattern, format) = pattern(path, records)?;
    if format == Format::Parquet && !HAS_PARQUET {
        let error = datasets::Error::NotIncluded;
        return Err(Error::invalid(
            format!("{} can't be written: this executable has no Parquet", path.display()),
            error.hint(),
        ));
    }
    if format.is_database()
        && let Some(template) = chosen_template(request, records)?
    {
        check_ids(path, &template)?;
    }
    // The flags are for the list of changes, too.
    let format_of_changes = request.changes.as_deref().and_then(Format::of);
    if let Some(flag) = flag_without_effect(&request.options.style, format)
        && format_of_changes.is_none_or(|format| flag_without_effect(&request.options.style, format).is_some())
    {
        let message = format!("{flag} has no effect on {}", path.display());
        return Err(Error::invalid(message, format!("leave out {flag}, or export to .csv")));
    }
    Ok(Output::File { pattern, format })
}

/// Refuses a template without the ids, by which the rows of a database are found again.
fn check_ids(path: &Path, template: &Template) -> Result<(), Error> {
    match template.has_column_of("id") {
        true => Ok(()),
        false => {
            let message = format!("{} needs the id of each record, and there is no column for it", path.display());
            Err(Error::invalid(
                message,
                "add id to --columns, or [[columns]] with field = \"id\", without a format, to the template",
            ))
        }
    }
}

/// Returns the file name with the placeholder for the list filled in, and the format of the file.
fn pattern(path: &Path, records: &str) -> Result<(String, Format), Error> {
    let format = Format::of(path).ok_or_else(|| {
        let message = format!("{} has no extension that says what to write", path.display());
        // `/dev/stdout`, and pipes of the shell such as `>(gzip)`.
        let is_stream = path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
        let hint = match is_stream || path.starts_with("/dev") {
            true => "write - for standard output, and redirect that: -o - | …".to_owned(),
            false => format!("name it {}", Format::NAMES),
        };
        Error::invalid(message, hint)
    })?;
    let pattern = path.to_str().ok_or_else(|| {
        Error::invalid(format!("the name {} is not valid Unicode", path.display()), "give the file another name")
    })?;
    Ok((pattern.replace(KIND, records), format))
}

fn changes(request: &ExportRequest, output: &Output, records: &str) -> Result<Option<ChangesFile>, Error> {
    let Some(path) = &request.changes else { return Ok(None) };
    let (pattern, format) = pattern(path, records)?;
    let Format::Sheet(format) = format else {
        let message = format!(
            "{} can't be a list of changes: its columns before and after have values of all types",
            path.display()
        );
        let hint = match output {
            Output::File { format: Format::Sqlite, .. } => "leave out --changes: a database has a table of changes",
            _ => "give --changes a name with .csv, .tsv, .ndjson or .xlsx",
        };
        return Err(Error::invalid(message, hint));
    };
    match (output, request.options.since) {
        (Output::Stdout { .. }, _) => {
            let message = "--changes needs the name of a file: standard output has no previous export";
            Err(Error::invalid(message, "write the records to a file, too"))
        }
        (_, Since::Moment(_)) => {
            let message = "--changes is about the previous export, not about the time of --since";
            Err(Error::invalid(message, "leave out --since, or use --since last"))
        }
        (Output::File { pattern: output, .. }, _) if absolute(output) == absolute(&pattern) => {
            let message = format!("{} can't take both the records and the changes", path.display());
            Err(Error::invalid(message, "give --changes another name"))
        }
        _ => Ok(Some(ChangesFile { pattern, format })),
    }
}

/// Returns a flag for text formats without effect on this format, if any.
fn flag_without_effect(style: &Style, format: Format) -> Option<&'static str> {
    let has_fields = matches!(format, Format::Sheet(FileFormat::Text { .. })) && !format.is_ndjson();
    let flags = [
        ("--delimiter", style.delimiter.is_some()),
        ("--locale", style.decimal_comma),
        ("--bom", style.bom),
        // In a workbook, it is no mistake.
        ("--exact", style.raw && format != Format::Sheet(FileFormat::Xlsx)),
    ];
    flags.into_iter().find(|(_, is_used)| *is_used && !has_fields).map(|(flag, _)| flag)
}

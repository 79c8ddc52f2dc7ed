//! `export`: writes a list, or records selected by id, to a file.

use std::path::Path;

use serde_json::{Value, json};
use sheetport_export::{Choice, ExportOptions, Exported, Manifest, Since};
use sheetport_language::{counted_in_english, message, say};
use sheetport_operations::{self as operations, CommandLine, Context, ExportRequest, IdSource};
use sheetport_records::Family;
use sheetport_sheet::write::{Style, TextKind};

use super::console::Console;
use super::console::signals::Interrupt;
use super::next_command;
use crate::cli::{Export, TableRows};
use crate::error::{ErrorCode, Exit, Failure};
use crate::settings::{Output, Settings};
use crate::ui;

/// Exports. With `--quiet`, a complete export prints nothing, and any other a single line on stderr.
pub(super) async fn run(args: &Export, settings: &Settings) -> Result<Exit, Failure> {
    let ended = run_and_print(args, settings).await;
    match settings.output.talks() || settings.output.json {
        true => ended,
        false => ended.map_err(Failure::in_one_line),
    }
}

async fn run_and_print(args: &Export, settings: &Settings) -> Result<Exit, Failure> {
    if is_stdout(&args.output) && settings.output.json {
        return Err(Failure::new(
            ErrorCode::Usage,
            "standard output can't take both the records and the summary of --json",
            "write the records to a file, or leave out --json",
        ));
    }
    let requests = request(args).by_file()?;
    let interrupt = Interrupt::default();
    let mut results = Vec::new();
    for request in &requests {
        let result = tokio::select! {
            // The signal handler must be installed before the first request.
            biased;
            _ = interrupt.signal() => {
                let hint = "the records read so far are kept; run the same command again within an hour to continue";
                let failure = Failure::new(ErrorCode::of_signal(interrupt.exit()), "the export was interrupted", hint);
                return Err(failure.or_next(|| again(args, &settings.context)));
            }
            result = export(request, &settings.context, settings.output) => result,
        };
        match result {
            Ok(exported) => {
                if settings.output.talks() {
                    exported.iter().for_each(print);
                } else if !settings.output.json {
                    exported.iter().filter_map(shortcoming).for_each(ui::remark);
                }
                results.push(Ok(exported));
            }
            // The remaining independent files are still written.
            Err(failure) if requests.len() > 1 => {
                let failure = failure_of(request, failure, settings.output);
                if !settings.output.json {
                    ui::failure(&failure, false);
                }
                results.push(Err((request.records[0], failure)));
            }
            Err(failure) => {
                return Err(match failure.exit() {
                    Exit::Stopped => failure.or_next(|| again(args, &settings.context)),
                    _ => failure,
                });
            }
        }
    }
    if requests.len() > 1
        && results.iter().all(Result::is_ok)
        && let Some(remark) = operations::lacks_array(results.iter().flatten().flatten())
    {
        ui::remark(remark);
    }
    let is_whole = |result: &Result<Vec<Exported>, _>| {
        result.as_ref().is_ok_and(|exported| exported.iter().all(|exported| exported.manifest.complete))
    };
    let next = (!results.iter().all(is_whole)).then(|| again(args, &settings.context));
    if settings.output.json {
        ui::json(&summary(&results, args.records.len() > 1, next.as_deref()));
    } else if settings.output.talks() {
        ui::next_remark(next.as_deref());
    }
    Ok(exit(&results))
}

/// Names the list that was not exported.
fn failure_of(request: &ExportRequest, failure: Failure, output: Output) -> Failure {
    let message = format!("{} were not exported: {}", request.records.join(", "), failure.message);
    let failure = Failure { message, ..failure };
    if output.talks() || output.json { failure } else { failure.in_one_line() }
}

/// The exports of one file, or the list that was not exported, with the failure.
type FileResult = Result<Vec<Exported>, (&'static str, Failure)>;

fn exit(results: &[FileResult]) -> Exit {
    if let Some((_, failure)) = results.iter().find_map(|result| result.as_ref().err()) {
        return failure.exit();
    }
    let exported = || results.iter().flatten().flatten();
    if exported().any(|exported| !exported.manifest.complete) {
        return Exit::Incomplete;
    }
    if exported().any(|exported| exported.manifest.not_found > 0) { Exit::RowsFailed } else { Exit::Done }
}

/// Returns the summary for `--json`: the summary of a single list, or several summaries in `exports`.
fn summary(results: &[FileResult], is_several: bool, next: Option<&str>) -> Value {
    let mut exports: Vec<Value> = results
        .iter()
        .flat_map(|result| match result {
            Ok(exported) => exported.iter().map(as_json).collect(),
            Err((records, failure)) => {
                vec![json!({"command": "export", "records": records, "error": failure.json()})]
            }
        })
        .collect();
    let mut json = match is_several {
        true => json!({"command": "export", "exports": exports}),
        false => exports.pop().unwrap_or_default(),
    };
    json["next"] = json!(next);
    json
}

/// Exports to one file. The caller prints the result.
pub(super) async fn export(
    request: &ExportRequest,
    context: &Context,
    output: Output,
) -> Result<Vec<Exported>, Failure> {
    let console = Console::new(output);
    let exported = operations::export(context, request, &|event| console.show(event)).await?;
    console.finish(exported.iter().map(|exported| exported.manifest.distinct).sum());
    Ok(exported)
}

/// Returns the request of these flags.
pub(super) fn request(args: &Export) -> ExportRequest {
    let Export { rows, look, nightly, by_id, .. } = args;
    let ids = by_id.ids.clone();
    let ids = ids.map(|path| IdSource { path, column: by_id.column.clone(), external: by_id.external });
    ExportRequest {
        records: args.records.clone(),
        is_part: false,
        family: args.family,
        output: (!is_stdout(&args.output)).then(|| args.output.clone()),
        stdout_format: look.format,
        template: rows.template.clone(),
        lines: rows.lines,
        choice: Choice {
            columns: rows.columns.clone(),
            conditions: rows.conditions.clone(),
            sort: rows.sort.clone(),
            renames: rows.rename.clone(),
        },
        changes: nightly.changes.clone(),
        latest: nightly.latest.clone(),
        ids,
        page_size: args.page_size,
        rate: args.pacing.rate,
        options: ExportOptions {
            style: Style {
                delimiter: look.delimiter,
                decimal_comma: look.locale.is_some_and(|locale| locale.0),
                bom: look.bom,
                raw: look.exact,
            },
            explode: rows.explode.clone(),
            since: nightly.since.unwrap_or_default(),
            append: nightly.append,
            verify: args.verify,
            fresh: args.fresh,
            keep: nightly.keep,
            min_ratio: nightly.min_ratio,
            allow_empty: nightly.allow_empty,
            replace: args.replace,
            language: by_id.language.clone(),
            concurrency: args.pacing.concurrency(),
        },
    }
}

/// Returns the command for exporting again. The same command continues an interrupted export.
fn again(args: &Export, context: &Context) -> String {
    let Export { records, output, family, verify, replace, fresh: _, page_size, rows, look, nightly, by_id, pacing } =
        args;
    let byte = |byte: u8| if byte == b'\t' { "tab".to_owned() } else { char::from(byte).to_string() };
    let since = nightly.since.map(|since| match since {
        Since::Moment(time) => time.to_string(),
        Since::Last | Since::Ever => "last".to_owned(),
    });
    let TableRows { columns, conditions, sort, rename, template, lines, explode } = rows;
    let mut command = CommandLine::new(context, &format!("export {}", records.join(" "))).short('o', "output", output);
    for (flag, texts) in [("columns", columns), ("where", conditions), ("sort", sort), ("rename", rename)] {
        for text in texts {
            command = command.flag(flag, Some(text));
        }
    }
    let command = command
        .flag("family", family.map(Family::name))
        .switch("verify", *verify)
        .flag("page-size", page_size.map(|size| size.to_string()))
        .flag("template", template.as_ref())
        .switch("lines", *lines)
        .flag("explode", explode.as_ref())
        .flag("format", look.format.map(TextKind::name))
        .flag("locale", look.locale.map(|comma| if comma.0 { "de" } else { "en" }))
        .flag("delimiter", look.delimiter.map(byte))
        .switch("bom", look.bom)
        .switch("exact", look.exact)
        .flag("since", since)
        .switch("append", nightly.append)
        .flag("changes", nightly.changes.as_ref())
        .flag("keep", nightly.keep.map(|number| number.to_string()))
        .flag("latest", nightly.latest.as_ref())
        .flag("min-ratio", nightly.min_ratio.map(|share| share.to_string()))
        .switch("allow-empty", nightly.allow_empty)
        .switch("replace", *replace)
        .flag("ids", by_id.ids.as_ref())
        .flag("column", by_id.column.as_ref())
        .switch("external", by_id.external)
        .flag("language", by_id.language.as_ref());
    next_command::with_pacing(command, pacing).to_string()
}

/// Returns the JSON object of `--json`. The fields are a stable interface.
pub(super) fn as_json(exported: &Exported) -> Value {
    let manifest = &exported.manifest;
    json!({
        "command": "export",
        "records": manifest.records,
        "family": manifest.family,
        "file": exported.path,
        "manifest": exported.path.as_deref().map(Manifest::path_of),
        "count": manifest.count,
        "rows": manifest.rows,
        "rows_before": manifest.rows_before,
        "distinct": manifest.distinct,
        "pages": manifest.pages,
        "page_size": manifest.page_size,
        "requests": manifest.requests,
        "duplicates": manifest.duplicates,
        "total": manifest.total,
        "older": manifest.older,
        "left_out": manifest.left_out,
        "cut": manifest.cut,
        "new_columns": manifest.new_columns,
        "defused": manifest.defused,
        "not_found": manifest.not_found,
        "gone": manifest.gone,
        "not_found_file": exported.not_found,
        "complete": manifest.complete,
        "how": manifest.how,
        "resumed": manifest.resumed,
        "changes": manifest.changes,
        "changes_file": exported.changes_file,
        "changes_cut": manifest.changes_cut,
        "changes_defused": manifest.changes_defused,
        "removed": exported.removed,
        "latest": exported.latest,
    })
}

/// Returns the shortcoming of an export in one line, if any.
fn shortcoming(exported: &Exported) -> Option<String> {
    let manifest = &exported.manifest;
    let file = exported.path.as_deref().unwrap_or(Path::new("standard output")).display();
    if !manifest.complete {
        return Some(format!("{file} may be incomplete: {}", manifest.how));
    }
    let list = exported.not_found.as_ref().filter(|_| manifest.not_found > 0)?;
    let missing = counted_in_english(manifest.not_found, "ID");
    Some(format!("{file}: {missing} not found, listed in {}", list.display()))
}

/// Prints the counts and the check of completeness: on stderr if the records are on stdout.
pub(super) fn print(exported: &Exported) {
    let manifest = &exported.manifest;
    let show = |text: String| match exported.path {
        Some(_) => ui::line(text),
        None => ui::remark(text),
    };
    let (good, bad, faint) = (ui::style::GOOD, ui::style::BAD, ui::style::FAINT);
    let file = exported.path.as_deref().unwrap_or(Path::new("standard output"));
    let count = ui::thousands(manifest.count);
    match manifest.rows_before {
        Some(before) if before > 0 => {
            let before = ui::thousands(before);
            show(say!("{count} {} appended to {}, after {before} rows", manifest.records, file.display()));
        }
        _ => show(say!("{count} {} in {}", manifest.records, file.display())),
    }
    if manifest.complete {
        show(say!("  {good}complete{good:#}: {faint}{}{faint:#}", message(&manifest.how)));
    } else {
        show(say!("  {bad}may be incomplete{bad:#}: {}", message(&manifest.how)));
    }
    if manifest.resumed {
        let note = say!("continued an interrupted export");
        show(format!("  {faint}{note}{faint:#}"));
    }
    let counts = [
        (manifest.older, "unchanged since", manifest.since.as_deref()),
        (manifest.left_out, "left out by the conditions", None),
        (manifest.defused, "kept from running as a formula by an apostrophe", None),
        (manifest.gone, "removed before their lines were requested", None),
        (manifest.not_found, "not found, listed in", exported.not_found.as_deref().and_then(Path::to_str)),
    ];
    for (count, what, more) in counts.into_iter().filter(|(count, ..)| *count > 0) {
        let more = more.map(|more| format!(" {more}")).unwrap_or_default();
        show(format!("  {} {}{more}", ui::thousands(count), message(what)));
    }
    if let Some(changes) = &manifest.changes {
        let [added, changed, removed] = [changes.added, changes.changed, changes.removed].map(ui::thousands);
        let file = exported.changes_file.as_deref();
        let file = file.map(|file| say!(", listed in {}", file.display())).unwrap_or_default();
        show(say!("  since the last export: {added} added, {changed} changed, {removed} removed{file}"));
    }
    for path in &exported.removed {
        show(say!("  {faint}removed {}{faint:#}", path.display()));
    }
}

fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

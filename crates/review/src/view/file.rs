//! Files under review, as JSON for the page.

use std::borrow::Cow;

use serde_json::{Value, json};
use sheetport_client::Speed;
use sheetport_findings::Asks;
use sheetport_infer::Confidence;
use sheetport_language::Language;
use sheetport_ledger::Accounting;
use sheetport_operations::review::{
    CauseOfRows, CheckedSheet, DraftOrigin, Fix, FixChoice, FixPreview, MappedField, ValueLook,
};
use sheetport_operations::{Context, Event, Finished};
use sheetport_plan::{EditedRow, Edits};
use sheetport_records::{JsonType, order};
use sheetport_send::StopReason;
use sheetport_sheet::{Row, column_letters};

use super::super::session::{Columns, Session, State, TemplateUndo};
use super::changes;
use super::difference::group;
use super::text::{cut, is_cut};

/// Maximum columns on the page.
pub(crate) const MAX_COLUMNS: usize = 300;

/// Describes the service that the page uses, without tokens.
pub(crate) fn service(context: &Context) -> Value {
    let problem = match (&context.base_url, &context.withheld) {
        (None, _) => Some("no-address"),
        (Some(_), Some(_)) => Some("no-login"),
        (Some(_), None) if context.credentials.access.is_none() && context.credentials.refresh.is_none() => {
            Some("no-login")
        }
        (Some(_), None) if context.credentials.is_read_only() => Some("read-only"),
        _ => None,
    };
    json!({"address": context.base_url, "workspace": context.workspace(), "profile": context.profile, "problem": problem})
}

/// Describes a file under review.
pub(crate) fn review(session: &Session) -> Value {
    let state = session.state().clone();
    let columns = session.columns();
    let (sheet, extent) = (&state.sheet, state.sheet.rows.extent());
    let book = &sheet.book;
    let dialect = book.dialect();
    json!({
        "name": session.file.name.file_name().map(|name| name.to_string_lossy()),
        "description": book.description(),
        "sheets": if book.has_named_sheets() { book.sheets() } else { &[] },
        "sheet": sheet.name(),
        "encoding": dialect.map(|dialect| dialect.encoding.encoding.name()),
        "delimiter": dialect.map(|dialect| char::from(dialect.grammar.delimiter).to_string()),
        "chosen": {"encoding": state.reading.encoding, "delimiter": state.reading.delimiter.map(|it| char::from(it).to_string())},
        "rows": extent.rows,
        "width": extent.width.min(MAX_COLUMNS),
        "all_columns": extent.width,
        "is_complete": extent.is_complete,
        "failed": extent.failed,
        "template": template(&state, &columns),
        "edits": edits(&state),
        "check": check(&state),
        "revision": state.revision,
        "last_run": state.last_run,
        "last_was_approved": state.last_was_approved,
        "refused": state.refused.rows().len(),
        "report_of": state.report_of,
        "has_key": !state.draft.record.input().key.is_empty(),
        "status": session.sending.status(),
        "comparison": session.sending.comparison(),
        "look": session.look().as_ref().map(changes::look),
    })
}

fn template(state: &State, columns: &Columns) -> Value {
    let draft = &state.draft;
    let origin = match draft.origin {
        DraftOrigin::BuiltIn => "built-in",
        DraftOrigin::Folder => "folder",
        DraftOrigin::Run(_) => "run",
        DraftOrigin::Proposed => "proposed",
    };
    let mapping = &columns.mapping;
    let fields = mapping.fields.iter().map(|field| self::field(field, state));
    let header = mapping.columns.iter().take(MAX_COLUMNS).enumerate();
    let header = header.map(|(index, column)| {
        let look = columns.looks.get(index);
        let samples = look.map(|look| look.samples.iter().map(|text| cut(text)).collect::<Vec<_>>());
        let looks = look.and_then(|look| look.look).map(name_of);
        json!({"name": cut(&column.header), "letter": column_letters(index), "fields": column.fields, "samples": samples, "looks": looks})
    });
    let mistakes = columns.mistakes.iter().map(|it| json!({"line": it.line, "message": it.message, "hint": it.hint}));
    json!({
        "name": draft.name,
        "origin": origin,
        "run": if let DraftOrigin::Run(run) = draft.origin { Some(run) } else { None },
        "record": draft.record.name(),
        "text": draft.toml,
        "is_own": !draft.is_as_it_was(),
        "header_row": mapping.header_row,
        "columns": header.collect::<Vec<_>>(),
        "fields": fields.collect::<Vec<_>>(),
        "names_as_key": draft.names_as_key.as_ref().map(|(field, column)| json!({"field": field, "column": column})),
        "kind_guess": mapping.is_kind_guess,
        "group": mapping.group,
        "group_guess": mapping.is_group_guess,
        "mistakes": mistakes.collect::<Vec<_>>(),
        "warnings": draft.warnings,
        "locale": locale_of(&draft.toml),
    })
}

/// Returns the locale of the sheet in the text of a template.
fn locale_of(toml: &str) -> Option<String> {
    let document: toml_edit::DocumentMut = toml.parse().ok()?;
    document.get("sheet")?.get("locale")?.as_str().map(str::to_owned)
}

fn field(field: &MappedField, state: &State) -> Value {
    let reason = state.draft.reasons.get(&field.path);
    let confidence = match reason.map(|reason| &reason.confidence) {
        _ if field.is_guess => "guess",
        Some(Confidence::Guess) => "confirmed",
        Some(Confidence::AsIn(_)) => "as-in",
        Some(Confidence::Sure) => "sure",
        Some(Confidence::Likely) => "likely",
        None => "template",
    };
    json!({
        "path": field.path,
        "name": field.field.name,
        "doc": field.field.doc,
        "line": field.is_line,
        "number": matches!(field.field.json, JsonType::Number | JsonType::Integer),
        "required": field.field.required,
        "columns": field.columns,
        "constant": field.constant,
        "mapped": field.is_mapped,
        "guess": field.is_guess,
        "confidence": confidence,
        "reason": reason.map(|reason| &reason.words),
        "allowed": field.allowed,
        "asks": looked_for(field).map(name_of),
    })
}

fn name_of(look: ValueLook) -> &'static str {
    match look {
        ValueLook::Money => "money",
        ValueLook::Quantity => "quantity",
        ValueLook::Code => "code",
    }
}

/// Returns the look of values for which a column without a field is asked about: records without them are rarely meant.
fn looked_for(field: &MappedField) -> Option<ValueLook> {
    let it = field.field;
    if it.is_money && !it.is_tax() {
        return Some(ValueLook::Money);
    }
    if it.name == "quantity" {
        return Some(ValueLook::Quantity);
    }
    (field.is_line && order::NEEDS_ONE_OF.contains(&it.name)).then_some(ValueLook::Code)
}

pub(crate) fn edits(state: &State) -> Value {
    let (cells, rows) = state.log.current().counts();
    let (of_others, last_other) = state.log.of_others();
    let (can_undo, template) = state.can_undo();
    let template = template.map(|template| match template {
        TemplateUndo::Forgets => "forgets",
        TemplateUndo::Keeps => "keeps",
    });
    let last_fix = state.last_fix().map(|(step, count, rows)| json!({"step": step, "count": count, "rows": rows}));
    json!({"cells": cells, "left_out": rows, "last_fix": last_fix, "can_undo": can_undo, "undo_template": template, "can_redo": state.can_redo(),
        "corrected": state.refused.corrected(&state.log, state.sheet.sheet), "of_others": of_others, "last_other": last_other})
}

/// Describes the last check, or the mistakes in the template that prevent a check.
pub(crate) fn check(state: &State) -> Value {
    let mistakes: Vec<Value> =
        state.unchecked.iter().map(|it| json!({"line": it.line, "message": it.message, "hint": it.hint})).collect();
    let Some(checked) = &state.checked else {
        // Without a revision, the page would ignore the answer as outdated.
        return json!({"revision": state.checked_revision, "mistakes": mistakes});
    };
    let tally = &checked.tally;
    let causes = checked.causes.iter().enumerate().filter(|(_, cause)| cause.count > 0);
    let causes = causes.map(|(number, cause)| self::cause(number, cause, checked));
    json!({
        "revision": state.checked_revision,
        "rows": tally.rows,
        "to_send": tally.to_send,
        "rejected": tally.rejected,
        "skipped": tally.skipped,
        "accepted": tally.accepted_earlier,
        "warned": tally.warned,
        "left_out": checked.left_out_count(state.log.current()),
        "causes": causes.collect::<Vec<_>>(),
        "mistakes": mistakes,
    })
}

fn cause(number: usize, cause: &CauseOfRows, checked: &CheckedSheet) -> Value {
    let problem = &cause.problem;
    json!({
        "number": number,
        "code": problem.code,
        "title": Language::default().explanation(problem.code).title,
        "count": cause.count,
        "warning": cause.is_warning,
        "refusal": cause.is_refusal,
        "asks": asks(cause, checked),
        "of_file": checked.of_cause(number).iter().all(|problem| problem.row == 0),
        "header": cut(&problem.header),
        "column": checked.column_of(problem),
        "field": problem.field,
        "value": cut(&problem.value),
        "message": problem.message,
        "remedy": problem.remedy,
        "first_row": checked.of_cause(number).first().map(|problem| problem.row),
    })
}

/// Returns what a cause holds back until a person says that it is right: `row` or `file`.
fn asks(cause: &CauseOfRows, checked: &CheckedSheet) -> Option<&'static str> {
    let code = cause.problem.code;
    match code.asks()? {
        Asks::Row => (!cause.is_warning && !cause.is_refusal).then_some("row"),
        Asks::File => checked.tally.questions.contains(&code).then_some("file"),
    }
}

/// Returns the text of a cell as it is now.
pub(crate) fn text_of<'a>(row: &'a Row, edited: Option<&'a EditedRow>, column: usize) -> Cow<'a, str> {
    let edited = edited.and_then(|edited| edited.cell(column));
    edited.map_or_else(|| row.get(column).shown(), Cow::Borrowed)
}

/// Describes a row with current cells, original texts and problems.
pub(crate) fn row(row: &Row, sheet: usize, edits: &Edits, checked: Option<&CheckedSheet>, with_values: bool) -> Value {
    let edited = edits.of_row(sheet, row.number);
    let width = row.len().max(edited.and_then(|row| row.columns().next_back()).map_or(0, |last| last + 1));
    let original = |column: usize| cut(&row.get(column).shown());
    let cells = (0..width.min(MAX_COLUMNS)).map(|column| cut(&text_of(row, edited, column)));
    let mut value = json!({"n": row.number, "c": cells.collect::<Vec<_>>()});
    let long: Vec<usize> =
        (0..width.min(MAX_COLUMNS)).filter(|column| is_cut(&text_of(row, edited, *column))).collect();
    if !long.is_empty() {
        value["l"] = long.into();
    }
    if let Some(edited) = edited {
        let before = edited.columns().map(|column| (column.to_string(), Value::from(original(column))));
        value["e"] = Value::Object(before.collect());
        value["x"] = edited.is_left_out.into();
    }
    let Some(checked) = checked else { return value };
    let problems = checked.of_row(row.number).map(|(cause, place)| json!([place.column, cause]));
    let problems: Vec<Value> = problems.collect();
    if !problems.is_empty() {
        value["p"] = problems.into();
    }
    if with_values && row.number > checked.header_row() {
        let mut as_read = row.clone();
        edits.apply(sheet, &mut as_read);
        let values = checked.values(&as_read).into_iter().filter_map(|explained| {
            let (column, _) = explained.cells.first()?;
            let (value, is_wrong) = match explained.value {
                Ok(value) => (value?, false),
                Err(problem) => (problem.cause.message(), true),
            };
            Some(json!([column, cut(&value), is_wrong]))
        });
        value["v"] = values.collect::<Vec<_>>().into();
    }
    value
}

/// Describes a row that is left out, with the reason.
pub(crate) fn left_out_row(row: &Row, state: &State) -> Value {
    let (edits, checked) = (state.log.current(), state.checked.as_deref());
    let mut value = self::row(row, state.sheet.sheet, edits, checked, false);
    let why = checked.map(|checked| checked.why_left_out(row, edits));
    value["why"] = why.map(|problem| problem.message).into();
    value
}

/// Describes a row that the service refused, with its words for each column, until the row is edited.
pub(crate) fn refused_row(row: &Row, state: &State, is_edited: bool) -> Value {
    let (edits, checked) = (state.log.current(), state.checked.as_deref());
    let mut value = self::row(row, state.sheet.sheet, edits, None, false);
    let said = state.refused.of_row(row.number).iter().map(|(_, problem)| {
        json!({"column": checked.and_then(|checked| checked.column_of(problem)), "code": problem.code, "message": problem.message})
    });
    value["r"] = said.collect::<Vec<_>>().into();
    value["d"] = is_edited.into();
    value
}

pub(crate) fn fix_choice(choice: &FixChoice) -> Value {
    let (kind, to) = match &choice.fix {
        Fix::Set(to) => ("set", Some(json!(to))),
        Fix::ReplacePart { .. } => ("replace-part", None),
        Fix::Tidy => ("tidy", None),
        Fix::NumberOnly => ("number-only", None),
        Fix::FillFromAbove => ("fill-from-above", None),
        Fix::PadZeros(length) => ("pad-zeros", Some(json!(length))),
        Fix::LeaveOut => ("leave-out", None),
        Fix::KeepFirst => ("keep-first", None),
        Fix::KeepLast => ("keep-last", None),
    };
    let mut value = preview(&choice.preview);
    value["kind"] = kind.into();
    value["to"] = to.into();
    value
}

pub(crate) fn preview(preview: &FixPreview) -> Value {
    let samples = preview.samples.iter().map(|(row, before, after)| json!([row, cut(before), cut(after)]));
    json!({"count": preview.count, "about": preview.is_estimate, "samples": samples.collect::<Vec<_>>()})
}

/// Describes the progress of sending, if the event tells something new.
pub(crate) fn progress(event: Event<'_>, rehearsal: bool) -> Option<Value> {
    Some(match event {
        Event::Reading { rows } => json!({"phase": "reading", "rehearsal": rehearsal, "rows": rows}),
        Event::Sending { pending, rate } => {
            let rate = rate.map(|rate| match rate {
                Speed::Auto(_) => "auto".to_owned(),
                Speed::Fixed(rate) => rate.to_string(),
            });
            json!({"phase": "sending", "rehearsal": rehearsal, "pending": pending, "sent": 0, "failed": 0, "unknown": 0, "limit": rate})
        }
        Event::Sent { progress, pending } => json!({
            "phase": "sending",
            "rehearsal": rehearsal,
            "pending": pending,
            "sent": progress.sent,
            "failed": progress.failed,
            "unknown": progress.unknown,
            "retrying": progress.retrying,
            "pause": progress.pause.map(|pause| pause.as_secs() + 1),
            "rate": progress.rate,
        }),
        Event::Comparing { done, all } => {
            json!({"phase": "reading", "rehearsal": rehearsal, "compared": done, "to_compare": all})
        }
        _ => return None,
    })
}

/// Describes the progress of a look at the changes, if the event tells something new.
pub(crate) fn looking(event: Event<'_>) -> Option<Value> {
    match event {
        Event::Reading { rows } => Some(json!({"phase": "looking", "rows": rows})),
        Event::Comparing { done, all } => Some(json!({"phase": "looking", "compared": done, "to_compare": all})),
        _ => None,
    }
}

/// Describes the end of a run.
pub(crate) fn finished(finished: &Finished, rehearsal: bool, command: &str, notes: &[String]) -> Value {
    let refused: Vec<Value> = finished.refused.groups().into_iter().map(group).collect();
    let forecast = finished.rehearsed.as_ref().and_then(|rehearsed| rehearsed.forecast.as_ref());
    json!({
        "phase": "ended",
        "rehearsal": rehearsal,
        "run": finished.run.id,
        "counts": counts(&finished.accounting),
        "stopped": finished.stopped.as_ref().filter(|why| !matches!(why, StopReason::Interrupted)).map(ToString::to_string),
        "stopped_hint": finished.stopped.as_ref().and_then(|why| why.hint(finished.accounting.sent > 0)),
        "withheld": finished.withheld.is_some(),
        "approved": finished.run.approved_at.is_some(),
        "refused": refused,
        "left_out": finished.left_out.len(),
        "report": finished.report.as_ref().ok().and_then(|path| path.as_ref()).map(|path| path.display().to_string()),
        "report_error": finished.report.as_ref().err().map(ToString::to_string),
        "forecast": forecast.map(|forecast| json!({"requests": forecast.requests, "seconds": forecast.seconds()})),
        "command": command,
        "next": finished.next,
        "notes": notes,
    })
}

/// Describes the number of records in each state.
pub(crate) fn counts(accounting: &Accounting) -> Value {
    let Accounting { rows, total, requests, .. } = accounting;
    let mut counts = json!({"rows": rows, "total": total, "requests": requests});
    for (state, records) in accounting.states() {
        counts[state.name()] = records.into();
    }
    counts
}

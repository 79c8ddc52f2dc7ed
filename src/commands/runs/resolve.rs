//! `resolve`: shows the records with an unknown outcome and records a person's verdicts.

use serde_json::json;
use sheetport_language::say;
use sheetport_ledger::{Resolution, Seq, UnknownRecord, user_name};
use sheetport_operations::{Resolved, Resolving};

use super::time::{shown, time};
use crate::cli::{Resolve, Rows};
use crate::error::{ErrorCode, Exit, Failure};
use crate::settings::Settings;
use crate::ui;

/// Maximum number of records printed without `--json`.
const MAX_SHOWN: u64 = 50;

pub(in crate::commands) async fn run(args: &Resolve, settings: &Settings) -> Result<Exit, Failure> {
    let by = args.by.clone().unwrap_or_else(user_name);
    let mut resolution = Resolving::begin(&settings.context, args.run, &by).await?;
    let has_verdicts = args.sent.is_some() || args.failed.is_some() || args.all_sent || args.all_failed;
    let asks = !has_verdicts && settings.output.can_ask();
    let mut listed = resolution.records().await?;
    if has_verdicts {
        record_verdicts(args, &mut resolution, &listed).await?;
    } else if asks {
        ask_verdicts(&mut resolution, &listed).await?;
    }
    if has_verdicts || asks {
        listed.clear();
    }
    let resolved = resolution.finish().await?;
    if settings.output.json {
        let records: Vec<_> = listed.iter().map(as_json).collect();
        let Resolved { run, sent, failed, unknown, next } = &resolved;
        ui::json(&json!({"run": run, "command": "resolve", "sent": sent, "failed": failed, "unknown": unknown,
                         "records": records, "by": by, "next": next}));
    } else {
        listed.iter().take(MAX_SHOWN as usize).for_each(|record| print(record, None));
        print_result(&resolved, listed.len() as u64, (has_verdicts || asks).then_some(by.as_str()));
    }
    Ok(if resolved.unknown > 0 { Exit::Unknown } else { Exit::Done })
}

fn print_result(resolved: &Resolved, listed: u64, by: Option<&str>) {
    let Resolved { run, sent, failed, unknown, next } = resolved;
    if listed > MAX_SHOWN {
        ui::line(say!("  and {} more; --json lists all", ui::thousands(listed - MAX_SHOWN)));
    }
    if let Some(by) = by {
        ui::line(say!("run {run}: {sent} recorded as sent, {failed} as failed, by {by}"));
    }
    ui::line(say!("{} with an unknown outcome", ui::counted(*unknown, "record")));
    ui::next(next.as_deref());
}

/// Records the verdicts of the flags. Changes no record if the flags contradict each other.
async fn record_verdicts(args: &Resolve, resolution: &mut Resolving, records: &[UnknownRecord]) -> Result<(), Failure> {
    let names = |rows: &Option<Rows>, row: u64| rows.as_ref().is_some_and(|rows| rows.contains(row));
    let (mut sent, mut failed): (Vec<Seq>, Vec<Seq>) = (Vec::new(), Vec::new());
    for record in records {
        match (names(&args.sent, record.row), names(&args.failed, record.row)) {
            (true, true) => {
                let message = format!("row {} is given both as sent and as failed", record.row);
                return Err(Failure::new(ErrorCode::Usage, message, "give it once; no record was changed"));
            }
            (true, false) => sent.push(record.seq),
            (false, true) => failed.push(record.seq),
            (false, false) if args.all_sent => sent.push(record.seq),
            (false, false) if args.all_failed => failed.push(record.seq),
            (false, false) => {}
        }
    }
    resolution.record(&sent, Resolution::Sent).await?;
    resolution.record(&failed, Resolution::Failed).await?;
    Ok(())
}

/// Asks about each record, and saves each answer at once.
async fn ask_verdicts(resolution: &mut Resolving, records: &[UnknownRecord]) -> Result<(), Failure> {
    for (index, record) in records.iter().enumerate() {
        print(record, Some((index + 1, records.len())));
        match ask() {
            Answer::Verdict(verdict) => resolution.record(&[record.seq], verdict).await?,
            Answer::Later => {}
            Answer::Quit => break,
        }
    }
    Ok(())
}

enum Answer {
    Verdict(Resolution),
    Later,
    Quit,
}

/// Asks until the answer is valid.
fn ask() -> Answer {
    loop {
        match ui::ask(&say!("Was it applied? [y]es, [n]o, [l]ater, [q]uit:")).as_deref() {
            Some("y" | "yes") => return Answer::Verdict(Resolution::Sent),
            Some("n" | "no") => return Answer::Verdict(Resolution::Failed),
            Some("l" | "later") => return Answer::Later,
            Some("q" | "quit") | None => return Answer::Quit,
            Some(_) => ui::remark(say!("type y, n, l or q")),
        }
    }
}

/// Prints a record, with the position in an interactive session.
fn print(record: &UnknownRecord, position: Option<(usize, usize)>) {
    let (strong, faint) = (ui::style::STRONG, ui::style::FAINT);
    if let Some((position, total)) = position {
        if position > 1 {
            ui::line("");
        }
        ui::line(say!("{faint}{position} of {total}{faint:#}"));
    }
    let rows = match record.record.rows.as_slice() {
        // The file lacks the record.
        [] => "–".to_owned(),
        rows => rows.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    };
    let why = record.outcome.problems.first().map_or("", |problem| problem.message.as_str());
    ui::line(say!("{strong}row {rows}{strong:#}  {}  {why}", shown(record.outcome.at)));
    let ids = [("key", &record.record.key), ("id", &record.record.target), ("ctx_id", &record.outcome.ctx_id)];
    for (name, id) in ids {
        if let Some(id) = id {
            ui::line(say!("  {faint}{name}{faint:#} {id}"));
        }
    }
    ui::line(say!("  {faint}{}{faint:#}", record.body));
}

fn as_json(record: &UnknownRecord) -> serde_json::Value {
    json!({
        "rows": record.record.rows,
        "key": record.record.key,
        "id": record.record.target,
        "at": time(record.outcome.at),
        "why": record.outcome.problems.first().map(|problem| &problem.message),
        "http_status": record.outcome.http_status,
        "ctx_id": record.outcome.ctx_id,
        "attempts": record.outcome.attempts,
        "body": serde_json::from_str::<Box<serde_json::value::RawValue>>(&record.body).ok(),
    })
}

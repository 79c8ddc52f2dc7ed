//! `resolve`: shows the records of which nobody knows whether they were applied, and notes what a person says of them.

use std::io::IsTerminal;

use serde_json::json;

use super::runs::time;
use super::{now, sending};
use crate::cli::{Resolve, Rows};
use crate::error::{Exit, Failure};
use crate::ledger::{Ledger, Resolution, RunId, Seq, UnknownRecord};
use crate::settings::Settings;
use crate::ui;

/// Records that are shown; `--json` has them all.
const SHOWN: u64 = 50;

#[derive(Default)]
struct Said {
    sent: Vec<Seq>,
    failed: Vec<Seq>,
}

pub async fn run(args: &Resolve, settings: &Settings) -> Result<Exit, Failure> {
    let ledger = sending::ledger(settings).await?;
    let run = ledger.run_or_newest(args.run).await?;
    let _locked = ledger.lock_run(run.id).await?;
    ledger.mark_in_flight_unknown(run.id).await?;
    let who = args.by.clone().unwrap_or_else(login_name);
    let asks = settings.output.talks() && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let says = args.sent.is_some() || args.failed.is_some() || args.all_sent || args.all_failed;
    let in_doubt = ledger.accounting(run.id).await?.unknown;
    let mut listed = Vec::new();
    let (mut shown, mut sent, mut failed) = (0, 0, 0);
    let mut from = 0;
    'all: loop {
        let doubtful = ledger.unknown_records(run.id, from).await?;
        let Some(last) = doubtful.last() else { break };
        from = last.seq + 1;
        let mut said = Said::default();
        for record in &doubtful {
            if says {
                say(args, record, &mut said)?;
                continue;
            }
            if settings.output.json {
                listed.push(as_json(record));
                continue;
            }
            shown += 1;
            if asks || shown <= SHOWN {
                print(record, asks.then_some((shown, in_doubt)));
            }
            if asks {
                match ask() {
                    Answer::Sent => said.sent.push(record.seq),
                    Answer::Failed => said.failed.push(record.seq),
                    Answer::Later => {}
                    Answer::Quit => break 'all,
                }
                // At once, so that nothing of it is lost whatever ends this.
                keep(&ledger, run.id, &std::mem::take(&mut said), &who, &mut sent, &mut failed).await?;
            }
        }
        keep(&ledger, run.id, &said, &who, &mut sent, &mut failed).await?;
    }
    let left = ledger.accounting(run.id).await?.unknown;
    ledger.close().await;
    if settings.output.json {
        let next = next(run.id, left, failed);
        let summary = json!({"run": run.id, "command": "resolve", "sent": sent, "failed": failed, "unknown": left,
                             "records": listed, "by": who, "next": next});
        ui::json(&summary);
    } else {
        if shown > SHOWN && !asks {
            ui::line(format_args!("  and {} more; --json shows all", ui::thousands(shown - SHOWN)));
        }
        if says || asks {
            ui::line(format_args!("run {}: {sent} noted as sent, {failed} as failed, by {who}", run.id));
        }
        ui::line(format_args!("{} in doubt", ui::counted(left, "record")));
        if let Some(next) = next(run.id, left, failed) {
            ui::line(format_args!("  {0}Next{0:#}    {next}", ui::style::STRONG));
        }
    }
    Ok(if left > 0 { Exit::Unknown } else { Exit::Done })
}

fn next(run: RunId, left: u64, failed: u64) -> Option<String> {
    match (left, failed) {
        (0, 0) => None,
        (0, _) => Some(format!("sheetport retry {run}")),
        _ => Some(format!("sheetport resolve {run} --sent ROWS --failed ROWS")),
    }
}

/// What the flags say of a record.
fn say(args: &Resolve, record: &UnknownRecord, said: &mut Said) -> Result<(), Failure> {
    let names = |rows: &Option<Rows>| rows.as_ref().is_some_and(|rows| rows.contains(record.row));
    match (names(&args.sent), names(&args.failed)) {
        (true, true) => {
            return Err(Failure::new(
                Exit::Usage,
                format!("row {} is named as sent and as failed", record.row),
                "name it once; nothing was noted for the records from this one on",
            ));
        }
        (true, false) => said.sent.push(record.seq),
        (false, true) => said.failed.push(record.seq),
        (false, false) if args.all_sent => said.sent.push(record.seq),
        (false, false) if args.all_failed => said.failed.push(record.seq),
        (false, false) => {}
    }
    Ok(())
}

async fn keep(
    ledger: &Ledger,
    run: RunId,
    said: &Said,
    who: &str,
    sent: &mut u64,
    failed: &mut u64,
) -> Result<(), Failure> {
    *sent += ledger.resolve(run, &said.sent, Resolution::Sent, who, now()).await?;
    *failed += ledger.resolve(run, &said.failed, Resolution::Failed, who, now()).await?;
    Ok(())
}

/// What a person answers about a record.
enum Answer {
    Sent,
    Failed,
    Later,
    Quit,
}

/// Asks until it gets an answer that it knows.
fn ask() -> Answer {
    loop {
        match ui::ask("was it applied? [y]es, [n]o, [l]ater, [q]uit:").as_deref() {
            Some("y" | "yes") => return Answer::Sent,
            Some("n" | "no") => return Answer::Failed,
            Some("l" | "later") => return Answer::Later,
            Some("q" | "quit") | None => return Answer::Quit,
            Some(_) => ui::remark("type y, n, l or q"),
        }
    }
}

/// `place` is its place among all that are asked about, and how many these are.
fn print(record: &UnknownRecord, place: Option<(u64, u64)>) {
    let (strong, faint) = (ui::style::STRONG, ui::style::FAINT);
    if let Some((place, of)) = place {
        ui::line(format_args!("{}{faint}{place} of {of}{faint:#}", if place > 1 { "\n" } else { "" }));
    }
    let rows = record.record.rows.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let why = record.outcome.problems.first().map(|problem| problem.message.as_str()).unwrap_or_default();
    ui::line(format_args!("{strong}row {rows}{strong:#}  {}  {why}", time(record.outcome.at)));
    let ids = [("key", &record.record.key), ("id", &record.record.target), ("ctx_id", &record.outcome.ctx_id)];
    for (name, id) in ids {
        if let Some(id) = id {
            ui::line(format_args!("  {faint}{name}{faint:#} {id}"));
        }
    }
    ui::line(format_args!("  {faint}{}{faint:#}", record.body));
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

/// Who is at the keyboard, as far as the system says.
fn login_name() -> String {
    let name = ["SUDO_USER", "LOGNAME", "USER", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "somebody".to_owned())
}

//! Tells people and programs how a job ended.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures_util::future::BoxFuture;
use secrecy::ExposeSecret;
use serde_json::json;
use sheetport_client::post_json;
use sheetport_operations::context::Context;
use sheetport_operations::programs;

use super::super::definition::{Channel, Job, Occasion, Secret};
use super::mail;
use super::news::{Attachment, News, Notified, read};

/// Maximum size of all attachments of a notice, in bytes.
const MAX_ATTACHED: u64 = 10 << 20;
/// How long a command may take.
const COMMAND_TIME: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

/// Sends the notices of a job that match these events.
pub fn notify<'a>(context: &'a Context, job: &'a Job, news: &'a News) -> BoxFuture<'a, Vec<Notified>> {
    Box::pin(async move {
        let mut notified = Vec::new();
        for notice in &job.notices {
            let on: Vec<Occasion> =
                news.occasions.iter().filter(|occasion| notice.on.contains(occasion)).copied().collect();
            if on.is_empty() {
                continue;
            }
            let attachments = if notice.attach { attachments(&news.reports) } else { Vec::new() };
            let sent = match &notice.by {
                Channel::Command(words) => command(job, words.clone(), news).await,
                Channel::Webhook(address) => webhook(context, address, news, &attachments).await,
                Channel::Mail(mail) => mail::send(mail, news, attachments).await,
            };
            notified.push(Notified { by: notice.by.name(), on, error: sent.err() });
        }
        // Last, because a notice that was not sent is a failure, too.
        if let Some(address) = &job.heartbeat
            && news.exit == 0
            && notified.iter().all(|notified| notified.error.is_none())
        {
            let beaten = heartbeat(context, job, address).await;
            notified.push(Notified { by: "heartbeat", on: vec![Occasion::Success], error: beaten.err() });
        }
        notified
    })
}

/// Returns the secrets of a job's notices that can't be read now, each with the reason.
pub fn missing_secrets(job: &Job) -> Vec<String> {
    job.secrets().filter_map(|secret| read(secret).err()).collect()
}

/// Reads the reports, up to a maximum total size.
fn attachments(reports: &[PathBuf]) -> Vec<Attachment> {
    let mut room = MAX_ATTACHED;
    let mut attachments = Vec::new();
    for path in reports {
        let size = std::fs::metadata(path).map_or(u64::MAX, |found| found.len());
        if size <= room
            && let Ok(content) = std::fs::read(path)
        {
            room -= size;
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            attachments.push(Attachment { name, content });
        }
    }
    attachments
}

/// Runs a program with the summary on its standard input.
async fn command(job: &Job, words: Vec<String>, news: &News) -> Result<(), String> {
    let [program, arguments @ ..] = words.as_slice() else { return Ok(()) };
    let mut command = programs::of_user(program);
    command.args(arguments).current_dir(job.folder());
    for name in job.secrets().filter_map(Secret::variable) {
        command.env_remove(name);
    }
    let reports: Vec<String> = news.reports.iter().map(|path| path.display().to_string()).collect();
    let occasions: Vec<&str> = news.occasions.iter().map(|occasion| occasion.name()).collect();
    command
        .env("SHEETPORT_JOB", &job.name)
        .env("SHEETPORT_JOB_ON", occasions.join(","))
        .env("SHEETPORT_JOB_EXIT", news.exit.to_string())
        .env("SHEETPORT_JOB_SUBJECT", &news.subject)
        .env("SHEETPORT_JOB_REPORTS", reports.join("\n"));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let input = news.summary.to_string();
    let program = program.clone();
    let run = tokio::task::spawn_blocking(move || run(command, &program, &input));
    run.await.unwrap_or_else(|error| Err(error.to_string()))
}

fn run(mut command: Command, program: &str, input: &str) -> Result<(), String> {
    let mut child = command.spawn().map_err(|error| format!("{program} can't be started: {error}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_owned();
        // A program that does not read its input must not block the job.
        std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    }
    let end = Instant::now() + COMMAND_TIME;
    loop {
        match child.try_wait().map_err(|error| format!("{program}: {error}"))? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("{program} failed: {status}")),
            None if Instant::now() > end => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{program} took longer than {} s", COMMAND_TIME.as_secs()));
            }
            None => std::thread::sleep(POLL),
        }
    }
}

/// Tells a monitor that the job ran, and nothing of its records.
async fn heartbeat(context: &Context, job: &Job, address: &Secret) -> Result<(), String> {
    let address = read(address)?;
    post_json(address.expose_secret(), &context.connection, &json!({ "job": job.name, "exit": 0 })).await
}

/// Posts the summary as JSON. Chat programs show the field `text`.
async fn webhook(context: &Context, address: &Secret, news: &News, attachments: &[Attachment]) -> Result<(), String> {
    let address = read(address)?;
    let occasions: Vec<&str> = news.occasions.iter().map(|occasion| occasion.name()).collect();
    let attached = attachments
        .iter()
        .map(|attachment| json!({ "name": attachment.name, "base64": BASE64_STANDARD.encode(&attachment.content) }));
    let body = json!({
        "text": format!("{}\n{}", news.subject, news.text),
        "on": occasions,
        "summary": news.summary,
        "attachments": attached.collect::<Vec<_>>(),
    });
    post_json(address.expose_secret(), &context.connection, &body).await
}

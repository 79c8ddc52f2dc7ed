//! Uploads of the same kind for every night.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use axum::extract::{Path, State};
use serde::Deserialize;
use serde_json::{Value, json};
use sheetport_jobs::{Nightly, Scheduler};

use super::super::app::App;
use super::super::http::{Failure, Posted};
use super::super::session::Session;
use super::{Answer, blocking, ok};

/// A time of day that no change to or from summer time skips or repeats.
const AT: &str = "04:30";
/// The folder of jobs of dropped files, below the home folder of the person.
const FOLDER: &str = "Sheetport";

/// Returns the proposed job, without creating it.
pub(crate) async fn proposed(State(app): State<Arc<App>>, Path(id): Path<u64>) -> Answer {
    let value = blocking(move || {
        let nightly = nightly(&*app.session(id)?);
        Ok(json!({
            "folder": nightly.folder,
            "inbox": nightly.inbox(),
            "at": nightly.at,
            "files": format!("*.{}", nightly.extension),
            "text": nightly.text(&app.context()),
            "scheduler": Scheduler::usual().name(),
        }))
    });
    Ok(ok(value.await?))
}

#[derive(Deserialize)]
pub(crate) struct WantedNightly {
    folder: PathBuf,
    at: String,
}

pub(crate) async fn set_up(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    Posted(WantedNightly { folder, at }): Posted<WantedNightly>,
) -> Answer {
    let value = blocking(move || {
        let session = app.session(id)?;
        let keys = session.state().reading.keys();
        if !keys.is_empty() {
            let names: Vec<&str> = keys.iter().map(|(name, _)| *name).collect();
            let message = format!("the job would not know the {} that was chosen for this file", names.join(" and "));
            return Err(Failure::bad_request(format!("{message}: write it below [sheet] in the template as text")));
        }
        let template = session.save_template(&app.context())?;
        let nightly = Nightly { folder, at, template, ..nightly(&session) };
        let program = std::env::current_exe()
            .map_err(|error| Failure::bad_request(format!("the path of this program is not known: {error}")))?;
        let job = nightly.set_up(&app.context(), &program)?;
        let (changed, remaining, refused): (Vec<String>, Vec<String>, Value) = match job.installed {
            Ok(installed) => (installed.changed, installed.remaining, Value::Null),
            Err(error) => (Vec::new(), Vec::new(), json!({"message": error.to_string(), "hint": error.hint()})),
        };
        Ok(json!({
            "file": job.file,
            "inbox": job.inbox,
            "scheduler": job.scheduler.name(),
            "changed": changed,
            "remaining": remaining,
            "refused": refused,
            "obstacles": job.obstacles,
            "run": job.run,
            "remove": job.remove,
        }))
    });
    Ok(ok(value.await?))
}

/// Returns the default choices for a file: an inbox beside the file, or in the home folder for a file dropped on the page.
fn nightly(session: &Session) -> Nightly {
    let name = session.file.name.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.replace(|c: char| c.is_control() || "*?/\\:".contains(c), "-");
    let extension =
        session.file.name.extension().map_or_else(|| "csv".to_owned(), |it| it.to_string_lossy().into_owned());
    let beside = session.file.path == session.file.name;
    let folder = session.file.name.parent().filter(|_| beside).unwrap_or(FilePath::new(""));
    let folder = match beside {
        true => std::path::absolute(if folder.as_os_str().is_empty() { FilePath::new(".") } else { folder }).ok(),
        false => directories::UserDirs::new().map(|dirs| dirs.home_dir().join(FOLDER)),
    };
    let state = session.state();
    Nightly {
        folder: folder.unwrap_or_default().join(&name),
        name,
        extension,
        template: state.draft.name.clone(),
        sheet: state.reading.sheet.clone(),
        changed_only: !state.draft.record.input().key.is_empty(),
        at: AT.to_owned(),
    }
}

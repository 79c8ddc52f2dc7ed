//! `upload --rehearse`: the whole of an upload to a service of its own in this process, of which nothing is kept.

use super::own_service::OwnService;
use super::summary::Summary;
use super::upload;
use crate::cli::Upload;
use crate::error::{Exit, Failure};
use crate::settings::Settings;
use crate::ui;

pub async fn run(args: &Upload, settings: &Settings) -> Result<(Exit, Summary), Failure> {
    let folder = tempfile::tempdir().map_err(|error| no_room(&error))?;
    let service = OwnService::start(folder.path(), "rehearsal", settings, no_room).await?;
    if settings.output.talks() {
        ui::remark("A rehearsal: nothing leaves this machine. Its service is empty at the start.");
    }
    let ended = upload::upload(args, &service.settings).await;
    // What it says at its end is about data that nobody keeps.
    let _ = service.end().await;
    let (exit, mut summary) = ended?;
    summary.run = None;
    Ok((exit, summary))
}

fn no_room(error: &std::io::Error) -> Failure {
    Failure::new(
        Exit::Fault,
        format!("a rehearsal is not possible here: {error}"),
        "check that temporary files can be written and that nothing forbids listening on 127.0.0.1",
    )
}

//! `upload --rehearse`: the whole of an upload to a service of its own in this process, of which nothing is kept.

use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::summary::Summary;
use super::upload;
use crate::api::auth::Credentials;
use crate::cli::Upload;
use crate::error::{Exit, Failure};
use crate::records::token::Access;
use crate::service::{Config, Service};
use crate::settings::Settings;
use crate::ui;

pub async fn run(args: &Upload, settings: &Settings) -> Result<(Exit, Summary), Failure> {
    let folder = tempfile::tempdir().map_err(|error| no_room(&error))?;
    let service = Service::open(Config::new(folder.path().join("service"))).await?;
    let tokens = service.issue_tokens("rehearsal", Access::Full)?;
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| no_room(&error))?;
    let address = listener.local_addr().map_err(|error| no_room(&error))?;
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(service.serve(listener, async move {
        let _ = stopped.await;
    }));
    let settings = Settings {
        base_url: Some(format!("http://{address}")),
        credentials: Credentials {
            access: Some(SecretString::from(tokens.access)),
            refresh: Some(SecretString::from(tokens.refresh)),
            file: None,
        },
        home: folder.path().join("home"),
        ..settings.clone()
    };
    if settings.output.talks() {
        ui::remark("A rehearsal: nothing leaves this machine. Its service is empty at the start.");
    }
    let ended = upload::upload(args, &settings).await;
    let _ = stop.send(());
    // What it says at its end is about data that nobody keeps.
    let _ = serving.await;
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

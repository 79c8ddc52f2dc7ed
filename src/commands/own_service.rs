//! A service in this process, for a command that needs one while it runs.

use std::io;
use std::path::Path;

use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};

use crate::client::auth::Credentials;
use crate::error::Failure;
use crate::records::token::Access;
use crate::service::{Config, Error, Service};
use crate::settings::Settings;

pub struct OwnService {
    /// The settings of commands that talk to it.
    pub settings: Settings,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), Error>>,
}

impl OwnService {
    /// Starts one with its data, and the ledger of who talks to it, in `folder`. `no_port` says that it can't listen.
    pub async fn start(
        folder: &Path,
        workspace: &str,
        settings: &Settings,
        no_port: impl Fn(&io::Error) -> Failure,
    ) -> Result<OwnService, Failure> {
        let service = Service::open(Config::new(folder.join("service"))).await?;
        let tokens = service.issue_tokens(workspace, Access::Full)?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| no_port(&error))?;
        let address = listener.local_addr().map_err(|error| no_port(&error))?;
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
            home: folder.join("home"),
            ..settings.clone()
        };
        Ok(OwnService { settings, stop, serving })
    }

    /// Ends it, and answers how it ended.
    pub async fn end(self) -> Result<Result<(), Error>, JoinError> {
        let _ = self.stop.send(());
        self.serving.await
    }
}

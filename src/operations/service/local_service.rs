//! A service in this process, for rehearsals and the demo.

use std::collections::BTreeMap;
use std::path::Path;

use secrecy::SecretString;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::super::context::Context;
use super::super::error::Error;
use crate::client::ConnectOptions;
use crate::client::auth::{
    AddressOrigin, Chosen, Credentials, EnvironmentTokens, NamedAddress, TokenHome, TokenOrigin,
};
use crate::records::token::Access;
use crate::service::{self, Config, Loader, Service};

pub struct LocalService {
    /// Context for operations on this service.
    pub context: Context,
    /// Access to its data.
    pub(in crate::operations) loader: Loader,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), service::Error>>,
}

impl LocalService {
    /// Starts a service with all data, including the ledger of the client, in `folder`.
    pub async fn start(folder: &Path, workspace: &str, context: &Context) -> Result<LocalService, Error> {
        let service = Service::open(Config::new(folder.join("service"))).await?;
        let tokens = service.issue_tokens(workspace, Access::Full)?;
        let loader = service.loader();
        let no_port = |error: std::io::Error| Error::Local {
            message: format!("a service can't be started on this machine: {error}"),
            hint: "check whether a firewall or sandbox forbids listening on 127.0.0.1".to_owned(),
        };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(no_port)?;
        let address = listener.local_addr().map_err(no_port)?;
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(service.serve(listener, async move {
            let _ = stopped.await;
        }));
        let credentials = Credentials {
            access: Some(SecretString::from(tokens.access)),
            refresh: Some(SecretString::from(tokens.refresh)),
            file: None,
        };
        let address = NamedAddress { address: format!("http://{address}"), from: AddressOrigin::Flag };
        let environment = EnvironmentTokens {
            home: Some(TokenHome::Address(address.address.clone())),
            credentials: credentials.clone(),
        };
        let connection = ConnectOptions { is_direct: true, ..ConnectOptions::default() };
        let context = Context {
            environment,
            home: folder.join("home"),
            server: None,
            is_address_chosen: true,
            chosen_connection: connection.clone(),
            connection,
            // What a profile says is true of its service.
            rate: None,
            profiles: BTreeMap::new(),
            ..context.clone()
        };
        let access =
            Chosen { address: Some(address), credentials, tokens: Some(TokenOrigin::Environment), withheld: None };
        let context = context.with_access(access);
        Ok(LocalService { context, loader, stop, serving })
    }

    /// Stops the service. Fails if serving has failed.
    pub async fn stop(self) -> Result<(), Error> {
        let _ = self.stop.send(());
        self.serving.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?;
        Ok(())
    }
}

//! A service in this process, for rehearsals and the demo. The home folder of a demo refers to its service: a command with this
//! home folder starts the service again with the same data and address.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use sheetport_client::ConnectOptions;
use sheetport_client::auth::{
    AddressOrigin, Chosen, Credentials, EnvironmentTokens, NamedAddress, TokenHome, TokenOrigin,
};
use sheetport_files::readers::create_private_folder;
use sheetport_files::text_file::read_text;
use sheetport_operations::{Context, Error, Given, LocalOperation, Operation};
use sheetport_records::token::Access;
use sheetport_service::{self as service, Config, Loader, Service};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::refusal::refused;

/// Name of the folder of the client's data.
const HOME: &str = "home";
/// Name of the file in the home folder with the workspace and port of the service.
const NAMED: &str = "embedded-service.toml";
const ABOUT_NAMED: &str =
    "# The runs of this home are of a service that commands start themselves, on the data beside this folder.\n";

/// Content of [`NAMED`].
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Named {
    workspace: String,
    port: u16,
}

pub struct LocalService {
    /// Context for operations on this service.
    pub context: Context,
    /// Direct access to the data of the service.
    pub(super) loader: Loader,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), service::Error>>,
}

impl LocalService {
    /// Starts a service with all data, including the ledger of the client, in `folder`.
    pub fn start<'a>(folder: &'a Path, workspace: &'a str, context: &'a Context) -> LocalOperation<'a, LocalService> {
        Box::pin(async move {
            let listener = listen(0).await.map_err(no_port)?;
            LocalService::serve(open(folder).await?, folder, workspace, listener, context)
        })
    }

    /// Starts a service like [`LocalService::start`] with the records of the demo workspace, and stores a reference in its home folder,
    /// so that later commands find the service again. Reuses the previous port if it is free.
    pub fn start_named<'a>(
        folder: &'a Path,
        workspace: &'a str,
        context: &'a Context,
    ) -> LocalOperation<'a, LocalService> {
        Box::pin(async move {
            let home = folder.join(HOME);
            create_private_folder(&home).map_err(|error| unwritable(&home, &error))?;
            let port = read_named(&home).ok().flatten().map_or(0, |named| named.port);
            let listener = match listen(port).await {
                Err(_) if port > 0 => listen(0).await,
                listener => listener,
            }
            .map_err(no_port)?;
            let named = Named { workspace: workspace.to_owned(), port: listener.local_addr().map_err(no_port)?.port() };
            let text = toml::to_string(&named).expect("a text and a number can be written");
            let path = home.join(NAMED);
            std::fs::write(&path, format!("{ABOUT_NAMED}{text}")).map_err(|error| unwritable(&path, &error))?;
            // Printed commands work in any folder.
            let home = std::path::absolute(&home).map_err(|error| unwritable(&home, &error))?;
            let given = Given { home: Some(home), ..Given::default() };
            let context = Context { given, ..context.clone() };
            let service = open(folder).await?;
            service.fill_demo(workspace).await.map_err(refused)?;
            LocalService::serve(service, folder, workspace, listener, &context)
        })
    }

    /// Starts the service that the home folder refers to, unless flags select another service. Returns `None` for other folders.
    ///
    /// # Errors
    /// If the port is in use: the runs of the folder can't be continued at another address.
    pub fn of_home(context: &Context) -> LocalOperation<'_, Option<LocalService>> {
        Box::pin(async move {
            let has_chosen = context.given.base_url.is_some() || context.given.ledger.is_some();
            let Some(named) = read_named(&context.home)?.filter(|_| !has_chosen) else { return Ok(None) };
            let home = std::path::absolute(&context.home).map_err(|error| unwritable(&context.home, &error))?;
            let Some(folder) = home.parent() else { return Ok(None) };
            let in_use = |error: io::Error| {
                Error::Local {
                message: format!("the service of {} can't be started at port {}: {error}", home.display(), named.port),
                hint: "end the program that uses this port, such as an open page of `sheetport review`, or run `sheetport demo` again"
                    .to_owned(),
            }
            };
            let listener = listen(named.port).await.map_err(in_use)?;
            let given = Given { home: context.given.home.clone(), ..Given::default() };
            let service = open(folder).await?;
            let context_of_home = Context { given, ..context.clone() };
            let started = LocalService::serve(service, folder, &named.workspace, listener, &context_of_home)?;
            // Messages show the path of the home folder as given by the user.
            let context = Context { home: context.home.clone(), ..started.context };
            Ok(Some(LocalService { context, ..started }))
        })
    }

    /// Lets a service answer requests, and makes the context for operations on it.
    fn serve(
        service: Service,
        folder: &Path,
        workspace: &str,
        listener: TcpListener,
        context: &Context,
    ) -> Result<LocalService, Error> {
        let tokens = service.issue_tokens(workspace, Access::Full).map_err(refused)?;
        let loader = service.loader();
        let address = listener.local_addr().map_err(no_port)?;
        let (stop, stopped) = oneshot::channel::<()>();
        let stop_asked = Box::pin(async move {
            let _ = stopped.await;
        });
        let serving = tokio::spawn(service.serve(listener, stop_asked));
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
            home: folder.join(HOME),
            state: None,
            server: None,
            kept: None,
            is_address_chosen: true,
            chosen_connection: connection.clone(),
            connection,
            // Settings from profiles belong to other services.
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
    pub fn stop(self) -> Operation<'static, ()> {
        Box::pin(async move {
            let _ = self.stop.send(());
            let served = self.serving.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
            served.map_err(refused)
        })
    }
}

async fn open(folder: &Path) -> Result<Service, Error> {
    Service::open(Config::new(folder.join("service"))).await.map_err(refused)
}

async fn listen(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind(("127.0.0.1", port)).await
}

fn no_port(error: io::Error) -> Error {
    Error::Local {
        message: format!("a service can't be started on this machine: {error}"),
        hint: "check whether a firewall or sandbox forbids listening on 127.0.0.1".to_owned(),
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    let message = format!("{} can't be written: {error}", path.display());
    Error::Local { message, hint: "choose another folder".to_owned() }
}

/// Reads the reference to a service in a home folder. Returns `None` if there is none.
fn read_named(home: &Path) -> Result<Option<Named>, Error> {
    let path = home.join(NAMED);
    let unreadable = |why: String| Error::Local {
        message: format!("{} can't be read: {why}", path.display()),
        hint: "run `sheetport demo` again".to_owned(),
    };
    match read_text(&path) {
        Ok(text) => toml::from_str(&text).map(Some).map_err(|error| unreadable(error.message().to_owned())),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(unreadable(error.to_string())),
    }
}

//! The embedded service: the endpoints of the contract over a database in one folder, so that a first run, a rehearsal
//! and every test work on one machine without an account anywhere. It knows nothing of the client: only `records` is
//! shared with it.
//!
//! The way of a request: `connections` accepts it, `answer` gives it its context id and writes whatever is refused,
//! `router` finds the handler, `auth` lets it through, `rehearsal` spoils it if it is asked to, the resource's handlers
//! (`items`, `orders`, `transactions`, `billing`, `tokens`; `lists` and `single` for what is only read) check the input,
//! and `store` keeps it. `load` brings records in by another way, `demo` some that are made up; `openapi` tells it all to
//! programs and people. Nothing outside `store` speaks SQL; nothing outside `data` touches the folder's other files.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::net::TcpListener;

use crate::records::token::Access;

use self::auth::Keys;
use self::data::Lock;
use self::router::App;
use self::store::{Closer, Store};

mod answer;
mod auth;
mod billing;
mod body;
mod connections;
mod data;
mod demo;
mod error;
mod input;
mod items;
mod lists;
mod load;
mod moment;
mod number;
mod openapi;
mod orders;
mod paging;
mod rehearsal;
mod router;
mod single;
mod store;
mod tokens;
mod transactions;

pub use self::auth::Tokens;
pub use self::error::Error;
pub use self::input::Errors;
pub use self::load::{LoadChange, Loaded, LoadedAs};
pub use self::rehearsal::{Faults, Limit, Rehearsal};

/// Where a service keeps its data, how long its tokens are good for, and how it misbehaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The folder of the database and the signing key. It is made if it is not there.
    pub data: PathBuf,
    /// Lifetimes are kept in whole seconds.
    pub access_lifetime: Duration,
    pub refresh_lifetime: Duration,
    /// Whether a refresh answers with a new refresh token beside the access token.
    pub rotate_refresh: bool,
    /// Faults on purpose.
    pub rehearsal: Option<Rehearsal>,
}

impl Config {
    /// Access tokens live for 15 minutes, refresh tokens for 30 days and are not rotated; nothing goes wrong on purpose.
    pub fn new(data: impl Into<PathBuf>) -> Config {
        Config {
            data: data.into(),
            access_lifetime: Duration::from_secs(15 * 60),
            refresh_lifetime: Duration::from_secs(30 * 24 * 60 * 60),
            rotate_refresh: false,
            rehearsal: None,
        }
    }
}

/// A service that has its folder to itself and is ready to serve.
pub struct Service {
    app: Arc<App>,
    closer: Closer,
    /// Held until the service is gone; dropping it lets the next one in.
    lock: Lock,
}

impl Service {
    /// Makes the folder, the signing key and the database if they are not there, and brings the database up to date.
    pub async fn open(config: Config) -> Result<Service, Error> {
        data::create(&config.data)?;
        let lock = Lock::take(&config.data)?;
        let keys = Keys::new(&data::signing_key(&config.data)?);
        let (store, closer) = Store::open(&data::database(&config.data), store::BUSY_TIMEOUT).await?;
        Ok(Service { app: Arc::new(App { config, keys, store }), closer, lock })
    }

    /// An access and a refresh token for `workspace`.
    pub fn issue_tokens(&self, workspace: &str, access: Access) -> Result<Tokens, Error> {
        self.app.keys.issue(&self.app.config, workspace, access, Timestamp::now())
    }

    /// Closes the store of a service that is not to serve.
    pub async fn close(self) {
        self.closer.close().await;
    }

    /// Serves until `stop` is done; then finishes the requests in flight and closes the store.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), Error> {
        let Service { app, closer, lock } = self;
        connections::serve(listener, router::router(app), stop).await;
        closer.close().await;
        drop(lock);
        Ok(())
    }
}

/// An access and a refresh token for `workspace`, made from the data folder alone. It may be called while a service
/// runs on that folder, and before one ever has.
pub fn issue_tokens(config: &Config, workspace: &str, access: Access) -> Result<Tokens, Error> {
    data::create(&config.data)?;
    let keys = Keys::new(&data::signing_key(&config.data)?);
    keys.issue(config, workspace, access, Timestamp::now())
}

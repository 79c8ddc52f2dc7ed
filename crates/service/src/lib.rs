//! The embedded service: every endpoint of the contract, for trying out Sheetport, for rehearsals and for tests. Stores its data
//! in SQLite in a folder, or in PostgreSQL for several services behind a load balancer. Shares only `records` with the client, and never uses the
//! client.
//!
//! A request passes through these files, in this order:
//!
//! | file | task |
//! |---|---|
//! | `server` | opens the storage, serves requests, stops gracefully |
//! | `response` | assigns the context id, writes error bodies, logs |
//! | `journal` | records each request and its result |
//! | `host` | refuses requests to other hosts |
//! | `router` | selects the handler |
//! | `auth` | verifies the bearer token |
//! | `fault_injection` | applies the rate limit, the latency and the faults of a plan |
//! | `exactness` | in a strict or literal service, refuses unknown parameters; `literal` cuts responses down to the contract |
//! | `idempotency` | answers repeated writes with the stored response |
//! | `handlers` | one file per resource: validate the input (`request`), call the store, build the response |
//! | `store` | the database: all SQL of the service |
//!
//! `load` imports records from files and fills the demo workspace. `inspect` reads the stored records and the journal. `openapi`
//! describes the API.
//!
//! Handlers depend on the application state (`app`), never on the router. Where the contract is silent, the file states the decision
//! made; `decisions.md` lists all. Inputs are data (`records`), so a single function derives all schemas of the OpenAPI document.

mod app;
mod auth;
mod data_folder;
mod error;
mod exactness;
mod fault_injection;
mod handlers;
mod host;
mod idempotency;
mod inspect;
mod journal;
mod literal;
mod load;
mod openapi;
mod reading;
mod request;
mod response;
mod router;
mod server;
mod store;
mod timestamp;
mod token_texts;

pub use self::app::{Config, Storage};
pub use self::auth::Tokens;
pub use self::error::Error;
pub use self::fault_injection::{EXAMPLES, FaultInjection, Limit, Plan, delay};
pub use self::inspect::{Arrivals, Inspector, RecordView, RequestView, ShownKind, Touch, WorkspaceView};
pub use self::load::{LoadRecord, Loader, Nulls};
pub use self::reading::Reading;
pub use self::request::Errors;
pub use self::server::{Service, issue_tokens};
pub use self::store::{Stored, WriteOutcome};

pub use sheetport_sql::ServerAddress;

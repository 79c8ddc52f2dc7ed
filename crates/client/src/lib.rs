//! HTTP client of the service: one transport, one retry policy, rate limiting, authentication and paging.
//!
//! [`Client`] makes single attempts and never repeats a write. [`policy`] maps the outcome of an attempt to an action, [`Pace`]
//! permits the next request, and [`pages`] reads a list to the end. All three are pure: no I/O, and the time is an argument. Exceptions are
//! `pace/shared.rs`, a file through which the processes of a machine share a rate, and the wait in `pace/permits.rs`. This crate knows
//! neither ledger nor spreadsheets: whether a record may be sent again is decided above.
//!
//! | module | purpose |
//! |---|---|
//! | [`policy`] | the table of outcomes and actions; begin here |
//! | [`attempt`], [`request`], [`outcome`] | a single attempt: the request, the answer with messages and result, or the failure |
//! | [`transport`] | HTTP, TLS, proxies, the base address |
//! | [`auth`] | tokens: their addresses, files, the keyring, renewal, masking |
//! | [`pace`] | rates: fixed, automatic, shared by processes or machines |
//! | [`pages`], [`fetch`] | whole lists, and reads with retries |
//! | [`next_step`](mod@next_step), [`key_memory`], [`stop`], [`error`] | the policy applied, idempotency keys, reasons to stop a command |
//! | [`webhook`] | a POST to another service, without any token |
//!
//! - Every attempt of every command is made by [`Client`] and decided by [`policy`]. The retries and redirects of reqwest are off.
//! - Tokens come from the environment, the keyring, or a file that only its owner can read; stored tokens are bound to an address. Tokens
//!   are `SecretString`s, and no error type can contain a token.
//! - On a 401, the token is refreshed once for all workers, and the request goes back to the caller: a resend counts against the rate like
//!   every other request.

pub mod auth;
pub mod error;
pub mod fetch;
pub mod pace;
pub mod pages;
pub mod policy;

mod attempt;
mod base_url;
mod key_memory;
mod next_step;
mod outcome;
mod request;
mod stop;
mod transport;
mod webhook;

pub use attempt::{Attempt, Client};
pub use base_url::{is_local, service_name};
pub use error::Error;
pub use key_memory::KeyMemory;
pub use next_step::{Failure, NextStep, next_step};
pub use outcome::{Quota, Redirect, Response, Shortage, TlsProblem, TransportOutcome};
pub use outcome::{RequestContext, ServiceMessage, WriteResult};
pub use pace::{Pace, Permits, Rate, Speed, Wanted};
pub use pages::{FirstPage, SAFE, fetch_page, may_depend_on_size, page_path, try_page};
pub use pages::{KnownSizes, PageSize};
pub use request::MAX_PAGE;
pub use request::{IdempotencyKey, Request};
pub use stop::Stop;
pub use transport::storage_clients;
pub use transport::{ClientCert, ConnectOptions, ProxyAddress, normal_address, root_cause};
pub use webhook::post_json;

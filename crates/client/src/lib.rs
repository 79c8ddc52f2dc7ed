//! HTTP client of the service: one transport, one retry policy, rate limiting, authentication and paging.
//!
//! [`Client`] makes single attempts and never repeats a write. [`policy`] maps the outcome of an attempt to an action, [`Pace`]
//! permits the next request, and [`pages`] reads a list to the end. All three are pure: no I/O, and the time is an argument.

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

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
mod idempotency;
mod key_memory;
mod next_step;
mod outcome;
mod page_size;
mod redaction;
mod request;
mod service_message;
mod stop;
mod transport;
mod webhook;
mod write_result;

pub use attempt::{Attempt, Client};
pub use error::Error;
pub use idempotency::IdempotencyKey;
pub use key_memory::KeyMemory;
pub(crate) use next_step::{Failure, NextStep, next_step};
pub use outcome::{Response, TransportOutcome};
pub use pace::{Pace, Permits, Rate, Speed, Wanted};
pub(crate) use page_size::{FirstPage, SAFE, fetch_page, may_depend_on_size, page_path, try_page};
pub use page_size::{KnownSizes, PageSize};
pub(crate) use request::MAX_PAGE;
pub use request::Request;
pub use stop::Stop;
pub use transport::address::normal_address;
pub use transport::base_url::{is_local, service_name};
pub use transport::options::{ClientCert, ConnectOptions, ProxyAddress};
pub use transport::rate_headers::Quota;
pub use transport::root_cause;
pub(crate) use transport::storage_clients;
pub use transport::tls_problem::TlsProblem;
pub use webhook::post_json;
pub(crate) use write_result::{RequestContext, WriteResult};

//! HTTP client of the service: one transport, one retry policy, rate limiting, authentication and paging.
//!
//! [`Client`] makes a single attempt and never repeats a write by itself. [`policy`] decides what follows from the outcome
//! of an attempt, [`Pace`] when the next request may be sent, and [`pages`] how a list is read to its end. These three are
//! pure: they are given the time and do no I/O.

pub mod auth;
pub mod error;
pub mod fetch;
pub mod pace;
pub mod pages;
pub mod policy;

mod attempt;
mod next_step;
mod outcome;
mod request;
mod service_message;
mod stop;
mod transport;
mod write_result;

pub use attempt::{Attempt, Client};
pub use error::Error;
pub(crate) use next_step::{Failure, NextStep, next_step};
pub use outcome::{Response, TransportOutcome};
pub use pace::{Pace, Rate, Speed};
pub use request::Request;
pub use stop::Stop;
pub use transport::rate_headers::Quota;
pub(crate) use write_result::{RequestContext, WriteResult};

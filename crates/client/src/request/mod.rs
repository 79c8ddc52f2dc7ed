//! Requests to the service.

pub(super) mod idempotency;

use bytes::Bytes;
use reqwest::Method;
use sheetport_records as records;

use super::outcome::MAX_RESULT;
use super::policy::Call;

pub use idempotency::IdempotencyKey;

/// Maximum size of a page, after decompression.
pub const MAX_PAGE: usize = 64 << 20;

/// A request below the base address.
#[derive(Clone, Debug)]
pub struct Request {
    pub(super) method: Method,
    /// Path below the base address, including the query.
    pub path: String,
    /// JSON body, sent unchanged.
    pub body: Option<Bytes>,
    pub(super) call: Call,
    /// Makes repetitions take effect once.
    pub idempotency_key: Option<IdempotencyKey>,
    /// Maximum size of the answer, after decompression.
    pub(super) max_answer: usize,
}

impl Request {
    /// Creates an idempotent read.
    pub fn get(path: &str) -> Request {
        Request {
            method: Method::GET,
            path: path.to_owned(),
            body: None,
            call: Call::Idempotent,
            idempotency_key: None,
            max_answer: MAX_PAGE,
        }
    }

    /// Limits the size of the answer, in bytes.
    pub(super) fn answered_within(self, max_answer: usize) -> Request {
        Request { max_answer, ..self }
    }

    /// Creates a write with a JSON body.
    pub fn write(method: records::Method, path: String, body: Bytes, call: Call) -> Request {
        let method = match method {
            records::Method::Post => Method::POST,
            records::Method::Put => Method::PUT,
        };
        Request { method, path, body: Some(body), call, idempotency_key: None, max_answer: MAX_RESULT }
    }

    /// Adds an idempotency key, if any.
    pub fn with_idempotency_key(self, idempotency_key: Option<IdempotencyKey>) -> Request {
        Request { idempotency_key, ..self }
    }
}

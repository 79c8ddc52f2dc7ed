//! Requests to the service.

use bytes::Bytes;
use reqwest::Method;

use super::policy::Call;
use crate::records;

/// A request below the base address.
#[derive(Clone, Debug)]
pub struct Request {
    pub(super) method: Method,
    /// Path below the base address, including the query.
    pub(crate) path: String,
    /// JSON body, sent unchanged.
    pub(crate) body: Option<Bytes>,
    pub(super) call: Call,
}

impl Request {
    /// Creates an idempotent read.
    pub fn get(path: &str) -> Request {
        Request { method: Method::GET, path: path.to_owned(), body: None, call: Call::Idempotent }
    }

    /// Creates a write with a JSON body.
    pub fn write(method: records::Method, path: String, body: Bytes, call: Call) -> Request {
        let method = match method {
            records::Method::Post => Method::POST,
            records::Method::Put => Method::PUT,
        };
        Request { method, path, body: Some(body), call }
    }
}

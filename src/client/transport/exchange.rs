//! What came of a request, however it went.

use secrecy::{ExposeSecret, SecretString};

use super::MAX_RESULT;
use super::gzip::unpacked;
use super::limits::{Quota, quota, retry_after};
use crate::client::direct::Came;

/// So much of a token is looked for in answers, before all of it is.
const SEARCHED: usize = 16;

#[derive(Clone, Debug)]
pub enum Exchange {
    /// Of an answer outside 2xx the body may be cut: its status says what to do.
    Answered(Answer),
    /// The body of a success was cut or too long.
    CutAnswer { status: u16, reason: String },
    /// Nothing was written: the service can't have seen it.
    NotSent { reason: String },
    /// The connection broke after a byte may have left: the service may have acted on it.
    Lost { reason: String },
    /// The call was not let in, so it was not acted upon, and the token is a newer one now. Send it again.
    Renewed { reason: String },
    /// No valid credentials.
    Unauthorized { reason: String },
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
    /// The header Retry-After, a date in it turned into seconds.
    pub retry_after: Option<String>,
    /// What the service says of its limit, where it does.
    pub quota: Option<Quota>,
}

impl Exchange {
    /// What came over a connection, where a body is `longest` bytes long at most.
    pub(super) fn of(came: Came, longest: usize) -> Exchange {
        let (status, headers, body, cut) = match came {
            Came::NotSent(reason) => return Exchange::NotSent { reason },
            Came::Lost(reason) => return Exchange::Lost { reason },
            Came::Answer { status, headers, body, cut: None } => match unpacked(&headers, body, longest) {
                Ok(body) => (status, headers, body, None),
                Err(reason) => (status, headers, Vec::new(), Some(reason)),
            },
            Came::Answer { status, headers, body, cut } => (status, headers, body, cut),
        };
        match cut {
            Some(reason) if status.is_success() => Exchange::CutAnswer { status: status.as_u16(), reason },
            _ => Exchange::Answered(Answer {
                status: status.as_u16(),
                body,
                retry_after: retry_after(status, &headers),
                quota: quota(&headers),
            }),
        }
    }

    /// For the log: what came, without any of its words.
    pub(super) fn in_short(&self) -> String {
        match self {
            Exchange::Answered(answer) => answer.status.to_string(),
            Exchange::CutAnswer { status, .. } => format!("{status}, cut"),
            Exchange::NotSent { .. } => "not sent".to_owned(),
            Exchange::Lost { .. } => "lost".to_owned(),
            Exchange::Renewed { .. } | Exchange::Unauthorized { .. } => "refused".to_owned(),
        }
    }

    /// Takes out a token that the service repeats in its words, because words go into ledgers and reports.
    pub(super) fn without(mut self, secret: &SecretString) -> Exchange {
        let secret = secret.expose_secret();
        // Its end is found many times as fast as all of it, and hardly ever there.
        let end = secret.as_bytes().rchunks(SEARCHED).next().unwrap_or_default();
        if let Exchange::Answered(answer) = &mut self
            && answer.body.len() <= MAX_RESULT
            && !secret.is_empty()
            && memchr::memmem::find(&answer.body, end).is_some()
        {
            answer.body = String::from_utf8_lossy(&answer.body).replace(secret, "***").into_bytes();
        }
        self
    }
}

//! `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): a repeated write gets the stored response of the first write,
//! and has no effect. Not specified in the contract. The response is stored in the transaction of the write, so a crash can't
//! separate the two. Only responses of successful writes are stored.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use twox_hash::XxHash3_64;

use super::journal::Trace;
use super::reading::Reading;
use super::response::{ErrorResponse, json_text};
use super::store::{KeptAnswer, Origin, Store, Transaction, Work};

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// Marks a stored response.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// Maximum length of a key.
pub(super) const MAX_LENGTH: usize = 255;

/// The idempotency key of a request, if any.
pub(super) struct IdempotencyKey {
    key: Option<String>,
    /// Method and path.
    target: String,
}

impl IdempotencyKey {
    pub(super) fn is_given(&self) -> bool {
        self.key.is_some()
    }
}

impl<S: Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<IdempotencyKey, ErrorResponse> {
        let target = format!("{} {}", parts.method, parts.uri.path());
        // As any service does with a header that it does not know.
        if parts.extensions.get::<Reading>().is_some_and(|reading| reading.is_literal()) {
            return Ok(IdempotencyKey { key: None, target });
        }
        let mut values = parts.headers.get_all(HEADER).iter();
        let key = match (values.next(), values.next()) {
            (None, _) => None,
            (Some(value), None) => Some(parse(value).ok_or_else(malformed)?),
            (Some(_), Some(_)) => return Err(malformed()),
        };
        if let (Some(key), Some(trace)) = (&key, parts.extensions.get::<Trace>()) {
            trace.note_idempotency_key(key);
        }
        Ok(IdempotencyKey { key, target })
    }
}

fn malformed() -> ErrorResponse {
    let message = format!("Idempotency-Key must be a single text of 1 to {MAX_LENGTH} visible characters");
    ErrorResponse::new(StatusCode::BAD_REQUEST, message)
}

/// Returns the key in a header: quoted, as in the draft, or unquoted, as sent by many clients.
fn parse(value: &HeaderValue) -> Option<String> {
    let value = value.to_str().ok()?.trim();
    let key = match value.strip_prefix('"') {
        Some(quoted) => quoted.strip_suffix('"')?,
        None => value,
    };
    let is_valid = (1..=MAX_LENGTH).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
    is_valid.then(|| key.to_owned())
}

/// The keys of the requests in progress, by workspace.
#[derive(Debug, Default)]
pub(super) struct KeysInProgress(Mutex<HashSet<(Arc<str>, String)>>);

/// A key reserved for a request in progress.
struct Reserved<'a> {
    keys: &'a KeysInProgress,
    key: (Arc<str>, String),
}

impl KeysInProgress {
    /// Returns `None` if another request with the key is in progress.
    fn reserve(&self, workspace: &Arc<str>, key: &str) -> Option<Reserved<'_>> {
        let key = (workspace.clone(), key.to_owned());
        let is_new = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        // Not `then_some`: dropping a reservation removes the key.
        is_new.then(|| Reserved { keys: self, key })
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.keys.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

/// Runs a write. Responds with the result in the form of `render`, or with the stored response to an earlier request with the
/// same key. `content` is the hash of the body. Fails if the key was used for another request, or is in use.
pub(super) async fn write<W: Work>(
    store: &Store,
    in_progress: &KeysInProgress,
    origin: Origin,
    key: IdempotencyKey,
    content: u64,
    work: W,
    render: impl FnOnce(W::Done) -> Result<String, ErrorResponse> + Send + 'static,
) -> Result<Response, ErrorResponse> {
    let IdempotencyKey { key: Some(key), target } = key else {
        return render(store.write(origin, work).await?).map(json_text);
    };
    let Some(_reserved) = in_progress.reserve(&origin.workspace, &key) else {
        let message = "a request with this Idempotency-Key is in progress; try again later";
        return Err(ErrorResponse::new(StatusCode::CONFLICT, message));
    };
    let fingerprint = format!("{:016x}", XxHash3_64::oneshot_with_seed(content, target.as_bytes()));
    match store.write(origin, Keyed { key, fingerprint, work, render }).await? {
        KeyedResult::New(response) => response.map(json_text),
        KeyedResult::Repeated(body) => {
            let mut response = json_text(body);
            response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
            Ok(response)
        }
        KeyedResult::OtherRequest => {
            let message = "this Idempotency-Key was used for a request with another path or body";
            Err(ErrorResponse::new(StatusCode::UNPROCESSABLE_ENTITY, message))
        }
    }
}

/// A write with a key.
struct Keyed<W, R> {
    key: String,
    fingerprint: String,
    work: W,
    render: R,
}

enum KeyedResult {
    New(Result<String, ErrorResponse>),
    Repeated(String),
    OtherRequest,
}

impl<W, R> Work for Keyed<W, R>
where
    W: Work,
    R: FnOnce(W::Done) -> Result<String, ErrorResponse> + Send + 'static,
{
    type Done = KeyedResult;

    async fn run(self, tx: &mut Transaction<'_>) -> Result<KeyedResult, sqlx::Error> {
        let Keyed { key, fingerprint, work, render } = self;
        if let Some(kept) = tx.kept_answer(&key).await? {
            return Ok(match kept.fingerprint == fingerprint {
                true => KeyedResult::Repeated(kept.body),
                false => KeyedResult::OtherRequest,
            });
        }
        let response = render(work.run(tx).await?);
        // A refused request has changed nothing, so its key stays available.
        if let Ok(body) = &response
            && !is_refusal(body)
        {
            tx.keep_answer(&key, &KeptAnswer { fingerprint, body: body.clone() }).await?;
        }
        Ok(KeyedResult::New(response))
    }
}

/// Returns whether the body of a 200 response reports a refusal, as updates of orders do.
fn is_refusal(body: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Answer {
        ok: Option<bool>,
    }

    serde_json::from_str::<Answer>(body).is_ok_and(|answer| answer.ok == Some(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_status_200_are_told_apart() {
        assert!(is_refusal(r#"{"results": [], "ok": false, "ctx_id": "c"}"#));
        assert!(!is_refusal(r#"{"ok": true}"#) && !is_refusal(r#"{"id": 1}"#) && !is_refusal("[]"));
    }

    #[test]
    fn keys_are_texts_with_or_without_quotation_marks() {
        let parsed = |value: &str| parse(&HeaderValue::from_str(value).expect("a header"));
        let uuid = "8e03978e-40d5-43dd-bc93-6894a57f9324";
        assert_eq!(parsed(uuid).as_deref(), Some(uuid));
        assert_eq!(parsed(&format!(" \"{uuid}\" ")).as_deref(), Some(uuid));
        for bad in ["", "\"\"", "\"a", "a b", "a\"b", &"x".repeat(256)] {
            assert_eq!(parsed(bad), None, "{bad}");
        }
    }
}

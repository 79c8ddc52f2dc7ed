//! Reads request bodies as JSON objects, with limits on size and time.

use std::borrow::Cow;
use std::collections::HashSet;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::{FromRequest, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use futures_util::StreamExt;
use serde_json::{Map, Value};
use tokio::time::timeout;
use twox_hash::XxHash3_64;

use crate::journal::Trace;
use crate::reading::Reading;
use crate::response::ErrorResponse;

/// Maximum size of a body.
const MAX_BYTES: usize = 1024 * 1024;

/// Maximum number of bytes of an oversized body to read and discard before the error response. Without this, a client
/// that is still sending sees a connection reset instead of the response.
const MAX_DISCARDED: u64 = 64 * 1024 * 1024;

/// Maximum time for reading a body.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The JSON object in a request's body, without repeated keys.
pub(crate) struct JsonObject {
    pub fields: Map<String, Value>,
    pub reading: Reading,
    /// Hash of the body.
    pub content: u64,
}

impl<S: Sync> FromRequest<S> for JsonObject {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, _: &S) -> Result<JsonObject, ErrorResponse> {
        require_json(request.headers())?;
        let (parts, bytes) = read_whole(request).await?;
        let fields = parse(&bytes)?;
        let content = XxHash3_64::oneshot(&bytes);
        if let Some(trace) = parts.extensions.get::<Trace>() {
            trace.note_body(content, &fields);
        }
        let reading = parts.extensions.get::<Reading>().copied().unwrap_or_default();
        Ok(JsonObject { fields, reading, content })
    }
}

/// Reads a whole request within the limits on size and time.
pub(crate) async fn read_whole(request: Request) -> Result<(Parts, Vec<u8>), ErrorResponse> {
    let expects_continue = request.headers().contains_key(header::EXPECT);
    let (parts, body) = request.into_parts();
    let read = timeout(READ_TIMEOUT, read(body, expects_continue)).await;
    let timed_out = |_| ErrorResponse::new(StatusCode::REQUEST_TIMEOUT, "timed out reading the body");
    Ok((parts, read.map_err(timed_out)??))
}

fn require_json(headers: &HeaderMap) -> Result<(), ErrorResponse> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()?.split(';').next());
    if !content_type.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json")) {
        return Err(unsupported("send the header `Content-Type: application/json`"));
    }
    let encoding = headers.get(header::CONTENT_ENCODING).map_or(&b"identity"[..], |value| value.as_bytes());
    if !encoding.eq_ignore_ascii_case(b"identity") {
        return Err(unsupported("send the body without a Content-Encoding"));
    }
    Ok(())
}

async fn read(body: Body, expects_continue: bool) -> Result<Vec<u8>, ErrorResponse> {
    let announced = body.size_hint().lower();
    let refuse_unread = announced > MAX_DISCARDED || (expects_continue && announced > MAX_BYTES as u64);
    if refuse_unread {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(announced.min(MAX_BYTES as u64) as usize);
    let mut received: u64 = 0;
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| ErrorResponse::new(StatusCode::BAD_REQUEST, "the body is incomplete"))?;
        received += chunk.len() as u64;
        if received > MAX_DISCARDED {
            break;
        }
        if received <= MAX_BYTES as u64 {
            bytes.extend_from_slice(&chunk);
        }
    }
    if received > MAX_BYTES as u64 { Err(too_large()) } else { Ok(bytes) }
}

/// Reads and discards a body within the same limits, so that the client sees the response.
pub(crate) async fn discard(body: Body) {
    let mut chunks = body.into_data_stream();
    let all = async {
        let mut received = 0;
        while let Some(Ok(chunk)) = chunks.next().await {
            received += chunk.len() as u64;
            if received > MAX_DISCARDED {
                break;
            }
        }
    };
    // A timeout only ends the reading.
    let _ = timeout(READ_TIMEOUT, all).await;
}

fn parse(bytes: &[u8]) -> Result<Map<String, Value>, ErrorResponse> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        ErrorResponse::new(
            StatusCode::BAD_REQUEST,
            format!("the body is not valid UTF-8 at byte {}", error.valid_up_to()),
        )
    })?;
    let value: Value = serde_json::from_str(text)
        .map_err(|error| ErrorResponse::new(StatusCode::BAD_REQUEST, format!("the body is not valid JSON: {error}")))?;
    if let Some(key) = repeated_key(text) {
        let message = format!("the body has the key {key:?} twice in one object");
        return Err(ErrorResponse::new(StatusCode::BAD_REQUEST, message));
    }
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(ErrorResponse::new(StatusCode::BAD_REQUEST, "the body must be a JSON object")),
    }
}

/// Returns a key that occurs twice in an object of a valid JSON text. Programs disagree about the value of a duplicate key.
fn repeated_key(json: &str) -> Option<String> {
    // The keys of the objects around the current place.
    let mut objects: Vec<HashSet<Cow<'_, str>>> = Vec::new();
    let mut last = "";
    let mut rest = json;
    while let Some(at) = rest.find(['"', ':', '{', '}']) {
        let sign = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match sign {
            b'"' => {
                let length = text_length(rest);
                last = &rest[..length];
                rest = &rest[length + 1..];
            }
            b'{' => objects.push(HashSet::new()),
            b'}' => drop(objects.pop()),
            _ => {
                let key = match last.contains('\\') {
                    true => serde_json::from_str(&format!("\"{last}\"")).map_or(Cow::Borrowed(last), Cow::Owned),
                    false => Cow::Borrowed(last),
                };
                if objects.last_mut().is_some_and(|keys| !keys.insert(key.clone())) {
                    return Some(key.into_owned());
                }
            }
        }
    }
    None
}

/// Returns the length of a JSON string up to the closing quotation mark.
fn text_length(rest: &str) -> usize {
    let mut is_escaped = false;
    let end = rest.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.unwrap_or(rest.len().saturating_sub(1))
}

fn unsupported(message: &str) -> ErrorResponse {
    ErrorResponse::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message)
}

fn too_large() -> ErrorResponse {
    ErrorResponse::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {MAX_BYTES} bytes"))
}

#[cfg(test)]
mod tests {
    use super::repeated_key;

    #[test]
    fn keys_are_repeated_within_one_object_only() {
        for (json, expected) in [
            (r#"{"a":1,"a":1}"#, Some("a")),
            (r#"{"a":{"b":[{"c":1},{"c":2}]},"b":"a"}"#, None),
            (r#"{"x":[{"b":"}:{","b" : 2}]}"#, Some("b")),
            (r#"{"a":1,"\u0061":2}"#, Some("a")),
            (r#"{"a\"":"\\","\":":"a:\"a"}"#, None),
            (r#"{"":0,"":1}"#, Some("")),
            (r#"[{"a":1},{"a":1}]"#, None),
        ] {
            assert_eq!(repeated_key(json).as_deref(), expected, "{json}");
        }
    }
}

//! From a request's body to a JSON object, within bounds of size and time. What the object has to hold is not checked
//! here but by each resource.

use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use futures_util::StreamExt;
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::answer::Refusal;

pub const MAX_BYTES: usize = 1024 * 1024;

/// How much of a body that is too large is read and thrown away before the refusal. A client that is still writing
/// when the connection closes sees a reset and never the reason.
const MAX_DISCARDED: u64 = 64 * 1024 * 1024;

const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The JSON object in a request's body. Of a key that is there twice, the last value counts.
pub struct JsonObject(pub Map<String, Value>);

impl<S: Sync> FromRequest<S> for JsonObject {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &S) -> Result<JsonObject, Refusal> {
        require_json(request.headers())?;
        let expects_continue = request.headers().contains_key(header::EXPECT);
        let bytes = timeout(READ_TIMEOUT, read(request.into_body(), expects_continue))
            .await
            .map_err(|_| Refusal::new(StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive"))??;
        parse(&bytes).map(JsonObject)
    }
}

fn require_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let essence = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .unwrap_or_default();
    if !essence.trim().eq_ignore_ascii_case("application/json") {
        return Err(unsupported("the header `Content-Type: application/json` is needed"));
    }
    let encoding = headers.get(header::CONTENT_ENCODING).map_or(&b"identity"[..], |value| value.as_bytes());
    if !encoding.eq_ignore_ascii_case(b"identity") {
        return Err(unsupported("the body must be sent without a Content-Encoding"));
    }
    Ok(())
}

async fn read(body: Body, expects_continue: bool) -> Result<Vec<u8>, Refusal> {
    let announced = body.size_hint().lower();
    let refuse_unread = announced > MAX_DISCARDED || (expects_continue && announced > MAX_BYTES as u64);
    if refuse_unread {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(announced.min(MAX_BYTES as u64) as usize);
    let mut received: u64 = 0;
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "the body ended before its end"))?;
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

/// Reads a body that nobody wants, within the same bounds, so that a client gets to see the answer.
pub async fn discard(body: Body) {
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
    // The bytes do not matter, and neither does that they are late.
    let _ = timeout(READ_TIMEOUT, all).await;
}

fn parse(bytes: &[u8]) -> Result<Map<String, Value>, Refusal> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Refusal::new(StatusCode::BAD_REQUEST, format!("the body is not UTF-8 from byte {} on", error.valid_up_to()))
    })?;
    let value: Value = serde_json::from_str(text)
        .map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, format!("the body is not JSON: {error}")))?;
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(Refusal::new(StatusCode::BAD_REQUEST, "the body must be a JSON object")),
    }
}

fn unsupported(message: &str) -> Refusal {
    Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message)
}

fn too_large() -> Refusal {
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {MAX_BYTES} bytes"))
}

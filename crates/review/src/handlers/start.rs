//! The first requests of a page, and dropped files.

use std::io::Write;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::json;
use sheetport_operations::InputFile;
use sheetport_sheet::PrivateFile;

use super::super::app::App;
use super::super::http::{Exchanged, Failure, Posted};
use super::super::view;
use super::{Answer, blocking, ok};

/// Maximum size of a dropped file.
const MAX_FILE: u64 = 4 << 30;

/// What lets a browser in.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ticket {
    /// The token of the address.
    Token(String),
    /// The code on the terminal.
    Code(String),
}

/// Says whether a browser without the cookie can ask for a code.
pub(crate) async fn locked(State(app): State<Arc<App>>) -> Answer {
    Ok(ok(json!({"takes_code": app.access.takes_code()})))
}

pub(crate) async fn session(State(app): State<Arc<App>>, Posted(ticket): Posted<Ticket>) -> Answer {
    let exchanged = match ticket {
        Ticket::Token(token) => app.access.exchange(&token),
        Ticket::Code(code) => app.access.exchange_code(&code),
    };
    let cookie = match exchanged {
        Exchanged::Cookie(cookie) => cookie,
        Exchanged::WrongCode { attempts_left } => {
            let message = format!("this is not the code on the terminal; attempts left: {attempts_left}");
            return Err(Failure::new(StatusCode::FORBIDDEN, message));
        }
        Exchanged::Closed => {
            let message = "this address was used before; start sheetport review again for a new one";
            return Err(Failure::new(StatusCode::UNAUTHORIZED, message));
        }
    };
    let mut response = ok(json!({}));
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

pub(crate) async fn start(State(app): State<Arc<App>>) -> Answer {
    let value = blocking(move || {
        let (review, failure) = match app.newest() {
            Ok(review) => (review, None),
            Err(failure) => (None, Some(json!({"message": failure.message(), "hint": failure.hint()}))),
        };
        let service = view::service(&app.context());
        Ok(json!({"service": service, "review": review, "failure": failure, "version": env!("CARGO_PKG_VERSION")}))
    });
    Ok(ok(value.await?))
}

#[derive(Deserialize)]
pub(crate) struct FileName {
    name: String,
}

pub(crate) async fn drop_file(
    State(app): State<Arc<App>>,
    Query(FileName { name }): Query<FileName>,
    content: Body,
) -> Answer {
    let failed = |error: std::io::Error| {
        Failure::new(StatusCode::INSUFFICIENT_STORAGE, format!("the file can't be stored for a moment: {error}"))
    };
    // The name is shown, and never opened.
    let name = name.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or("spreadsheet").to_owned();
    let mut file = PrivateFile::create().map_err(failed)?;
    let (mut chunks, mut len) = (content.into_data_stream(), 0);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| Failure::bad_request(format!("the file did not arrive: {error}")))?;
        len += chunk.len() as u64;
        if len > MAX_FILE {
            return Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "the file is larger than 4 GiB"));
        }
        file.write_all(&chunk).map_err(failed)?;
    }
    file.flush().map_err(failed)?;
    let number = blocking(move || app.open(InputFile::of_copy(file, &name))).await?;
    Ok(ok(json!({"review": number})))
}

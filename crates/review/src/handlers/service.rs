//! The service of the page, and its credentials.

use std::sync::Arc;

use axum::extract::State;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::json;
use sheetport_client::auth::Credentials;
use sheetport_operations::{self as operations, Context};

use super::super::app::App;
use super::super::http::Posted;
use super::super::view;
use super::{Answer, ok};

/// Describes the service. Without credentials, they are looked for again: somebody may have run `login` meanwhile.
pub(crate) async fn known(State(app): State<Arc<App>>) -> Answer {
    if app.context().credentials.is_empty() || app.context().base_url.is_none() {
        app.set_context(app.context().with_stored_access());
    }
    Ok(ok(json!({"service": view::service(&app.context())})))
}

/// The address and the tokens of a service.
#[derive(Deserialize)]
pub(crate) struct Login {
    address: String,
    access: String,
    /// Empty if there is none.
    #[serde(default)]
    refresh: String,
}

/// Stores tokens that the service accepts, and uses them from now on.
pub(crate) async fn login(State(app): State<Arc<App>>, Posted(given): Posted<Login>) -> Answer {
    let Login { address, access, refresh } = given;
    let token = |text: String| Some(SecretString::from(text.trim())).filter(|_| !text.trim().is_empty());
    let credentials = Credentials { access: token(access), refresh: token(refresh), file: None };
    let context = Context { base_url: Some(address.trim().to_owned()), credentials, ..Context::clone(&app.context()) };
    let stored = operations::login(&context, &app.token_file, &context.profile, false).await?;
    app.set_context(app.context().signed_in(stored.base_url, stored.credentials, &app.token_file));
    Ok(ok(json!({"service": view::service(&app.context())})))
}

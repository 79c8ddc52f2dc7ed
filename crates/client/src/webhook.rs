//! Webhooks: a single POST of JSON to another service, without any token.

use std::time::Duration;

use serde_json::Value;

use super::transport::{ConnectOptions, root_cause, webhook_client};

/// How long the other service may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How often the message is sent at most, and the pause between two times.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_secs(2);

/// Posts `body` to an address, with the proxy and the certificates of `options`. Error messages do not contain the address, which
/// is often a secret.
///
/// # Errors
/// The reason, if three attempts fail.
pub async fn post_json(address: &str, options: &ConnectOptions, body: &Value) -> Result<(), String> {
    // The client certificate is only for the service of the records.
    let options = ConnectOptions { client_cert: None, ..options.clone() };
    let client = webhook_client(&options, super::is_local(address)).map_err(|error| error.to_string())?;
    let body = body.to_string();
    let mut attempt = 1;
    loop {
        let request = client.post(address).timeout(TIMEOUT).header(reqwest::header::CONTENT_TYPE, "application/json");
        let (reason, may_repeat) = match request.body(body.clone()).send().await {
            Ok(answer) if answer.status().is_success() => return Ok(()),
            Ok(answer) => {
                let status = answer.status();
                (format!("the webhook answered {status}"), status.is_server_error() || status.as_u16() == 429)
            }
            Err(error) => (format!("the webhook can't be reached: {}", root_cause(&error.without_url())), true),
        };
        if !may_repeat || attempt >= ATTEMPTS {
            return Err(reason);
        }
        attempt += 1;
        tokio::time::sleep(PAUSE).await;
    }
}

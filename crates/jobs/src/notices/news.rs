//! The content of notices about a job, and the secrets for sending notices.

use std::io;
use std::path::PathBuf;

use secrecy::SecretString;
use serde_json::Value;
use sheetport_client::auth::check_private;

use super::super::definition::{Occasion, Secret};

/// The content of a notice.
#[derive(Debug)]
pub struct News {
    pub occasions: Vec<Occasion>,
    /// A single line.
    pub subject: String,
    pub text: String,
    /// The summary of the job.
    pub summary: Value,
    pub exit: u8,
    pub reports: Vec<PathBuf>,
}

/// The result of sending a notice.
#[derive(Debug)]
pub struct Notified {
    pub by: &'static str,
    pub on: Vec<Occasion>,
    pub error: Option<String>,
}

/// A report to send along.
pub(super) struct Attachment {
    pub name: String,
    pub content: Vec<u8>,
}

/// Reads a secret. Error messages never contain the secret.
pub(super) fn read(secret: &Secret) -> Result<SecretString, String> {
    let text = match secret {
        Secret::Plain(text) => text.clone(),
        Secret::Environment(name) => std::env::var(name).map_err(|_| format!("the variable {name} is not set"))?,
        Secret::File(path) => {
            let unreadable = |error: io::Error| format!("{} can't be read: {error}", path.display());
            let file = std::fs::File::open(path).map_err(unreadable)?;
            if let Some(exposed) = check_private(&file, path).map_err(unreadable)? {
                return Err(exposed.to_string());
            }
            let text = io::read_to_string(file).map_err(unreadable)?;
            text.lines().next().unwrap_or_default().to_owned()
        }
    };
    let text = text.trim();
    if text.is_empty() { Err("the password is blank".to_owned()) } else { Ok(SecretString::from(text.to_owned())) }
}

//! A pair of tokens with claims, and the path of a token file.

use std::path::PathBuf;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// Names of the claim with the workspace.
const WORKSPACE: [&str; 2] = ["workspace", "workspace_id"];

/// Tokens as given by the user. `Debug` hides both.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    pub access: Option<SecretString>,
    pub refresh: Option<SecretString>,
    /// Source of the tokens, and destination of renewed tokens.
    pub file: Option<TokenFile>,
}

/// The path of a profile's token file.
#[derive(Clone, Debug)]
pub struct TokenFile {
    pub(super) path: PathBuf,
    /// The tokens are in the keyring of the system, and the file has the address only.
    pub(super) is_in_keyring: bool,
}

impl Credentials {
    /// Whether both tokens are missing.
    pub fn is_empty(&self) -> bool {
        self.access.is_none() && self.refresh.is_none()
    }

    /// Returns the workspace claim. The service alone verifies the signature.
    pub fn workspace(&self) -> Option<String> {
        self.claim(&WORKSPACE)
    }

    /// Returns the workspaces of both tokens if they differ: a renewal would switch the workspace.
    pub(crate) fn two_workspaces(&self) -> Option<(String, String)> {
        let workspace = |token: &Option<SecretString>| claim(token.as_ref()?, &WORKSPACE);
        workspace(&self.access).zip(workspace(&self.refresh)).filter(|(access, refresh)| access != refresh)
    }

    /// Returns the access level claim, unchanged.
    pub fn access_level(&self) -> Option<String> {
        self.claim(&["access", "permission", "permission_level"])
    }

    /// Whether the access level claim allows reading only.
    pub fn is_read_only(&self) -> bool {
        self.access_level().is_some_and(|level| level.eq_ignore_ascii_case("regular"))
    }

    /// Returns when the access token expires, in seconds since 1970.
    pub fn expires_at(&self) -> Option<i64> {
        claims(self.access.as_ref()?)?.get("exp")?.as_i64()
    }

    /// Returns when the refresh token expires, in seconds since 1970.
    pub fn refresh_expires_at(&self) -> Option<i64> {
        claims(self.refresh.as_ref()?)?.get("exp")?.as_i64()
    }

    /// Returns when the access token was issued, in seconds since 1970.
    pub(super) fn issued_at(&self) -> Option<i64> {
        claims(self.access.as_ref()?)?.get("iat")?.as_i64()
    }

    fn claim(&self, names: &[&str]) -> Option<String> {
        claim(self.access.as_ref().or(self.refresh.as_ref())?, names)
    }

    pub(super) fn has_same_access(&self, other: &Credentials) -> bool {
        let access =
            |credentials: &Credentials| credentials.access.as_ref().map(|token| token.expose_secret().to_owned());
        access(self) == access(other)
    }
}

fn claim(token: &SecretString, names: &[&str]) -> Option<String> {
    let claims = claims(token)?;
    names.iter().find_map(|name| claims.get(name)).and_then(|value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

fn claims(token: &SecretString) -> Option<Value> {
    Some(jsonwebtoken::dangerous::insecure_decode::<Value>(token.expose_secret()).ok()?.claims)
}

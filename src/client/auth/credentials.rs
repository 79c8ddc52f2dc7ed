//! A pair of tokens with claims, and the path of a token file.

use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

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
}

impl Credentials {
    /// Whether both tokens are missing.
    pub fn is_empty(&self) -> bool {
        self.access.is_none() && self.refresh.is_none()
    }

    /// Returns the address and the credentials to use: these tokens of the environment or their successors below `home`, if
    /// there are any, or those in `file`.
    pub fn in_use(self, base_url: Option<String>, file: &TokenFile, home: &Path) -> (Option<String>, Credentials) {
        let (base_url, credentials) = self.or_stored(base_url, file);
        let credentials = match &base_url {
            Some(base_url) => credentials.kept_below(home, base_url),
            None => credentials,
        };
        (base_url, credentials)
    }

    /// Returns the address and the credentials to use: these tokens, if there are any, or those in `file`. Stored tokens
    /// are only used for the address stored with them, which is also the default.
    fn or_stored(self, base_url: Option<String>, file: &TokenFile) -> (Option<String>, Credentials) {
        let stored = file.read().unwrap_or_else(|error| {
            tracing::warn!("{} can't be read: {error}", file.path().display());
            None
        });
        let plain = |address: &str| address.trim().trim_end_matches('/').to_owned();
        match (stored, base_url) {
            (Some((stored, credentials)), base_url)
                if base_url.as_deref().is_none_or(|base| plain(base) == plain(&stored)) =>
            {
                (Some(stored), if self.is_empty() { credentials } else { self })
            }
            (_, base_url) => (base_url, self),
        }
    }

    /// Returns the workspace claim. The service alone verifies the signature.
    pub fn workspace(&self) -> Option<String> {
        self.claim(&["workspace", "workspace_id"])
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

    /// Returns when the access token was issued, in seconds since 1970.
    pub(super) fn issued_at(&self) -> Option<i64> {
        claims(self.access.as_ref()?)?.get("iat")?.as_i64()
    }

    fn claim(&self, names: &[&str]) -> Option<String> {
        let claims = claims(self.access.as_ref().or(self.refresh.as_ref())?)?;
        names.iter().find_map(|name| claims.get(name)).and_then(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    }

    pub(super) fn has_same_access(&self, other: &Credentials) -> bool {
        let access =
            |credentials: &Credentials| credentials.access.as_ref().map(|token| token.expose_secret().to_owned());
        access(self) == access(other)
    }
}

fn claims(token: &SecretString) -> Option<Value> {
    Some(jsonwebtoken::dangerous::insecure_decode::<Value>(token.expose_secret()).ok()?.claims)
}

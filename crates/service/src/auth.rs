//! Bearer tokens: JWTs signed with the data folder's key, and the middleware that verifies them. Contract:
//! "Authentication"; lifetimes and claims are not specified there.
//!
//! Tokens are not stored. A single token cannot be revoked; replacing the key revokes all of them. With rotation, the ids of
//! replaced refresh tokens are stored (`store::ReplaceToken`).

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use sheetport_records::token::Access;
use uuid::Uuid;

use super::data_folder::KEY_BYTES;
use super::error::Error;
use super::journal::Trace;
use super::response::ErrorResponse;
use super::store::Origin;

/// A new token pair.
#[derive(Clone)]
pub struct Tokens {
    pub access: String,
    pub refresh: String,
}

/// The purpose of a token. An access token cannot replace a refresh token, nor the reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TokenKind {
    Access,
    Refresh,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claims {
    pub(super) workspace: String,
    pub(super) access: Access,
    kind: TokenKind,
    /// Time of issue in seconds since 1970 (RFC 7519).
    iat: i64,
    /// Expiry in seconds since 1970; the token is invalid from this second on.
    pub(super) exp: i64,
    pub(super) jti: String,
    /// The `jti` of the replaced refresh token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) replaces: Option<String>,
}

/// The reason why a token is invalid, in words for the caller. Reveals only as much as needed for a fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum InvalidToken {
    #[error("was not issued by this service")]
    Foreign,
    #[error("has expired")]
    Expired,
    #[error("is a refresh token; send an access token")]
    NotAccess,
    #[error("is an access token; send a refresh token")]
    NotRefresh,
    #[error("was replaced by a newer one; send that, or get new tokens")]
    Replaced,
}

/// Signs and verifies tokens.
pub(super) struct Keys {
    sign: EncodingKey,
    verify: DecodingKey,
    validation: Validation,
    access_lifetime: Duration,
    refresh_lifetime: Duration,
}

impl Keys {
    pub(super) fn new(key: &[u8; KEY_BYTES], access_lifetime: Duration, refresh_lifetime: Duration) -> Keys {
        let mut validation = Validation::new(Algorithm::HS256);
        // `verify` checks the expiry against the time passed to it.
        validation.validate_exp = false;
        validation.validate_nbf = true;
        validation.required_spec_claims.clear();
        let (sign, verify) = (EncodingKey::from_secret(key), DecodingKey::from_secret(key));
        Keys { sign, verify, validation, access_lifetime, refresh_lifetime }
    }

    /// Issues an access token and a refresh token. Fails if `workspace` is not a valid name.
    pub(super) fn issue(&self, workspace: &str, access: Access, now: Timestamp) -> Result<Tokens, Error> {
        self.renew(workspace, access, None, now)
    }

    /// Like [`Self::issue`]; the refresh token replaces the one with the id `replaces`.
    pub(super) fn renew(
        &self,
        workspace: &str,
        access: Access,
        replaces: Option<String>,
        now: Timestamp,
    ) -> Result<Tokens, Error> {
        if !is_workspace_name(workspace) {
            return Err(Error::WorkspaceName { name: workspace.to_owned() });
        }
        Ok(Tokens {
            access: self.sign(workspace, access, TokenKind::Access, None, now)?,
            refresh: self.sign(workspace, access, TokenKind::Refresh, replaces, now)?,
        })
    }

    fn sign(
        &self,
        workspace: &str,
        access: Access,
        kind: TokenKind,
        replaces: Option<String>,
        now: Timestamp,
    ) -> Result<String, Error> {
        let lifetime = match kind {
            TokenKind::Access => self.access_lifetime,
            TokenKind::Refresh => self.refresh_lifetime,
        };
        let iat = now.as_second();
        let claims = Claims {
            workspace: workspace.to_owned(),
            access,
            kind,
            iat,
            exp: iat.saturating_add_unsigned(lifetime.as_secs()),
            jti: Uuid::now_v7().simple().to_string(),
            replaces,
        };
        Ok(jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &self.sign)?)
    }

    /// Returns the claims of a valid token. Fails if the signature or the kind is wrong or the token has expired;
    /// there is no leeway.
    pub(super) fn verify(&self, token: &str, kind: TokenKind, now: Timestamp) -> Result<Claims, InvalidToken> {
        let claims = jsonwebtoken::decode::<Claims>(token, &self.verify, &self.validation)
            .map_err(|_| InvalidToken::Foreign)?
            .claims;
        if claims.kind != kind {
            return Err(match kind {
                TokenKind::Access => InvalidToken::NotAccess,
                TokenKind::Refresh => InvalidToken::NotRefresh,
            });
        }
        if now.as_second() >= claims.exp {
            return Err(InvalidToken::Expired);
        }
        Ok(claims)
    }
}

/// The authenticated workspace of a request, set by [`require_token`].
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) workspace: Arc<str>,
    /// Number of the request in the journal, if any.
    pub(super) request: Option<i64>,
    access: Access,
}

impl Caller {
    /// Fails for a method that the access does not permit: `Regular` permits only reads.
    pub(super) fn permit(&self, method: &Method) -> Result<(), ErrorResponse> {
        if matches!(*method, Method::GET | Method::HEAD) || self.access == Access::Full {
            return Ok(());
        }
        let message = "the token has Regular access, which is read-only; use a token with Full Access";
        Err(ErrorResponse::forbidden(message))
    }
}

impl From<Caller> for Origin {
    fn from(caller: Caller) -> Origin {
        Origin { workspace: caller.workspace, request: caller.request }
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Caller, ErrorResponse> {
        parts.extensions.get::<Caller>().cloned().ok_or_else(|| ErrorResponse::unauthorized("missing bearer token"))
    }
}

/// Middleware that rejects requests without a valid access token.
pub(super) async fn require_token(
    State(keys): State<Arc<Keys>>,
    mut request: Request,
    next: Next,
) -> Result<Response, ErrorResponse> {
    let token = bearer_token(request.headers())?;
    let claims = keys
        .verify(token, TokenKind::Access, Timestamp::now())
        .map_err(|reason| ErrorResponse::unauthorized(format!("the bearer token {reason}")))?;
    let workspace: Arc<str> = claims.workspace.into();
    let trace = request.extensions().get::<Trace>();
    if let Some(trace) = trace {
        trace.note_workspace(&workspace);
    }
    let number = trace.map(|trace| trace.number);
    request.extensions_mut().insert(Caller { workspace, request: number, access: claims.access });
    Ok(next.run(request).await)
}

/// Middleware that rejects requests that the caller's access does not permit. They count towards the rate limit.
pub(super) async fn require_access(caller: Caller, request: Request, next: Next) -> Result<Response, ErrorResponse> {
    caller.permit(request.method())?;
    Ok(next.run(request).await)
}

fn bearer_token(headers: &HeaderMap) -> Result<&str, ErrorResponse> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err(ErrorResponse::unauthorized("send exactly one header `Authorization: Bearer <access token>`"));
    };
    let token = value.to_str().ok().and_then(|value| value.split_once(' ')).and_then(|(scheme, token)| {
        let token = token.trim();
        (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
    });
    token.ok_or_else(|| {
        ErrorResponse::unauthorized("the Authorization header must have the form `Bearer <access token>`")
    })
}

/// Whether `name` has 1 to 64 letters, digits, dots, underscores and hyphens.
pub(super) fn is_workspace_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("in range")
    }

    fn keys(key: u8, access_lifetime: Duration) -> Keys {
        Keys::new(&[key; KEY_BYTES], access_lifetime, Duration::from_secs(100))
    }

    #[test]
    fn tokens_expire_and_are_bound_to_their_kind_and_key() {
        let keys = keys(7, Duration::from_secs(10));
        let tokens = keys.issue("acme", Access::Full, at(1000)).expect("issued");
        let claims = keys.verify(&tokens.access, TokenKind::Access, at(1009)).expect("good");
        assert_eq!(
            (claims.workspace.as_str(), claims.access, claims.iat, claims.exp),
            ("acme", Access::Full, 1000, 1010)
        );
        assert_eq!(keys.verify(&tokens.access, TokenKind::Access, at(1010)), Err(InvalidToken::Expired));
        assert_eq!(keys.verify(&tokens.access, TokenKind::Refresh, at(1000)), Err(InvalidToken::NotRefresh));
        assert_eq!(keys.verify(&tokens.refresh, TokenKind::Access, at(1000)), Err(InvalidToken::NotAccess));
        let other_keys = self::keys(8, Duration::from_secs(10));
        assert_eq!(other_keys.verify(&tokens.access, TokenKind::Access, at(1000)), Err(InvalidToken::Foreign));
    }

    #[test]
    fn an_unlimited_lifetime_does_not_overflow() {
        let keys = keys(7, Duration::MAX);
        let tokens = keys.issue("acme", Access::Regular, at(1000)).expect("issued");
        assert!(keys.verify(&tokens.access, TokenKind::Access, at(10_000_000_000)).is_ok());
    }

    #[test]
    fn workspace_names_are_restricted() {
        for good in ["a", "acme-2.test_A", &"x".repeat(64)] {
            assert!(is_workspace_name(good), "{good}");
        }
        for bad in ["", "a b", "a/b", "é", "a\0", &"x".repeat(65)] {
            assert!(!is_workspace_name(bad), "{bad:?}");
        }
    }
}

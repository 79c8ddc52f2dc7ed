//! Tokens: JWTs signed with the folder's key, and the one place that lets a request through. Contract:
//! "Authentication". Lifetimes and claims are not shown there; these are ours.
//!
//! Tokens are not kept anywhere: whoever has the key can tell whether one is good, and none can be taken back before
//! it expires, except all at once by replacing the key.

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
use uuid::Uuid;

use crate::records::token::Access;

use super::Config;
use super::answer::Refusal;
use super::data::KEY_BYTES;
use super::error::Error;
use super::router::App;

/// A pair as a person gets it: to be shown once and kept nowhere by us.
#[derive(Clone)]
pub struct Tokens {
    pub access: String,
    pub refresh: String,
}

/// What a token is for. Neither kind is taken in the place of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Access,
    Refresh,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    pub workspace: String,
    pub access: Access,
    pub kind: Kind,
    /// Seconds since 1970, as RFC 7519 has it.
    pub iat: i64,
    /// The first second in which the token is no longer good.
    pub exp: i64,
    pub jti: String,
}

/// Why a token is not good. The words are for the caller, who may be an attacker: no more than is needed to mend it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    #[error("is not a token of this service")]
    Foreign,
    #[error("has expired")]
    Expired,
    #[error("is a refresh token; an access token is needed")]
    NotAccess,
    #[error("is an access token; a refresh token is needed")]
    NotRefresh,
}

/// The signing key in the forms that signing and verifying need.
pub struct Keys {
    sign: EncodingKey,
    verify: DecodingKey,
    validation: Validation,
}

impl Keys {
    pub fn new(key: &[u8; KEY_BYTES]) -> Keys {
        let mut validation = Validation::new(Algorithm::HS256);
        // Expiry is checked in `verify`, against the time that it is given.
        validation.validate_exp = false;
        validation.required_spec_claims.clear();
        Keys { sign: EncodingKey::from_secret(key), verify: DecodingKey::from_secret(key), validation }
    }

    pub fn issue(&self, config: &Config, workspace: &str, access: Access, now: Timestamp) -> Result<Tokens, Error> {
        if !is_workspace_name(workspace) {
            return Err(Error::WorkspaceName { name: workspace.to_owned() });
        }
        Ok(Tokens {
            access: self.sign(workspace, access, Kind::Access, config.access_lifetime, now)?,
            refresh: self.sign(workspace, access, Kind::Refresh, config.refresh_lifetime, now)?,
        })
    }

    fn sign(
        &self,
        workspace: &str,
        access: Access,
        kind: Kind,
        lifetime: Duration,
        now: Timestamp,
    ) -> Result<String, Error> {
        let iat = now.as_second();
        let lifetime = i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX);
        let claims = Claims {
            workspace: workspace.to_owned(),
            access,
            kind,
            iat,
            exp: iat.saturating_add(lifetime),
            jti: Uuid::now_v7().simple().to_string(),
        };
        Ok(jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &self.sign)?)
    }

    /// The claims of a token that we signed, that is of `kind`, and that has not expired: no leeway is given.
    pub fn verify(&self, token: &str, kind: Kind, now: Timestamp) -> Result<Claims, TokenFault> {
        let claims = jsonwebtoken::decode::<Claims>(token, &self.verify, &self.validation)
            .map_err(|_| TokenFault::Foreign)?
            .claims;
        if claims.kind != kind {
            return Err(match kind {
                Kind::Access => TokenFault::NotAccess,
                Kind::Refresh => TokenFault::NotRefresh,
            });
        }
        if now.as_second() >= claims.exp {
            return Err(TokenFault::Expired);
        }
        Ok(claims)
    }
}

/// Whose records a request is about. Handlers get it only behind [`require_token`].
#[derive(Clone)]
pub struct Caller {
    pub workspace: Arc<str>,
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Caller, Refusal> {
        parts.extensions.get::<Caller>().cloned().ok_or_else(|| Refusal::unauthorized("a bearer token is needed"))
    }
}

/// Lets a request through to its handler if its token is good and allows the method: a `Regular` token only reads.
pub async fn require_token(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Result<Response, Refusal> {
    let token = bearer(request.headers())?;
    let claims = app
        .keys
        .verify(token, Kind::Access, Timestamp::now())
        .map_err(|fault| Refusal::unauthorized(format!("the bearer token {fault}")))?;
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if !reads && claims.access != Access::Full {
        return Err(Refusal::forbidden("the token's permission level is Regular, which only reads; use Full Access"));
    }
    request.extensions_mut().insert(Caller { workspace: claims.workspace.into() });
    Ok(next.run(request).await)
}

fn bearer(headers: &HeaderMap) -> Result<&str, Refusal> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err(Refusal::unauthorized("one header `Authorization: Bearer <access token>` is needed"));
    };
    let token = value.to_str().ok().and_then(|value| value.split_once(' ')).and_then(|(scheme, token)| {
        let token = token.trim();
        (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
    });
    token.ok_or_else(|| Refusal::unauthorized("the Authorization header is not of the form `Bearer <access token>`"))
}

pub fn is_workspace_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("in range")
    }

    #[test]
    fn a_token_is_good_until_the_second_it_expires() {
        let keys = Keys::new(&[7; KEY_BYTES]);
        let config = Config { access_lifetime: Duration::from_secs(10), ..Config::new("unused") };
        let tokens = keys.issue(&config, "acme", Access::Full, at(1000)).expect("issued");
        let claims = keys.verify(&tokens.access, Kind::Access, at(1009)).expect("good");
        assert_eq!(
            (claims.workspace.as_str(), claims.access, claims.iat, claims.exp),
            ("acme", Access::Full, 1000, 1010)
        );
        assert_eq!(keys.verify(&tokens.access, Kind::Access, at(1010)), Err(TokenFault::Expired));
        assert_eq!(keys.verify(&tokens.access, Kind::Refresh, at(1000)), Err(TokenFault::NotRefresh));
        assert_eq!(keys.verify(&tokens.refresh, Kind::Access, at(1000)), Err(TokenFault::NotAccess));
        let others = Keys::new(&[8; KEY_BYTES]);
        assert_eq!(others.verify(&tokens.access, Kind::Access, at(1000)), Err(TokenFault::Foreign));
    }

    #[test]
    fn a_lifetime_without_end_does_not_overflow() {
        let keys = Keys::new(&[7; KEY_BYTES]);
        let config = Config { access_lifetime: Duration::MAX, ..Config::new("unused") };
        let tokens = keys.issue(&config, "acme", Access::Regular, at(1000)).expect("issued");
        assert!(keys.verify(&tokens.access, Kind::Access, at(10_000_000_000)).is_ok());
    }

    #[test]
    fn workspace_names_are_short_and_plain() {
        for good in ["a", "acme-2.test_A", &"x".repeat(64)] {
            assert!(is_workspace_name(good), "{good}");
        }
        for bad in ["", "a b", "a/b", "é", "a\0", &"x".repeat(65)] {
            assert!(!is_workspace_name(bad), "{bad:?}");
        }
    }
}

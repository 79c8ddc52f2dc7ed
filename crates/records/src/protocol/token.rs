//! Tokens. Contract: "Authentication". The response of a refresh is not specified there.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub const REFRESH_PATH: &str = "/api/token/refresh/";

/// Body of `POST /api/token/refresh/`.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct RefreshInput {
    pub refresh: String,
}

/// Response of `POST /api/token/refresh/`, with `refresh` if the service rotates refresh tokens.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct RefreshResult {
    pub access: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<String>,
}

/// The access level of a token. Contract: "Authentication", point 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// `Full Access`: reads and writes.
    Full,
    /// `Regular`: reads only.
    Regular,
}

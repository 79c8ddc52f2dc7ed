//! What an unsuccessful call answers, and the call that asks nothing. Contract: "Errors", where the body's shape is not
//! shown; these are ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of every answer outside 2xx.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    pub message: String,
    pub ctx_id: String,
    /// What is wrong with each field of the input, by the field's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, Vec<String>>,
}

/// Answer of `GET /healthz`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    pub ok: bool,
}

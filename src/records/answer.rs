//! What an unsuccessful call answers. Contract: "Errors", where the body's shape is not shown; this is ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Body of every answer outside 2xx.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorBody {
    pub message: String,
    pub ctx_id: String,
    /// What is wrong with each field of the input, by the field's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, Vec<String>>,
}

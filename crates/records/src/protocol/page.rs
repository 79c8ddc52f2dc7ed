//! Pages of a list. Contract: "Limits", points 1 and 2.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Envelope of a list.
///
/// `count` is the page size in use, so that the contract's rule `page * count < total` tells whether further pages exist.
/// Clients must not rely on this: other services may return the number of entries of this page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    pub data: Vec<T>,
    #[schema(format = "uint64")]
    pub page: u64,
    #[schema(format = "uint64")]
    pub count: u64,
    #[schema(format = "uint64")]
    pub total: u64,
    pub message: String,
    pub ctx_id: String,
}

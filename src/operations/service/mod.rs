//! The embedded service, and access to a service.

mod exports;
pub(in crate::operations) mod load;
pub(in crate::operations) mod local_service;
pub(in crate::operations) mod login;
mod made_up;
mod ndjson;
pub(in crate::operations) mod rehearsal;

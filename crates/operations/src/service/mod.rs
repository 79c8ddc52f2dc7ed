//! The embedded service, and access to a service.

mod exports;
pub(crate) mod load;
pub(crate) mod local_service;
pub(crate) mod login;
mod made_up;
mod ndjson;
pub(crate) mod rehearsal;

//! A service in this process and all that needs one: rehearsals of uploads, the demo, and `serve load`.
//!
//! Stands above `operations`, which knows services by their address alone: a change to the service compiles this crate and not the operations
//! again. Begin with `rehearsal.rs`; an upload meets it as the trait [`sheetport_operations::Rehearsal`].
//!
//! | file | purpose |
//! |---|---|
//! | `local_service.rs` | starts a service on a free port, and finds the one of a demo's home folder again |
//! | `rehearsal.rs`, `made_up.rs` | an upload to a temporary service, and the records that it refers to |
//! | `exports.rs` | which exports of a folder such a service starts with |
//! | `load.rs`, `load/`, `ndjson.rs` | records from spreadsheets and NDJSON |
//! | `refusal.rs` | what a service refuses, as the error of an operation |

mod exports;
mod load;
mod local_service;
mod made_up;
mod ndjson;
mod refusal;
mod rehearsal;

pub use load::{LOAD_KINDS, LoadKind, LoadOutcome, LoadedFile, load};
pub use local_service::LocalService;
pub use refusal::refused;
pub use rehearsal::{Rehearse, rehearse};

//! Queued runs, and records in flight.

mod in_flight;
mod queue;

pub use in_flight::{Interrupted, SendingChanges};
pub use queue::TakenPart;

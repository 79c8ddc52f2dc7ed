//! Queued runs, records in flight, and records in doubt.

mod doubt;
mod in_flight;
mod queue;

pub use doubt::Doubt;
pub use in_flight::{Interrupted, SendingChanges};
pub use queue::TakenPart;

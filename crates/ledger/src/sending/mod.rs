//! Queued runs, records in flight, and records in doubt.

mod backlog;
mod begin;
mod doubt;
mod in_flight;
mod queue;
mod turns;

pub use backlog::Backlog;
pub use begin::Begun;
pub use doubt::Doubt;
pub use in_flight::{Interrupted, SendingChanges};
pub use queue::TakenPart;
pub use turns::{InQueue, NextRun};

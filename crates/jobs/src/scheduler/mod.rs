//! Jobs in the scheduler of the system.

mod entry;
mod install;
mod nightly;

pub use entry::{Entry, EntryFile, Scheduler};
pub use install::{Installed, install, uninstall};
pub use nightly::{Nightly, NightlyJob, obstacles};

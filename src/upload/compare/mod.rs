//! Comparison of a file, or of a plan, with what the service has.

mod key_list;
mod known_keys;
mod references;
pub mod server_diff;
mod service_list;
mod unknown_references;

pub use key_list::{NotCompared, count_changed, load as load_keys};
pub(super) use known_keys::KeyCheck;
pub use known_keys::KnownKeys;
pub use references::{NotCheckable, find_unknown};
pub use service_list::Connection;
pub use unknown_references::UnknownReferences;

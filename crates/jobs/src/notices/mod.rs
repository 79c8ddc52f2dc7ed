//! Notices to people and programs about the end of a job.

mod mail;
mod news;
mod notify;

pub use news::{News, Notified};
pub use notify::{missing_secrets, notify};

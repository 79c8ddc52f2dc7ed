//! The commands that set up a profile and examine it: `init`, `login`, `whoami`, `logout`, `config` and `doctor`.

pub(super) mod config;
pub(super) mod doctor;
pub(super) mod init;
pub(super) mod login;

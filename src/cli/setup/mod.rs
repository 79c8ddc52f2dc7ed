//! Flags of the commands that set up a profile and examine it.

mod init;
mod login;

pub use init::Init;
pub use login::{Doctor, Login, Whoami};

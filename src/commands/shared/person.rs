//! The person who runs the command, for decisions recorded in the ledger.

/// Returns the name of the logged-in user.
pub(crate) fn login_name() -> String {
    let name = ["SUDO_USER", "LOGNAME", "USER", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "an unnamed user".to_owned())
}

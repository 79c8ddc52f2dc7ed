//! Reasons to stop a whole command.

use std::time::Duration;

use super::outcome::TlsProblem;

/// A condition under which no further request can succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The service accepts neither the access token nor a renewed token.
    #[error("the service refused the credentials: {0}")]
    Unauthorized(String),
    /// The token lacks the permission for these calls.
    #[error("the token does not allow this: {0}")]
    Forbidden(String),
    /// The service redirects; a token is never sent to another address.
    #[error("the service redirects ({status}){}, and a token is never sent to another address", target(.to.as_deref()))]
    Redirected {
        status: u16,
        /// The new address without query.
        to: Option<String>,
    },
    /// Every request was answered 404.
    #[error("the service answered 404 to every request; is the base address wrong?")]
    WrongAddress,
    /// The proxy requires credentials: 407, or the refusal of a SOCKS proxy.
    #[error("the proxy requires credentials (407)")]
    ProxyCredentials,
    /// No trusted connection can be made.
    #[error("{0}")]
    Untrusted(TlsProblem),
    /// All connections failed.
    #[error("the service can't be reached: {0}")]
    Unreachable(String),
    /// The service kept answering 429.
    #[error("the service keeps answering 429 (too many requests)")]
    Throttled,
    /// The service asked for a pause longer than [`LONGEST_WAIT`](super::policy::LONGEST_WAIT).
    #[error("the service asks to wait {}", readable(*.0))]
    WaitTooLong(Duration),
}

impl Stop {
    /// Returns the reason for a redirect to the address `to`, or for a 407.
    pub(super) fn for_status(status: u16, to: Option<&str>) -> Stop {
        match status {
            407 => Stop::ProxyCredentials,
            status => Stop::Redirected { status, to: to.map(str::to_owned) },
        }
    }

    /// Returns a hint for the user, without a full stop.
    pub fn hint(&self) -> &'static str {
        match self {
            Stop::Unauthorized(_) => {
                "get a new pair of tokens in the service's developer settings, and run `sheetport login` or set SHEETPORT_ACCESS_TOKEN and SHEETPORT_REFRESH_TOKEN"
            }
            Stop::Forbidden(_) => "set the tokens of a pair that has Full Access",
            Stop::Redirected { .. } | Stop::WrongAddress => {
                "check the base address: it must be the service's own root address, such as https://host.example"
            }
            Stop::ProxyCredentials => {
                "add the user name and password to the proxy's address in SHEETPORT_PROXY, HTTPS_PROXY or HTTP_PROXY, such as http://user:password@proxy.example:8080"
            }
            Stop::Untrusted(problem) => problem.hint(),
            Stop::Unreachable(_) => "check the address and that the service is running",
            Stop::Throttled => "try again later, with a lower --rate",
            Stop::WaitTooLong(wait) if *wait > YEAR => {
                "that is probably a mistake of the service: try again later, and contact its support if it happens again"
            }
            Stop::WaitTooLong(_) => "try again when that time is over",
        }
    }
}

/// Returns where a redirect leads, as a part of a sentence.
fn target(to: Option<&str>) -> String {
    to.map(|to| format!(" to {to}")).unwrap_or_default()
}

const YEAR: Duration = Duration::from_secs(366 * 24 * 3_600);

/// Returns a duration of minutes or more in a readable unit, rounded up.
fn readable(wait: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let seconds = wait.as_secs();
    match seconds {
        ..=7_200 => format!("{} min", seconds.div_ceil(MINUTE)),
        7_201..=172_800 => format!("{} h", seconds.div_ceil(HOUR)),
        _ if wait <= YEAR => format!("{} days", seconds.div_ceil(DAY)),
        _ => "for more than a year".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_waits_are_shown_in_a_readable_unit() {
        for (seconds, text) in [
            (901, "16 min"),
            (7_200, "120 min"),
            (7_201, "3 h"),
            (172_801, "3 days"),
            (366 * 86_400, "366 days"),
            (2_147_483_648_000, "for more than a year"),
            (u64::MAX, "for more than a year"),
        ] {
            let stop = Stop::WaitTooLong(Duration::from_secs(seconds));
            assert_eq!(stop.to_string(), format!("the service asks to wait {text}"));
        }
    }
}

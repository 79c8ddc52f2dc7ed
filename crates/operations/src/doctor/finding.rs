//! The result of a check.

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The name of the check: short, and stable for scripts.
    pub name: &'static str,
    pub health: Health,
    pub text: String,
    /// The remedy.
    pub remedy: Option<String>,
}

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    Ok,
    /// Transfers work, with less protection or not for long.
    Warning,
    /// Transfers fail.
    Problem,
}

impl Health {
    /// Returns the name for programs and people.
    pub fn name(self) -> &'static str {
        match self {
            Health::Ok => "ok",
            Health::Warning => "warning",
            Health::Problem => "problem",
        }
    }
}

impl Finding {
    pub(super) fn ok(name: &'static str, text: impl Into<String>) -> Finding {
        Finding { name, health: Health::Ok, text: text.into(), remedy: None }
    }

    pub(super) fn warning(name: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { name, health: Health::Warning, text: text.into(), remedy: Some(remedy.into()) }
    }

    pub(super) fn problem(name: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { name, health: Health::Problem, text: text.into(), remedy: Some(remedy.into()) }
    }

    /// Returns the problem for a failed operation.
    pub(super) fn failed(name: &'static str, error: &crate::Error) -> Finding {
        Finding { name, health: Health::Problem, text: error.to_string(), remedy: error.hint() }
    }
}

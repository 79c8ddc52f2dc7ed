//! The codes of errors, for programs. A stable interface like the exit codes, and finer than them.

use std::fmt;

use serde::Serialize;

use super::Exit;

/// Defines the codes: the variant, its name, the exit code of a command that ends with it, and its meaning. docs/json.md has the same table.
macro_rules! error_codes {
    ($($code:ident = $name:literal, $exit:ident, $meaning:literal;)*) => {
        /// Why a command failed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ErrorCode {
            $($code,)*
        }

        impl ErrorCode {
            /// Returns the name for programs.
            pub fn name(self) -> &'static str {
                match self {
                    $(ErrorCode::$code => $name,)*
                }
            }

            /// Returns the exit code of a command that ends with this error.
            pub fn exit(self) -> Exit {
                match self {
                    $(ErrorCode::$code => Exit::$exit,)*
                }
            }
        }

        #[cfg(test)]
        const MEANINGS: &[(ErrorCode, &str)] = &[$((ErrorCode::$code, $meaning)),*];
    };
}

error_codes! {
    Usage = "usage", Usage, "a flag, an argument or a setting is wrong";
    Template = "template", Usage, "a mapping template, an export template or a job has mistakes";
    Columns = "columns", Usage, "the sheet lacks a column of the template, or has it twice";
    NoAddress = "no-address", Usage, "no address of the service is set";
    NoTokens = "no-tokens", Usage, "there are no tokens for the service";
    NoSuchRun = "no-such-run", Usage, "the ledger has no such run";
    RunRefused = "run-refused", Usage, "the state of the run, its service or its workspace does not allow the command";
    Exists = "exists", Usage, "a file is there already, and is not replaced";
    Insecure = "insecure", Usage, "other users could read a token or change a file, so it is not used";
    Unreadable = "unreadable", InputRefused, "the file can't be read, or has nothing to read";
    Password = "password", InputRefused, "the file is encrypted, and the password is missing or wrong";
    Changed = "changed", InputRefused, "the file was changed while it was being read, or since its run";
    TooLarge = "too-large", InputRefused, "the file exceeds a limit";
    Credentials = "credentials", Credentials, "the service refused the tokens";
    Forbidden = "forbidden", Credentials, "the tokens do not allow this";
    Busy = "busy", Busy, "another process uses the file or the ledger";
    Unreachable = "unreachable", Stopped, "no connection to the service";
    Untrusted = "untrusted", Stopped, "the certificate of the service is not trusted";
    Proxy = "proxy", Stopped, "the proxy requires credentials";
    WrongAddress = "wrong-address", Stopped, "another service answers, or the service redirects";
    Throttled = "throttled", Stopped, "the service allows no further requests for now";
    Answer = "answer", Stopped, "an answer of the service can't be used";
    Stopped = "stopped", Stopped, "stopped before the end";
    Incomplete = "incomplete", Incomplete, "the export may be incomplete";
    Ledger = "ledger", Fault, "the ledger can't be opened, read or written";
    LedgerDamaged = "ledger-damaged", Fault, "the ledger is damaged";
    LedgerVersion = "ledger-version", Fault, "the ledger was written by another version";
    Local = "local", Fault, "this machine lacks something, such as room on the disk or a permission";
    Internal = "internal", Fault, "an error of Sheetport";
    Interrupted = "interrupted", Interrupted, "stopped by Ctrl-C";
    Terminated = "terminated", Terminated, "stopped by SIGTERM";
}

impl ErrorCode {
    /// Returns the code of a command that a signal has stopped, whose exit code is `exit`.
    pub fn of_signal(exit: Exit) -> ErrorCode {
        if exit == Exit::Terminated { ErrorCode::Terminated } else { ErrorCode::Interrupted }
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "<!-- Generated: SHEETPORT_UPDATE_DOCS=1 cargo test -p sheetport error -->\n";

    #[test]
    fn the_documents_have_the_table() {
        let mut table = "| `code` | exit code | meaning |\n|---|---|---|\n".to_owned();
        for (code, meaning) in MEANINGS {
            table.push_str(&format!("| `{code}` | {} | {meaning} |\n", code.exit() as u8));
        }
        sheetport_testing::generated::assert_tables("docs/json.md", BEGIN, &[table]);
    }

    #[test]
    fn names_are_distinct() {
        for (place, (code, _)) in MEANINGS.iter().enumerate() {
            assert!(MEANINGS[..place].iter().all(|(other, _)| other.name() != code.name()), "{code}");
        }
    }
}

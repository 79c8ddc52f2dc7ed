//! Command lines to print, quoted for the shell.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use sheetport_files::visible::is_invisible;
use sheetport_ledger::RunId;

/// The default profile.
pub const DEFAULT_PROFILE: &str = "default";

/// Settings from the flags of this command. A suggested command needs the same flags.
#[derive(Clone, Debug, Default)]
pub struct Given {
    pub base_url: Option<String>,
    pub profile: Option<String>,
    pub home: Option<PathBuf>,
    /// The address of a ledger server, without a password.
    pub ledger: Option<String>,
    pub ca_file: Option<PathBuf>,
    pub client_cert: Option<PathBuf>,
    pub client_key: Option<PathBuf>,
    /// The address of a proxy, without credentials.
    pub proxy: Option<String>,
    pub insecure_http: bool,
    /// The folder in which a person runs the suggested command. Files in it are named without it. `None` if it is not known, as in the mail of
    /// a job.
    pub here: Option<PathBuf>,
}

/// A command line to print, ready to run by a person or a script: quoted for the shell of the system, with the flags of this
/// command for the address, the profile, the home folder and the connection.
#[derive(Clone, Debug)]
pub struct CommandLine {
    text: String,
    tail: String,
    here: Option<PathBuf>,
}

impl CommandLine {
    /// Starts a command such as `resume`. Leaves out settings from environment variables, which also apply to the new command.
    pub(super) fn of(given: &Given, command: &str) -> CommandLine {
        let mut tail = CommandLine { text: String::new(), tail: String::new(), here: None };
        tail.add_flag("home", given.home.as_ref());
        tail.add_flag("ledger", given.ledger.as_ref());
        tail.add_flag("profile", given.profile.as_ref());
        tail.add_flag("base-url", given.base_url.as_ref());
        tail.add_flag("ca-file", given.ca_file.as_ref());
        tail.add_flag("client-cert", given.client_cert.as_ref());
        tail.add_flag("client-key", given.client_key.as_ref());
        tail.add_flag("proxy", given.proxy.as_ref());
        let tail = tail.switch("insecure-http", given.insecure_http);
        CommandLine { text: format!("sheetport {command}"), tail: tail.text, here: given.here.clone() }
    }

    /// Adds the number of a run.
    pub fn run(mut self, run: RunId) -> CommandLine {
        self.add(&run.to_string());
        self
    }

    /// Adds the path of a file. A name that the command would take for a flag or for the number of a run gets a folder.
    pub fn file(mut self, path: &Path) -> CommandLine {
        let within = self.here.as_deref().and_then(|here| path.strip_prefix(here).ok());
        let text =
            within.filter(|within| !within.as_os_str().is_empty()).unwrap_or(path).to_string_lossy().into_owned();
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_flag = text.starts_with('-') && text != "-";
        match is_number || is_flag {
            true => self.add(&quoted(&format!("./{text}"))),
            false => self.add(&quoted(&text)),
        }
        self
    }

    /// Adds a flag without a value if `is_set`.
    pub fn switch(mut self, name: &str, is_set: bool) -> CommandLine {
        if is_set {
            self.add(&format!("--{name}"));
        }
        self
    }

    /// Adds a flag that can be turned off, if `value` is set.
    pub fn choice(self, name: &str, value: Option<bool>) -> CommandLine {
        match value {
            Some(false) => self.switch(&format!("{name}=false"), true),
            value => self.switch(name, value.is_some()),
        }
    }

    /// Adds a flag with its value, if there is a value.
    pub fn flag(mut self, name: &str, value: Option<impl AsRef<OsStr>>) -> CommandLine {
        self.add_flag(name, value);
        self
    }

    /// Adds a flag and its value as one word, for flags with an optional value.
    pub fn joined(mut self, name: &str, value: &str) -> CommandLine {
        self.add(&format!("--{name}={}", quoted(value)));
        self
    }

    /// Adds `-t` or `-o` with a value.
    pub fn short(mut self, letter: char, long: &str, value: impl AsRef<OsStr>) -> CommandLine {
        let text = value.as_ref().to_string_lossy();
        match text.starts_with('-') {
            true => self.add_flag(long, Some(value)),
            false => self.add(&format!("-{letter} {}", quoted(&text))),
        }
        self
    }

    fn add_flag(&mut self, name: &str, value: Option<impl AsRef<OsStr>>) {
        let Some(value) = value else { return };
        let text = value.as_ref().to_string_lossy();
        // A separate value with a leading hyphen would be parsed as a flag.
        match text.starts_with('-') {
            true => self.add(&format!("--{name}={}", quoted(&text))),
            false => self.add(&format!("--{name} {}", quoted(&text))),
        }
    }

    fn add(&mut self, words: &str) {
        self.text.push(' ');
        self.text.push_str(words);
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.text, self.tail)
    }
}

/// Returns the login command for the service and the profile of a command or run.
fn login(given: &Given, profile: &str) -> String {
    let command = CommandLine::of(given, "login");
    let is_named = given.profile.is_some() || profile.is_empty() || profile == DEFAULT_PROFILE;
    command.flag("profile", Some(profile).filter(|_| !is_named)).to_string()
}

/// Puts the command of [`login`] into a hint.
pub fn with_login(hint: &str, given: &Given, profile: &str) -> String {
    hint.replace("`sheetport login`", &format!("`{}`", login(given, profile)))
}

/// Quotes an argument for the usual shell of the system, to prevent expansion and execution: a POSIX shell, or PowerShell
/// on Windows.
pub fn quoted(text: &str) -> Cow<'_, str> {
    #[cfg(windows)]
    return quoted_for_powershell(text);
    #[cfg(not(windows))]
    return quoted_for_posix(text);
}

/// Whether no shell gives these characters a meaning within a word.
fn is_plain(text: &str, also: &str) -> bool {
    let mut chars = text.chars();
    // zsh expands =word, and a leading hyphen is for the command to judge.
    chars.clone().next().is_some_and(|first| first != '=')
        && chars.all(|c| c.is_alphanumeric() || "-_./:=+".contains(c) || also.contains(c))
}

/// Quotes a word for `sh`.
pub fn quoted_for_posix(text: &str) -> Cow<'_, str> {
    if is_plain(text, ",") {
        Cow::Borrowed(text)
    } else if text.chars().any(|c| c.is_control() || is_invisible(c)) {
        // Control characters would be invisible or affect the terminal, so they are written in octal.
        let octal = |byte: u8| match byte {
            b' '..=b'~' if !b"'\\%".contains(&byte) => char::from(byte).to_string(),
            byte => format!("\\{byte:03o}"),
        };
        Cow::Owned(format!("\"$(printf '{}')\"", text.bytes().map(octal).collect::<String>()))
    } else {
        Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
    }
}

#[cfg(any(windows, test))]
fn quoted_for_powershell(text: &str) -> Cow<'_, str> {
    /// PowerShell takes typographic apostrophes for quotes.
    const QUOTES: [char; 5] = ['\'', '\u{2018}', '\u{2019}', '\u{201A}', '\u{201B}'];
    if is_plain(text, "\\") {
        return Cow::Borrowed(text);
    }
    let doubled = text.chars().flat_map(|c| std::iter::repeat_n(c, if QUOTES.contains(&c) { 2 } else { 1 }));
    Cow::Owned(format!("'{}'", doubled.collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::{quoted_for_posix, quoted_for_powershell};

    #[test]
    fn arguments_are_quoted_so_that_a_posix_shell_executes_no_part_of_them() {
        for (text, word) in [
            ("prices.csv", "prices.csv"),
            ("my prices.csv", "'my prices.csv'"),
            ("$(rm)`x`\"", "'$(rm)`x`\"'"),
            ("it's", r"'it'\''s'"),
            ("~root", "'~root'"),
            ("=ls", "'=ls'"),
            ("a\\b", r"'a\b'"),
            ("a\nb'c%", r#""$(printf 'a\012b\047c\045')""#),
            ("a\u{202E}b", r#""$(printf 'a\342\200\256b')""#),
            ("", "''"),
        ] {
            assert_eq!(quoted_for_posix(text), word);
        }
    }

    #[test]
    fn arguments_are_quoted_so_that_powershell_executes_no_part_of_them() {
        for (text, word) in [
            (r"C:\data\prices.csv", r"C:\data\prices.csv"),
            ("my prices.csv", "'my prices.csv'"),
            ("a,b", "'a,b'"),
            ("$(rm)`x`", "'$(rm)`x`'"),
            ("it's", "'it''s'"),
            ("it\u{2019}s here", "'it\u{2019}\u{2019}s here'"),
            ("@args", "'@args'"),
            ("", "''"),
        ] {
            assert_eq!(quoted_for_powershell(text), word);
        }
    }
}

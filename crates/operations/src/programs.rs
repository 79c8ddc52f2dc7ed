//! Starting other programs: what they inherit of the environment. Tokens, passwords of databases, keys of clouds and proxies stay in this
//! process. The process that reads workbooks inherits nothing at all, and has its own place in `sheet`.

use std::ffi::{OsStr, OsString};
use std::process::Command;

/// What a program of the system, such as a browser, needs to know of its user, the desktop and the language.
const KNOWN: &[&str] = &[
    "BROWSER",
    "COLORTERM",
    "DBUS_SESSION_BUS_ADDRESS",
    "DESKTOP_SESSION",
    "DISPLAY",
    "GNOME_DESKTOP_SESSION_ID",
    "HOME",
    "ICEAUTHORITY",
    "KDE_FULL_SESSION",
    "KDE_SESSION_UID",
    "KDE_SESSION_VERSION",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "MAIL",
    "PATH",
    "PWD",
    "SESSION_MANAGER",
    "SHELL",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    // Without these, a browser does not come up under WSL, in an editor's terminal on another machine, or on NixOS.
    "NIXOS_OZONE_WL",
    "VSCODE_IPC_HOOK_CLI",
    "WSLENV",
    "WSL_DISTRO_NAME",
    "WSL_INTEROP",
    // Windows
    "ALLUSERSPROFILE",
    "APPDATA",
    "COMMONPROGRAMFILES",
    "COMPUTERNAME",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "LOGONSERVER",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "PUBLIC",
    "SESSIONNAME",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "USERDOMAIN",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];
/// Beginnings of names with the same meaning as [`KNOWN`].
const KNOWN_BEGINNINGS: &[&str] = &["LC_", "XDG_"];

/// Beginnings of the names of our own settings, and of those of databases and clouds that we read, too.
const SECRET_BEGINNINGS: &[&str] =
    &["SHEETPORT_", "PG", "AWS_", "AZURE_", "GOOGLE_", "GCLOUD_", "GCP_", "CLOUDSDK_", "OTEL_"];
/// Parts of names of variables that hold a secret.
const SECRET_PARTS: &[&str] =
    &["TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "CREDENTIAL", "API_KEY", "APIKEY"];

/// Returns a program of the system, such as a browser or a scheduler, which inherits the display, the language and the folders of the
/// user, and nothing else.
pub fn of_system(program: &str) -> Command {
    command(program, |name, _| is_known(name))
}

/// Returns a program that the user named, which inherits everything but secrets and our settings.
pub fn of_user(program: &str) -> Command {
    command(program, |name, value| !is_secret(name, value))
}

fn command(program: &str, inherits: impl Fn(&str, &OsStr) -> bool) -> Command {
    let mut command = Command::new(program);
    let inherited = std::env::vars_os().filter(|(name, value)| name.to_str().is_some_and(|name| inherits(name, value)));
    let inherited: Vec<(OsString, OsString)> = inherited.collect();
    command.env_clear().envs(inherited);
    command
}

/// Names have no case on Windows.
fn is_known(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    KNOWN.contains(&name.as_str()) || KNOWN_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

fn is_secret(name: &str, value: &OsStr) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || SECRET_PARTS.iter().any(|part| name.contains(part))
        // The address of a proxy, or of any other server, can contain a password.
        || value.to_string_lossy().split_once("://").is_some_and(|(_, rest)| rest.split('/').next().is_some_and(|host| host.contains('@')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_the_system_inherit_the_display_and_no_secret() {
        for name in ["PATH", "Path", "HOME", "DISPLAY", "WAYLAND_DISPLAY", "LC_ALL", "XDG_RUNTIME_DIR", "SystemRoot"] {
            assert!(is_known(name), "{name}");
        }
        for name in [
            "SHEETPORT_ACCESS_TOKEN",
            "SHEETPORT_HOME",
            "PGPASSWORD",
            "PGHOST",
            "AWS_SECRET_ACCESS_KEY",
            "AZURE_STORAGE_KEY",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "HTTPS_PROXY",
            "https_proxy",
            "ALL_PROXY",
            "NO_PROXY",
            "GITHUB_TOKEN",
            "SSH_AUTH_SOCK",
            "LD_PRELOAD",
            "ANYTHING",
        ] {
            assert!(!is_known(name), "{name}");
        }
    }

    #[test]
    fn programs_of_the_user_inherit_no_secret() {
        for (name, value, expected) in [
            ("SHEETPORT_ACCESS_TOKEN", "x", true),
            ("SHEETPORT_LEDGER", "x", true),
            ("PGPASSWORD", "x", true),
            ("AWS_SESSION_TOKEN", "x", true),
            ("Smtp_Password", "x", true),
            ("HTTPS_PROXY", "http://me:secret@proxy.example:3128", true),
            ("DATABASE_URL", "postgres://me:secret@db.example/a", true),
            ("HTTPS_PROXY", "http://proxy.example:3128", false),
            ("PAGE", "https://example.com/a@b", false),
            ("PATH", "/bin", false),
            ("CHANNEL", "ops", false),
        ] {
            assert_eq!(is_secret(name, OsStr::new(value)), expected, "{name} {value}");
        }
    }
}

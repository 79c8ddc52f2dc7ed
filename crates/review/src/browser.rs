//! Starts the browser of the desktop.
//!
//! Every user of a machine sees the arguments of all processes, so the browser is started with a private file that leads to the page.
//! Some browsers can't read such a file: those in a sandbox of their own, and those on another machine. They are started with the
//! address without its token, and the page asks for the code on the terminal.

use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use sheetport_operations::programs;

use super::Server;

/// Maximum time to find out which program opens a kind of file. It usually takes 50 ms.
const PATIENCE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(5);

/// How the page was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// The browser has got in, or will.
    ByFile,
    /// A person has to type the code.
    ByCode,
    No,
}

/// Opens the page in the browser of the desktop.
pub fn open(server: &Server) -> Opened {
    if reads_our_files()
        && let Ok(path) = server.opener()
    {
        return if start(path.as_os_str()) { Opened::ByFile } else { Opened::No };
    }
    if start(server.public_address().as_ref()) { Opened::ByCode } else { Opened::No }
}

/// Starts the program that opens files and addresses, without waiting for it.
fn start(what: &std::ffi::OsStr) -> bool {
    let (program, first): (_, &[&str]) = match () {
        () if cfg!(target_os = "macos") => ("open", &[]),
        () if cfg!(windows) => ("rundll32", &["url.dll,FileProtocolHandler"]),
        () => ("xdg-open", &[]),
    };
    let mut command = programs::of_system(program);
    command.args(first).arg(what).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}

/// What is known of this session and its browser.
#[derive(Debug, Default)]
struct Session {
    /// The person sits at another machine, or the browser runs in another system than this program.
    is_elsewhere: bool,
    /// The files of desktop entries that start the browser for addresses and for web pages on disk, such as `firefox.desktop`. Empty if
    /// unknown.
    for_addresses: String,
    for_files: String,
    /// The variable `BROWSER`.
    chosen: String,
    /// Whether the desktop entry is of a sandbox.
    is_packaged: bool,
}

/// Returns whether the browser is likely to read a file that only this user can read.
fn reads_our_files() -> bool {
    // Browsers of these systems read files of their user.
    cfg!(any(windows, target_os = "macos")) || session().reads_our_files()
}

impl Session {
    fn reads_our_files(&self) -> bool {
        let runs_in_sandbox =
            self.is_packaged || ["/snap/", "flatpak"].iter().any(|sandbox| self.chosen.contains(sandbox));
        // An editor that opens web pages on disk does not follow the redirect.
        !self.is_elsewhere && !runs_in_sandbox && self.for_files == self.for_addresses
    }
}

fn session() -> Session {
    /// Variables of a session on another machine, in another system, or in a sandbox with a folder of its own for temporary files.
    const ELSEWHERE: [&str; 8] = [
        "SSH_CONNECTION",
        "WSL_DISTRO_NAME",
        "VSCODE_IPC_HOOK_CLI",
        "REMOTE_CONTAINERS",
        "CODESPACES",
        "SNAP",
        "FLATPAK_ID",
        "CRD_SESSION_ID",
    ];
    let is_elsewhere = ELSEWHERE.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if is_elsewhere {
        return Session { is_elsewhere, ..Session::default() };
    }
    let for_addresses = handler_of("x-scheme-handler/http");
    Session {
        is_elsewhere,
        for_files: handler_of("text/html"),
        chosen: std::env::var("BROWSER").unwrap_or_default(),
        is_packaged: is_packaged(&for_addresses),
        for_addresses,
    }
}

/// Returns the name of the desktop entry for a media type, or an empty text if it can't be found.
fn handler_of(kind: &str) -> String {
    let mut command = programs::of_system("xdg-mime");
    command.args(["query", "default", kind]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut process) = command.spawn() else { return String::new() };
    let end = Instant::now() + PATIENCE;
    while matches!(process.try_wait(), Ok(None)) {
        if Instant::now() > end {
            let _ = process.kill();
        }
        std::thread::sleep(POLL);
    }
    let mut answer = String::new();
    // A desktop without an answer is one without known handlers.
    let _ = process.stdout.take().map(|mut output| output.read_to_string(&mut answer));
    answer.trim().to_owned()
}

/// Returns whether a desktop entry starts a program of Snap or Flatpak.
fn is_packaged(entry: &str) -> bool {
    let plain = Path::new(entry).file_name().is_some_and(|name| name == entry);
    let own = std::env::home_dir().map(|home| home.join(".local/share/flatpak/exports/share/applications"));
    let folders = ["/var/lib/snapd/desktop/applications", "/var/lib/flatpak/exports/share/applications"];
    plain
        && folders
            .iter()
            .map(|folder| Path::new(folder).to_owned())
            .chain(own)
            .any(|folder| folder.join(entry).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_that_can_not_read_a_private_file_are_recognized() {
        let usual = || Session {
            for_addresses: "firefox.desktop".into(),
            for_files: "firefox.desktop".into(),
            ..Session::default()
        };
        for (session, reads) in [
            (usual(), true),
            (Session::default(), true),
            (Session { is_elsewhere: true, ..usual() }, false),
            (Session { for_files: "editor.desktop".into(), ..usual() }, false),
            (Session { is_packaged: true, ..usual() }, false),
            (Session { chosen: "/snap/bin/firefox".into(), ..usual() }, false),
            (Session { chosen: "flatpak run org.mozilla.firefox".into(), ..usual() }, false),
            (Session { chosen: "/usr/bin/firefox".into(), ..usual() }, true),
        ] {
            assert_eq!(session.reads_our_files(), reads, "{session:?}");
        }
    }
}

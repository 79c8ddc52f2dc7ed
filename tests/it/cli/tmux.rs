//! A terminal for the tests of what people see and type: tmux.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::process::{Place, until};
use crate::environment;

/// Printed after the command.
const END: &str = "that-is-all";

/// A terminal in which a command of Sheetport runs. Ended on drop.
pub struct Terminal {
    socket: PathBuf,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.tmux(&["kill-server"]).output();
    }
}

impl Terminal {
    /// Starts a command in a terminal of this width. Returns `None` with a message if tmux is not installed.
    pub fn open(place: &Place, columns: u16, variables: &[(&str, &str)], words: &str) -> Option<Terminal> {
        if Command::new("tmux").arg("-V").output().is_err() {
            environment::report_missing("tmux");
            return None;
        }
        // The server of an earlier terminal may still be ending.
        static TERMINALS: AtomicU32 = AtomicU32::new(0);
        let socket = place.path(&format!("terminal-{}", TERMINALS.fetch_add(1, Ordering::Relaxed)));
        let line = format!("{} {words}; echo {END}; exec sleep 600", env!("CARGO_BIN_EXE_sheetport"));
        let size = columns.to_string();
        let new =
            ["-S", socket.to_str().unwrap(), "-f", "/dev/null", "new-session", "-d", "-x", &size, "-y", "200", &line];
        let start = place.command("tmux", new);
        variables.iter().fold(start, |start, (name, value)| start.env(name, value)).exits(0);
        Some(Terminal { socket })
    }

    /// Returns the screen, with the lines as they were written: -J joins wrapped ones.
    pub fn screen(&self) -> String {
        String::from_utf8(self.tmux(&["capture-pane", "-p", "-J"]).output().unwrap().stdout).unwrap()
    }

    /// Waits for a text on the screen, `times` times.
    pub fn wait_for(&self, text: &str, times: usize) {
        until(&format!("'{text}' on the screen"), || (self.screen().matches(text).count() >= times).then_some(()));
    }

    /// Types a line and presses Enter.
    pub fn enter(&self, line: &str) {
        for keys in [&["send-keys", "-l", "--", line][..], &["send-keys", "Enter"]] {
            assert!(self.tmux(keys).status().unwrap().success(), "{keys:?}");
        }
    }

    /// Waits for the end of the command. Returns its lines.
    pub fn lines_at_end(&self) -> Vec<String> {
        let screen = until("the end of the command", || {
            let screen = self.screen();
            screen.lines().any(|line| line.trim() == END).then_some(screen)
        });
        screen.lines().map(|line| line.trim_end().to_owned()).take_while(|line| line != END).collect()
    }

    fn tmux(&self, args: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).args(args);
        command
    }
}

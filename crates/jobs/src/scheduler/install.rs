//! Adds a job to the scheduler of the system, and removes it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use sheetport_operations::error::Error;
use sheetport_operations::programs;
use sheetport_sheet::write::{Existing, WholeFile};

use super::entry::{Entry, Scheduler};

/// The changes made, in words, and the steps left to the user.
#[derive(Debug, Default)]
pub struct Installed {
    pub changed: Vec<String>,
    pub remaining: Vec<String>,
}

/// Enters a job into the scheduler of this user. An earlier entry of the same name is replaced.
///
/// # Errors
/// If the scheduler is missing or refuses the entry.
pub fn install(entry: &Entry, scheduler: Scheduler) -> Result<Installed, Error> {
    match scheduler {
        Scheduler::Cron => crontab(entry, true),
        Scheduler::Systemd => systemd(entry),
        Scheduler::Launchd => launchd(entry),
        Scheduler::Windows => windows(entry),
    }
}

/// Removes a job from the scheduler of this user.
///
/// # Errors
/// If the scheduler is missing or refuses.
pub fn uninstall(entry: &Entry, scheduler: Scheduler) -> Result<Installed, Error> {
    match scheduler {
        Scheduler::Cron => crontab(entry, false),
        Scheduler::Systemd => {
            run("systemctl", &["--user", "disable", "--now", &format!("{}.timer", entry.name)], None)?;
            let removed = remove_files(entry, scheduler, &systemd_folder()?)?;
            run("systemctl", &["--user", "daemon-reload"], None)?;
            Ok(Installed { changed: removed, remaining: Vec::new() })
        }
        Scheduler::Launchd => {
            let label = format!("gui/{}/{}", user_number(), entry.launchd_label());
            run("launchctl", &["bootout", &label], None)?;
            Ok(Installed { changed: remove_files(entry, scheduler, &agents_folder()?)?, remaining: Vec::new() })
        }
        Scheduler::Windows => {
            run("schtasks", &["/Delete", "/TN", &entry.name, "/F"], None)?;
            Ok(Installed { changed: vec![format!("removed the task {}", entry.name)], remaining: Vec::new() })
        }
    }
}

/// Replaces or removes the lines of the job in the crontab of this user. All other lines stay unchanged.
fn crontab(entry: &Entry, is_wanted: bool) -> Result<Installed, Error> {
    let before = run("crontab", &["-l"], None).or_else(|error| match error {
        Error::Local { ref message, .. } if says_no_crontab(message) => Ok(String::new()),
        // Installing a crontab would delete existing entries that could not be read.
        error => Err(error),
    })?;
    let mark = entry.cron_mark();
    let mut lines = before.lines();
    let mut kept = String::new();
    while let Some(line) = lines.next() {
        if line.trim_end() == mark {
            lines.next();
        } else {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    if is_wanted {
        kept.push_str(&entry.files(Scheduler::Cron).remove(0).text);
    }
    run("crontab", &["-"], Some(&kept))?;
    let changed = if is_wanted { "entered into your crontab" } else { "removed from your crontab" };
    let note = "cron does not make up for runs while the machine was off; systemd timers do";
    let remaining = if is_wanted { vec![note.to_owned()] } else { Vec::new() };
    Ok(Installed { changed: vec![changed.to_owned()], remaining })
}

/// Returns whether `crontab -l` failed because this user has no crontab yet. Knows the messages of Vixie cron, its derivatives
/// and BusyBox.
fn says_no_crontab(message: &str) -> bool {
    message.contains("no crontab") || message.contains("can't open '") && message.contains("No such file or directory")
}

fn systemd(entry: &Entry) -> Result<Installed, Error> {
    let changed = write_files(entry, Scheduler::Systemd, &systemd_folder()?)?;
    run("systemctl", &["--user", "daemon-reload"], None)?;
    let timer = format!("{}.timer", entry.name);
    run("systemctl", &["--user", "enable", "--now", &timer], None)?;
    let linger = "to run while you are not logged in: loginctl enable-linger".to_owned();
    Ok(Installed { changed, remaining: vec![linger, format!("to see when: systemctl --user list-timers {timer}")] })
}

fn launchd(entry: &Entry) -> Result<Installed, Error> {
    let folder = agents_folder()?;
    let changed = write_files(entry, Scheduler::Launchd, &folder)?;
    let target = format!("gui/{}", user_number());
    // An older entry with this name may be loaded.
    let _ = run("launchctl", &["bootout", &format!("{target}/{}", entry.launchd_label())], None);
    let path = folder.join(format!("{}.plist", entry.launchd_label()));
    run("launchctl", &["bootstrap", &target, &path.display().to_string()], None)?;
    Ok(Installed { changed, remaining: Vec::new() })
}

fn windows(entry: &Entry) -> Result<Installed, Error> {
    let text = entry.files(Scheduler::Windows).remove(0).text;
    // The scheduler reads UTF-16 only.
    let bytes: Vec<u8> = std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let file = tempfile::Builder::new().suffix(".xml").tempfile().and_then(|mut file| {
        file.write_all(&bytes)?;
        Ok(file.into_temp_path())
    });
    let file = file.map_err(|error| Error::no_temporary_files(&error))?;
    run("schtasks", &["/Create", "/TN", &entry.name, "/XML", &file.display().to_string(), "/F"], None)?;
    let remaining = "it runs while you are logged in; to change that, open the task in the Task Scheduler".to_owned();
    Ok(Installed { changed: vec![format!("created the task {}", entry.name)], remaining: vec![remaining] })
}

fn write_files(entry: &Entry, scheduler: Scheduler, folder: &Path) -> Result<Vec<String>, Error> {
    let mut written = Vec::new();
    for file in entry.files(scheduler) {
        let path = folder.join(file.name);
        let unwritable = |error: &std::io::Error| Error::Local {
            message: format!("{} can't be written: {error}", path.display()),
            hint: "check the permissions of the folder".to_owned(),
        };
        std::fs::create_dir_all(folder).map_err(|error| unwritable(&error))?;
        let mut whole = WholeFile::create(&path, Existing::Replace)?;
        whole.write_all(file.text.as_bytes()).map_err(|error| unwritable(&error))?;
        whole.finish()?;
        written.push(format!("wrote {}", path.display()));
    }
    Ok(written)
}

fn remove_files(entry: &Entry, scheduler: Scheduler, folder: &Path) -> Result<Vec<String>, Error> {
    let mut removed = Vec::new();
    for file in entry.files(scheduler) {
        let path = folder.join(file.name);
        match std::fs::remove_file(&path) {
            Ok(()) => removed.push(format!("removed {}", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                let message = format!("{} can't be removed: {error}", path.display());
                return Err(Error::Local { message, hint: "check the permissions of the folder".to_owned() });
            }
        }
    }
    Ok(removed)
}

fn systemd_folder() -> Result<PathBuf, Error> {
    let configured = std::env::var_os("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    configured.map_or_else(|| Ok(home()?.join(".config")), Ok).map(|folder| folder.join("systemd/user"))
}

fn agents_folder() -> Result<PathBuf, Error> {
    Ok(home()?.join("Library/LaunchAgents"))
}

fn home() -> Result<PathBuf, Error> {
    let dirs = directories::BaseDirs::new();
    dirs.map(|dirs| dirs.home_dir().to_owned()).ok_or_else(|| Error::Local {
        message: "this user has no home folder".to_owned(),
        hint: "set HOME, or enter the printed lines by hand".to_owned(),
    })
}

#[cfg(unix)]
fn user_number() -> u32 {
    rustix::process::getuid().as_raw()
}

#[cfg(not(unix))]
fn user_number() -> u32 {
    0
}

/// Runs a system program and returns its output.
fn run(program: &str, arguments: &[&str], input: Option<&str>) -> Result<String, Error> {
    let hint = || "enter the printed lines by hand, or choose another scheduler with --for".to_owned();
    let mut command = programs::of_system(program);
    command.args(arguments).stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = command.spawn().and_then(|mut child| {
        let written = match (child.stdin.take(), input) {
            (Some(mut stdin), Some(input)) => stdin.write_all(input.as_bytes()),
            _ => Ok(()),
        };
        let output = child.wait_with_output()?;
        // A failing program may exit before it has read its input; its own message is more useful than the broken pipe.
        if output.status.success() { written.map(|()| output) } else { Ok(output) }
    });
    let output = ended
        .map_err(|error| Error::Local { message: format!("{program} can't be started: {error}"), hint: hint() })?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let reason = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
            let message = format!("{program} {} failed: {reason}", arguments.join(" "));
            Err(Error::Local { message, hint: hint() })
        }
    }
}

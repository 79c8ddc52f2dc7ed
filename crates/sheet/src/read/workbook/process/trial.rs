//! Trial of the protections of the reading process: a process with the same limits and containment attempts the operations of a
//! hostile workbook, and reports which of them the kernel allowed.

use std::io;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::program::{TRIAL, program};

/// The protections of the reading process on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protections {
    /// The version of Landlock in the kernel, or `None` if Landlock does not restrict the process.
    pub landlock: Option<i32>,
    /// Whether the kernel filters system calls.
    pub seccomp: bool,
    pub no_new_privileges: bool,
    /// Number of files that the process could open before its containment, beside the standard streams.
    pub further_files: usize,
    /// The attempts and their results.
    pub attempts: Vec<Attempt>,
}

/// An operation forbidden to a reading process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The operation, such as `open another file`.
    pub what: String,
    /// The protection: `landlock`, `seccomp` or `limits`.
    pub by: String,
    /// Whether the system refused the operation for lack of permission, or because of a limit.
    pub is_refused: bool,
}

impl Protections {
    /// Returns the operations that were allowed.
    pub fn gaps(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(|attempt| !attempt.is_refused)
    }
}

/// Starts a process with the protections of a reading process, and lets it attempt all forbidden operations.
///
/// # Errors
/// If the process can't be started, or ends without a result.
pub fn try_protections() -> io::Result<Protections> {
    let Some(program) = program() else {
        return Err(io::Error::other("this program has not registered itself for reading workbooks"));
    };
    let mut command = Command::new(program);
    command.arg(TRIAL).env_clear().envs(std::env::var_os("SystemRoot").map(|root| ("SystemRoot", root)));
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output()?;
    serde_json::from_slice(&output.stdout).map_err(|_| io::Error::other("the process ended without a result"))
}

#[cfg(target_os = "linux")]
pub(super) use self::linux::attempt_everything;

/// On other systems, only the limits protect.
#[cfg(not(target_os = "linux"))]
pub(super) fn attempt_everything() -> Protections {
    Protections::default()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, File};
    use std::io::{self, ErrorKind, Read as _, Seek as _};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixDatagram;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;
    use std::sync::Arc;
    use std::thread;

    use super::super::{containment, limits};
    use super::{Attempt, Protections};

    /// A file that every process can read.
    const READABLE: &str = "/proc/self/exe";
    /// Beyond any limit.
    const MANY: usize = 1000;

    /// Enters the limits and containment of a reading process, and attempts the forbidden operations.
    pub(crate) fn attempt_everything() -> Protections {
        let meter = limits::enforce();
        let Ok(mut status) = File::open("/proc/thread-self/status") else { return Protections::default() };
        let mut attempts = Vec::new();
        let mut attempt = |by: &str, what: &str, result: io::Result<()>| {
            let is_refused = result.is_err_and(|error| is_refusal(&error));
            attempts.push(Attempt { what: what.to_owned(), by: by.to_owned(), is_refused });
        };
        limits::limit_descriptors();
        let (files, exceeded) = open_many();
        let further_files = files.len();
        drop(files);
        attempt("limits", "open a 17th file", exceeded);

        let parent = rustix::process::getppid();
        let nowhere = std::env::temp_dir().join(format!("sheetport-{}", std::process::id()));
        let landlock = containment::deny_paths();
        if landlock.is_some() {
            attempt("landlock", "open another file", File::open(READABLE).map(drop));
            attempt("landlock", "list a folder", fs::read_dir("/").map(drop));
            attempt("landlock", "write a new file", File::create(&nowhere).map(drop));
        }
        let seccomp = containment::deny_calls();
        limits::watch(meter, Arc::default());
        let calls: [(&str, io::Result<()>); 15] = [
            ("open another file by a system call", File::open(READABLE).map(drop)),
            ("write a new file by a system call", File::create(&nowhere).map(drop)),
            ("see whether a file exists", fs::symlink_metadata(READABLE).map(drop)),
            ("signal another process", signal(parent)),
            ("delete a file", fs::remove_file(&nowhere)),
            ("rename a file", fs::rename(&nowhere, nowhere.with_extension("new"))),
            ("create a folder", fs::create_dir(&nowhere)),
            ("create a link", symlink("/", &nowhere)),
            ("connect to a service", TcpStream::connect("127.0.0.1:9").map(drop)),
            ("listen for connections", TcpListener::bind("127.0.0.1:0").map(drop)),
            ("send over UDP", UdpSocket::bind("127.0.0.1:0").map(drop)),
            ("open a local socket", UnixDatagram::unbound().map(drop)),
            ("start a process", Command::new(READABLE).arg("--version").spawn().map(drop)),
            ("run another program", Err(Command::new(READABLE).arg("--version").exec())),
            ("duplicate a descriptor", status.try_clone().map(drop)),
        ];
        for (what, result) in calls {
            attempt("seccomp", what, result);
        }
        let mut text = String::new();
        let is_read = status.rewind().and_then(|()| status.read_to_string(&mut text)).is_ok();
        let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        // Operations required for reading must work: open files, memory and threads.
        let works = thread::Builder::new().spawn(|| vec![1_u8; 16 << 20].len()).map(|thread| thread.join().is_ok());
        let works = if is_read && works.unwrap_or(false) { Err(ErrorKind::PermissionDenied.into()) } else { Ok(()) };
        attempt("seccomp", "keep the process from reading", works);
        Protections {
            landlock,
            seccomp: seccomp && value("Seccomp:") == Some("2"),
            no_new_privileges: value("NoNewPrivs:") == Some("1"),
            further_files,
            attempts,
        }
    }

    /// Sends signal 0 to a process. It has no effect.
    fn signal(process: Option<rustix::process::Pid>) -> io::Result<()> {
        Ok(rustix::process::test_kill_process(process.ok_or(ErrorKind::NotFound)?)?)
    }

    fn is_refusal(error: &io::Error) -> bool {
        error.kind() == ErrorKind::PermissionDenied || error.raw_os_error() == Some(libc::EMFILE)
    }

    /// Opens files until the limit is reached.
    fn open_many() -> (Vec<File>, io::Result<()>) {
        let mut files = Vec::new();
        for _ in 0..MANY {
            match File::open(READABLE) {
                Ok(file) => files.push(file),
                Err(error) => return (files, Err(error)),
            }
        }
        (files, Ok(()))
    }
}

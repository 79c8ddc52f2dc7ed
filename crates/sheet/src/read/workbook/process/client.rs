//! Starts the reading process, sends it commands and receives its frames.
//!
//! The process is this program, started with a hidden first argument, an empty environment and separate limits. If the running
//! program is not registered (tests, other programs using this library), a thread reads the workbook instead, without
//! containment.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write, pipe};
use std::path::Path;
use std::process::{Child, Command as Program, ExitCode, Stdio};
use std::sync::Arc;
use std::thread;

use super::ended::cause;
use super::program::{FLAG, TRIAL, program, read_workbooks_with};
use super::server::{Frames, send_fault, serve};
use super::trial::attempt_everything;
use super::{containment, limits};
use crate::PrivateFile;
use crate::read::workbook::activity::Activity;
use crate::read::workbook::fault::Fault;
use crate::read::workbook::formats::Source;
use crate::read::workbook::protocol::{self, Command, Kind, Request, SheetEntry};

/// Must be the first call in `main`. In a reading process, reads the workbook and returns the exit code. Otherwise
/// registers the running program for reading workbooks and returns `None`.
pub fn run_reader_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let first = args.next();
    if first.as_ref().is_some_and(|arg| arg == TRIAL) {
        let sent = serde_json::to_writer(io::stdout().lock(), &attempt_everything());
        return Some(if sent.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    if first.is_none_or(|arg| arg != FLAG) {
        // On Linux, this names the running program even after its file was replaced.
        let running = Path::new("/proc/self/exe");
        if cfg!(target_os = "linux") && running.exists() {
            read_workbooks_with(running.to_owned());
        } else if let Ok(running) = std::env::current_exe() {
            read_workbooks_with(running);
        }
        return None;
    }
    let mut commands = io::stdin();
    let (Some(path), Some(request)) = (args.next(), protocol::receive(&mut commands)) else {
        return Some(ExitCode::from(2));
    };
    // Errors are sent as frames; panic messages would add nothing.
    std::panic::set_hook(Box::new(|_| {}));
    let activity = Arc::new(Activity::default());
    let meter = limits::enforce();
    let output = io::stdout().lock();
    let watched = Arc::clone(&activity);
    let contain = move || {
        // Must come before any thread: threads already running would not be contained.
        limits::limit_descriptors();
        containment::enter();
        limits::watch(meter, watched);
    };
    serve_file(Path::new(&path), &request, commands, output, activity, contain, || std::process::exit(0));
    Some(ExitCode::SUCCESS)
}

/// A connection to a reading process with an open workbook.
pub(crate) struct Connection {
    commands: Box<dyn Write + Send>,
    frames: Box<dyn Read + Send>,
    process: Option<Child>,
    /// Body of the last frame.
    pub body: Vec<u8>,
    reading: u32,
}

impl Connection {
    /// Starts a process and returns the names of the workbook's sheets.
    pub(crate) fn open(path: &Path, request: &Request) -> Result<(Connection, Vec<SheetEntry>), Fault> {
        let start = |error: io::Error| Fault::new(format!("its reading process cannot be started: {error}"));
        let mut connection = match program() {
            Some(program) => start_process(program, path, request).map_err(start)?,
            None => start_thread(path, request).map_err(start)?,
        };
        match connection.next()? {
            Kind::Opened => {
                let sheets = serde_json::from_slice(&connection.body).map_err(|_| Fault::malformed())?;
                Ok((connection, sheets))
            }
            _ => Err(Fault::malformed()),
        }
    }

    /// Requests the rows of a sheet. [`Connection::next`] returns them.
    pub(crate) fn read(&mut self, sheet: usize) -> Result<(), Fault> {
        self.reading += 1;
        let sheet = u32::try_from(sheet).expect("sheets are counted in memory");
        let sent = protocol::send(&mut self.commands, &Command::Read { reading: self.reading, sheet });
        sent.map_err(|error| self.cause_of_death(&error))
    }

    /// Receives the next frame.
    ///
    /// # Errors
    /// The reported fault, or the cause of the process's death.
    pub(crate) fn next(&mut self) -> Result<Kind, Fault> {
        match protocol::read(&mut self.frames, &mut self.body) {
            Ok(Kind::Fault) => Err(match serde_json::from_slice::<Fault>(&self.body) {
                Ok(fault) => Fault { reason: one_line(&fault.reason), ..fault },
                Err(_) => Fault::malformed(),
            }),
            Ok(kind) => Ok(kind),
            Err(error) => Err(self.cause_of_death(&error)),
        }
    }

    /// Stops the reading. Returns true if the process is ready for another reading.
    pub(crate) fn stop(&mut self) -> bool {
        if protocol::send(&mut self.commands, &Command::Stop { reading: self.reading }).is_err() {
            return false;
        }
        loop {
            match self.next() {
                Ok(Kind::Rows) => {}
                Ok(Kind::End) => return true,
                Ok(_) | Err(_) => return false,
            }
        }
    }

    /// Returns why the process ended, or that it sent invalid data.
    fn cause_of_death(&mut self, error: &io::Error) -> Fault {
        let has_output = error.kind() == io::ErrorKind::InvalidData;
        self.process.as_mut().map_or_else(Fault::malformed, |process| cause(process, has_output))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn start_process(program: &Path, path: &Path, request: &Request) -> io::Result<Connection> {
    let mut command = Program::new(program);
    command.arg(FLAG).arg(PrivateFile::path_for_others(path));
    // The process needs no environment, except for this variable on Windows.
    command.env_clear().envs(std::env::var_os("SystemRoot").map(|root| ("SystemRoot", root)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // Ctrl-C at the terminal must reach only the parent process.
        command.process_group(0);
    }
    let mut process = command.spawn()?;
    let (Some(commands), Some(frames)) = (process.stdin.take(), process.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    // Room for several batches. A smaller pipe only reduces parallelism.
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(&frames, 4 * protocol::BATCH);
    let (mut commands, frames) = (Box::new(commands), Box::new(frames));
    // If the process has already ended, the missing response will show it.
    let _ = protocol::send(&mut commands, request);
    Ok(Connection { commands, frames, process: Some(process), body: Vec::new(), reading: 0 })
}

fn start_thread(path: &Path, request: &Request) -> io::Result<Connection> {
    let (command_input, commands) = pipe()?;
    let (frames, output) = pipe()?;
    let (path, request) = (path.to_owned(), request.clone());
    thread::Builder::new().name("workbook".to_owned()).spawn(move || {
        serve_file(&path, &request, command_input, output, Arc::default(), || {}, || {});
    })?;
    let (commands, frames) = (Box::new(commands), Box::new(frames));
    Ok(Connection { commands, frames, process: None, body: Vec::new(), reading: 0 })
}

/// Opens a file and serves it. Calls `on_open` once the file is open.
fn serve_file(
    path: &Path,
    request: &Request,
    commands: impl Read + Send + 'static,
    output: impl Write,
    activity: Arc<Activity>,
    on_open: impl FnOnce(),
    on_close: fn(),
) {
    let file = File::open(path).map(|file| Source::file(file, &activity));
    on_open();
    let mut frames = Frames { output, activity };
    match file {
        Ok(file) => drop(serve(&file, request, commands, &mut frames, on_close)),
        Err(error) => drop(send_fault(&mut frames, &Fault::new(error.to_string()))),
    }
}

/// Escapes and shortens a reason, which may quote the workbook.
fn one_line(reason: &str) -> String {
    const MAX_LEN: usize = 300;
    let mut line = String::new();
    for c in reason.chars() {
        if line.len() >= MAX_LEN {
            line.push('…');
            break;
        }
        let _ = if c.is_control() { write!(line, "{}", c.escape_default()) } else { write!(line, "{c}") };
    }
    line
}

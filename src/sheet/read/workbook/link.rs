//! The asking side of a workbook's reader: starts it, and puts what becomes of it into words.
//!
//! The reader is this program once more, started with a hidden first argument, without this process's environment and
//! with limits of its own. Where the running program has not said that it can be started so (a test, another program
//! that uses this library), the reader is a thread of this process, and nothing contains it.

use std::fmt::Write as _;
use std::io::{self, Read, Write, pipe};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Program, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::OnceLock;
use std::thread;

use super::frame::{self, Command, Kind};
use super::limits::{self, Activity};
use super::serve::{Answers, Fault, UNFOLLOWABLE, serve};
use crate::sheet::read::kind::Format;

/// The hidden first argument.
const FLAG: &str = "--read-workbook-child";

/// The program that is started to read a workbook.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// To be called first thing in `main`. If this process was started to read a workbook, reads it and gives the exit
/// code to end with. Otherwise notes that workbooks can be read in processes of the running program.
pub fn run_reader_if_asked() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_none_or(|word| word != FLAG) {
        // Linux knows the running program even after its file was replaced.
        let running = Path::new("/proc/self/exe");
        if cfg!(target_os = "linux") && running.exists() {
            read_workbooks_with(running.to_owned());
        } else if let Ok(running) = std::env::current_exe() {
            read_workbooks_with(running);
        }
        return None;
    }
    let (Some(format), Some(path)) =
        (words.next().as_deref().and_then(|word| word.to_str()).and_then(Format::named), words.next())
    else {
        return Some(ExitCode::from(2));
    };
    // What goes wrong is said in answers; a panic has nothing to add.
    std::panic::set_hook(Box::new(|_| {}));
    let activity = Arc::new(Activity::default());
    limits::keep(Arc::clone(&activity));
    let mut answers = Answers { output: io::stdout().lock(), activity };
    serve(Path::new(&path), format, io::stdin(), &mut answers, || std::process::exit(0));
    Some(ExitCode::SUCCESS)
}

/// Reads workbooks in processes of `program`, which calls [`run_reader_if_asked`] first thing. The first to say so
/// counts.
pub fn read_workbooks_with(program: PathBuf) {
    PROGRAM.get_or_init(|| program);
}

/// A reader that has opened its workbook.
pub struct Link {
    commands: Box<dyn Write + Send>,
    answers: Box<dyn Read + Send>,
    process: Option<Child>,
    /// The body of the last answer.
    pub body: Vec<u8>,
    reading: u32,
}

impl Link {
    /// Starts a reader, and gives the names of the workbook's sheets.
    pub fn open(path: &Path, format: Format) -> Result<(Link, Vec<String>), Fault> {
        let start = |error: io::Error| Fault::new(format!("its reader can't be started: {error}"));
        let mut link = match PROGRAM.get() {
            Some(program) => start_process(program, path, format).map_err(start)?,
            None => start_thread(path, format).map_err(start)?,
        };
        match link.next()? {
            Kind::Opened => {
                let names = serde_json::from_slice(&link.body).map_err(|_| Fault::new(UNFOLLOWABLE))?;
                Ok((link, names))
            }
            _ => Err(Fault::new(UNFOLLOWABLE)),
        }
    }

    /// Asks for the rows of a sheet; [`Link::next`] gives them.
    pub fn read(&mut self, sheet: usize) -> Result<(), Fault> {
        self.reading += 1;
        let sheet = u32::try_from(sheet).unwrap_or(u32::MAX);
        let asked = frame::command(&mut self.commands, Command::Read { reading: self.reading, sheet });
        asked.map_err(|_| self.obituary())
    }

    /// The next answer; one that is a fault is an error.
    pub fn next(&mut self) -> Result<Kind, Fault> {
        match frame::read(&mut self.answers, &mut self.body) {
            Ok(Kind::Fault) => Err(match serde_json::from_slice::<Fault>(&self.body) {
                Ok(fault) => Fault { reason: one_line(&fault.reason), ..fault },
                Err(_) => Fault::new(UNFOLLOWABLE),
            }),
            Ok(kind) => Ok(kind),
            Err(_) => Err(self.obituary()),
        }
    }

    /// Gives up the reading, and answers whether the reader is ready for another.
    pub fn stop(&mut self) -> bool {
        if frame::command(&mut self.commands, Command::Stop { reading: self.reading }).is_err() {
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

    /// Why the reader is gone.
    fn obituary(&mut self) -> Fault {
        let Some(process) = &mut self.process else { return Fault::new(UNFOLLOWABLE) };
        // Here it has closed its answers, or sent nonsense.
        let _ = process.kill();
        let code = process.wait().ok().and_then(|status| status.code());
        let mut words = Vec::new();
        if let Some(stderr) = process.stderr.take() {
            let _ = stderr.take(4096).read_to_end(&mut words);
        }
        let words = String::from_utf8_lossy(&words);
        Fault::new(if code == Some(i32::from(limits::STALLED)) {
            "its reader was kept busy for seconds and got nowhere".to_owned()
        } else if code == Some(i32::from(limits::TOO_LARGE))
            || words.contains("memory allocation of")
            || words.contains("out of memory")
        {
            format!("to read it takes more than the {} MiB of memory that a workbook may take", limits::MEMORY >> 20)
        } else {
            UNFOLLOWABLE.to_owned()
        })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn start_process(program: &Path, path: &Path, format: Format) -> io::Result<Link> {
    let mut command = Program::new(program);
    command.arg(FLAG).arg(format.name()).arg(path);
    // Nothing of this process's environment is the reader's business; Windows needs its own folder's name.
    command.env_clear().envs(std::env::var_os("SystemRoot").map(|root| ("SystemRoot", root)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // Ctrl-C at the terminal is for this process to take.
        command.process_group(0);
    }
    let mut process = command.spawn()?;
    let (Some(commands), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    // A batch fits in at once. Linux allows this much to everybody; less is no harm.
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(&answers, 4 * frame::BATCH);
    let (commands, answers) = (Box::new(commands), Box::new(answers));
    Ok(Link { commands, answers, process: Some(process), body: Vec::new(), reading: 0 })
}

fn start_thread(path: &Path, format: Format) -> io::Result<Link> {
    let (commanded, commands) = pipe()?;
    let (answers, answering) = pipe()?;
    let path = path.to_owned();
    thread::Builder::new().name("workbook".to_owned()).spawn(move || {
        let mut answers = Answers { output: answering, activity: Arc::default() };
        serve(&path, format, commanded, &mut answers, || {});
    })?;
    Ok(Link { commands: Box::new(commands), answers: Box::new(answers), process: None, body: Vec::new(), reading: 0 })
}

/// A reason as one line of a bearable length: it may quote the workbook.
fn one_line(reason: &str) -> String {
    const LONGEST: usize = 300;
    let mut line = String::new();
    for c in reason.chars() {
        if line.len() >= LONGEST {
            line.push('…');
            break;
        }
        let _ = if c.is_control() { write!(line, "{}", c.escape_default()) } else { write!(line, "{c}") };
    }
    line
}

//! A PostgreSQL server in a folder of its own, reached through a socket, for tests and the benchmark.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Timeout of starting, even on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);
/// Debian's user without rights, because the server refuses root.
#[cfg(unix)]
pub const NOBODY: u32 = 65_534;

/// The programs of PostgreSQL.
#[derive(Clone, Debug)]
pub struct Programs(PathBuf);

impl Programs {
    /// Finds the newest PostgreSQL: Debian's, or that of the commands.
    pub fn find() -> Option<Programs> {
        let version = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
        let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let installed = installed.map(|entry| entry.path()).filter(|path| path.join("bin/initdb").is_file());
        let debian = installed.max_by_key(version).map(|path| path.join("bin"));
        let other = || {
            let path = std::env::var_os("PATH")?;
            std::env::split_paths(&path).find(|folder| folder.join("initdb").is_file())
        };
        debian.or_else(other).map(Programs)
    }

    /// Returns a program that runs as a user without rights if this process is root.
    fn command(&self, name: &str) -> Command {
        as_nobody(&self.0.join(name))
    }
}

/// A server with the superuser `sheetport`, whose password is `s3cret` where one is needed. Stopped on drop.
pub struct Server {
    programs: Programs,
    /// The folder of the socket and the logs.
    folder: TempDir,
    pub data: PathBuf,
    process: Option<Child>,
}

impl Server {
    /// Creates the files of a server in `data`, which does not exist yet; in the folder of the socket if `None`. `method` is the
    /// method of authentication.
    pub fn create(programs: Programs, data: Option<&Path>, method: &str) -> io::Result<Server> {
        let server = Server::new(programs, data)?;
        let password = server.folder.path().join("password");
        std::fs::write(&password, "s3cret\n")?;
        give_to_nobody(&password)?;
        let mut command = server.command("initdb");
        command.args(["--no-sync", "--encoding=UTF8", "--locale=C", "-U", "sheetport", "-A", method]);
        success(command.arg(format!("--pwfile={}", password.display())).arg(&server.data).output()?)?;
        Ok(server)
    }

    /// Returns a server whose files are still to be created in `data`; in the folder of the socket if `None`.
    pub fn new(programs: Programs, data: Option<&Path>) -> io::Result<Server> {
        // The path of a socket must be short.
        let folder = tempfile::tempdir()?;
        give_to_nobody(folder.path())?;
        let data = data.map_or_else(|| folder.path().join("data"), Path::to_owned);
        Ok(Server { programs, folder, data, process: None })
    }

    /// Starts the server with further arguments.
    pub fn start(&mut self, args: &[&str]) -> io::Result<()> {
        self.start_by(self.command("postgres"), args)
    }

    /// Starts the server by a command that becomes the server.
    pub fn start_by(&mut self, mut server: Command, args: &[&str]) -> io::Result<()> {
        server.args(["-c", "listen_addresses=", "-c", "max_connections=50"]).args(args);
        server.arg("-D").arg(&self.data).arg("-k").arg(self.folder());
        let log = std::fs::File::create(self.folder().join("log"))?;
        self.process = Some(server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn()?);
        let until = Instant::now() + DEADLINE;
        while !self.answers() {
            if Instant::now() > until {
                let log = std::fs::read_to_string(self.folder().join("log")).unwrap_or_default();
                return Err(io::Error::other(format!("PostgreSQL does not start: {log}")));
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    fn answers(&self) -> bool {
        let mut ready = self.command("pg_isready");
        let ready = ready.arg("-q").arg("-h").arg(self.folder()).args(["-d", "postgres"]);
        ready.status().is_ok_and(|status| status.success())
    }

    /// Ends the server at once, as a crash does.
    pub fn crash(&mut self) -> io::Result<()> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process};
            if let Some(id) = i32::try_from(process.id()).ok().and_then(Pid::from_raw) {
                kill_process(id, Signal::QUIT)?;
            }
        }
        #[cfg(not(unix))]
        process.kill()?;
        process.wait().map(drop)
    }

    /// Creates an empty database and returns its address, without a password.
    pub fn database(&self, name: &str) -> io::Result<String> {
        self.query("postgres", &format!("CREATE DATABASE {name}"))?;
        Ok(self.address(name))
    }

    /// Returns the address of a database.
    pub fn address(&self, name: &str) -> String {
        let socket = self.folder().display().to_string().replace('/', "%2F");
        format!("postgres:///{name}?host={socket}&user=sheetport")
    }

    /// Executes statements and returns the result as `psql` writes it, without headings.
    pub fn query(&self, database: &str, sql: &str) -> io::Result<String> {
        let mut psql = Command::new(self.programs.0.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "sheetport", "-d", database, "-c", sql]);
        let result = success(psql.arg("-h").arg(self.folder()).env("PGPASSWORD", "s3cret").output()?)?;
        Ok(result.trim_end().to_owned())
    }

    /// Returns the folder with the socket.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns a program of PostgreSQL that runs as the user of the server.
    pub fn command(&self, name: &str) -> Command {
        let mut command = self.programs.command(name);
        command.current_dir(self.folder());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The folder is removed anyway.
        let _ = self.crash();
    }
}

/// Returns the output of a program.
///
/// # Errors
/// If the program has failed, with its messages.
pub fn success(output: Output) -> io::Result<String> {
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned())),
    }
}

/// Returns a command for a user without rights if this process is root. It ends with this process.
pub fn as_nobody(program: &Path) -> Command {
    match is_root() {
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--pdeathsig=INT"]).arg(program);
            command
        }
        false => Command::new(program),
    }
}

/// Gives a file or folder to the user of the server.
pub fn give_to_nobody(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if is_root() {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY))?;
    }
    let _ = path;
    Ok(())
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

//! A PostgreSQL server of a test's own: a cluster in a temporary folder, reached through a socket there.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::environment;

/// Timeout of starting, even on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);
/// Debian's user without rights, because the server refuses root.
#[cfg(unix)]
const NOBODY: u32 = 65_534;

/// How the server knows its users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Trust,
    /// The password of the user `sheetport` is `s3cret`.
    Password,
}

/// A running server with the superuser `sheetport`. Stopped on drop.
pub struct Cluster {
    folder: TempDir,
    programs: PathBuf,
    server: Option<Child>,
}

/// Returns whether PostgreSQL is installed, with a message if it is not.
#[cfg(unix)]
pub fn is_there() -> bool {
    let is_there = programs().is_some();
    if !is_there {
        environment::report_missing("postgresql");
    }
    is_there
}

impl Cluster {
    /// Starts a server. Returns `None` with a message if PostgreSQL is not installed.
    pub fn start() -> Option<Cluster> {
        Cluster::with(Access::Trust)
    }

    pub fn with(access: Access) -> Option<Cluster> {
        let Some(programs) = programs() else {
            environment::report_missing("postgresql");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let password = folder.path().join("password");
        std::fs::write(&password, "s3cret\n").unwrap();
        #[cfg(unix)]
        if is_root() {
            for path in [folder.path(), &password] {
                std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        let mut cluster = Cluster { folder, programs, server: None };
        let method = if access == Access::Trust { "trust" } else { "scram-sha-256" };
        let made = cluster
            .command("initdb")
            .args(["--no-sync", "--encoding=UTF8", "--locale=C", "-U", "sheetport", "-A", method])
            .arg(format!("--pwfile={}", password.display()))
            .arg(cluster.data())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        cluster.run();
        Some(cluster)
    }

    /// Starts the server in the existing folder.
    pub fn run(&mut self) {
        let mut server = self.command("postgres");
        // Nothing has to survive the machine.
        server.args(["-F", "-c", "listen_addresses=", "-c", "max_connections=50"]);
        server.arg("-D").arg(self.data()).arg("-k").arg(self.folder.path());
        let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.server = Some(server.spawn().unwrap());
        let until = Instant::now() + DEADLINE;
        while !self.answers() {
            assert!(Instant::now() < until, "the server does not start: {}", self.log());
            std::thread::sleep(POLL);
        }
    }

    /// Ends the server at once, as a crash does.
    pub fn crash(&mut self) {
        let Some(mut server) = self.server.take() else { return };
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process};
            let process = Pid::from_raw(i32::try_from(server.id()).unwrap()).unwrap();
            kill_process(process, Signal::QUIT).unwrap();
        }
        #[cfg(not(unix))]
        server.kill().unwrap();
        server.wait().unwrap();
    }

    /// Creates an empty database and returns its address, without a password.
    pub fn database(&self, name: &str) -> String {
        self.query("postgres", &format!("CREATE DATABASE {name}"));
        self.address(name)
    }

    /// Returns the address of a database.
    pub fn address(&self, name: &str) -> String {
        let socket = self.folder.path().to_str().unwrap().replace('/', "%2F");
        format!("postgres:///{name}?host={socket}&user=sheetport")
    }

    /// Returns the folder with the socket.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Executes statements and returns the result as `psql` writes it, without headings.
    pub fn query(&self, database: &str, sql: &str) -> String {
        let mut psql = Command::new(self.programs.join("psql"));
        let psql =
            psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "sheetport", "-d", database, "-c", sql]);
        let done = psql.arg("-h").arg(self.folder.path()).env("PGPASSWORD", "s3cret").output().unwrap();
        assert!(done.status.success(), "{sql}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim_end().to_owned()
    }

    /// Lets the leases of all processes end now, as if they had not been renewed for so long.
    pub fn end_leases(&self, database: &str) {
        self.query(
            database,
            "UPDATE lease SET until = clock_timestamp(); UPDATE part SET until = LEAST(until, clock_timestamp())",
        );
    }

    /// Returns the socket of the server.
    #[cfg(unix)]
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join(".s.PGSQL.5432")
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn answers(&self) -> bool {
        let mut ready = Command::new(self.programs.join("pg_isready"));
        let ready = ready.arg("-q").arg("-h").arg(self.folder.path()).args(["-d", "postgres"]);
        ready.status().is_ok_and(|status| status.success())
    }

    /// Returns a command of the server.
    fn command(&self, name: &str) -> Command {
        let mut command = as_nobody(&self.programs.join(name));
        command.current_dir(self.folder.path());
        command
    }
}

/// Returns a command for a user without rights if this one is root. It ends with this test.
fn as_nobody(program: &Path) -> Command {
    match is_root() {
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--pdeathsig=INT"]).arg(program);
            command
        }
        false => Command::new(program),
    }
}

/// PgBouncer in transaction mode before a server. Stopped on drop.
pub struct Pooler(Child);

impl Drop for Pooler {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Cluster {
    /// Starts a pooler before a database. Returns `None` with a message if PgBouncer is not installed.
    pub fn pooler(&self, database: &str) -> Option<Pooler> {
        let program =
            ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].map(PathBuf::from).into_iter().find(|it| it.exists());
        let Some(program) = program else {
            environment::report_missing("pgbouncer");
            return None;
        };
        let (folder, settings) = (self.folder.path(), self.folder.path().join("pgbouncer.ini"));
        let text = format!(
            "[databases]\n{database} = host={at} user=sheetport\n[pgbouncer]\nunix_socket_dir = {at}\nlisten_port = 6432\n\
             auth_type = any\npool_mode = transaction\ndefault_pool_size = 6\nmax_client_conn = 100\n",
            at = folder.display()
        );
        std::fs::write(&settings, text).unwrap();
        let mut command = as_nobody(&program);
        command.arg(&settings).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
        let log = std::fs::File::create(folder.join("pgbouncer.log")).unwrap();
        let pooler = Pooler(command.stderr(log).spawn().unwrap());
        let (socket, until) = (folder.join(".s.PGSQL.6432"), Instant::now() + DEADLINE);
        while !socket.exists() {
            let log = || std::fs::read_to_string(folder.join("pgbouncer.log")).unwrap_or_default();
            assert!(Instant::now() < until, "the pooler does not start: {}", log());
            std::thread::sleep(POLL);
        }
        Some(pooler)
    }

    /// Returns the address of a database behind the pooler.
    pub fn pooled_address(&self, name: &str) -> String {
        format!("{}&port=6432", self.address(name))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.crash();
    }
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

/// Returns the folder of the newest PostgreSQL: Debian's, or that of the commands.
fn programs() -> Option<PathBuf> {
    let version = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path());
    let debian = installed.filter(|path| path.join("bin/initdb").is_file()).max_by_key(version);
    let other = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).find(|folder| has_initdb(folder))
    };
    debian.map(|path| path.join("bin")).or_else(other)
}

fn has_initdb(folder: &Path) -> bool {
    folder.join("initdb").is_file()
}

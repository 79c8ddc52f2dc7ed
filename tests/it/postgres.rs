//! A PostgreSQL server of a test's own, with a standby, a small disk, or a pooler before it.

#[cfg(target_os = "linux")]
mod small_disk;

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use sheetport_testing::postgres::{Programs, Server, as_nobody, give_to_nobody, success};

use crate::environment;

/// Timeout of starting, even on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

/// How the server knows its users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Trust,
    /// The password of the user `sheetport` is `s3cret`.
    Password,
}

/// A running server with the superuser `sheetport`. Stopped on drop.
pub struct Cluster(Server);

/// Returns whether PostgreSQL is installed, with a message if it is not.
#[cfg(unix)]
pub fn is_there() -> bool {
    programs().is_some()
}

fn programs() -> Option<Programs> {
    let programs = Programs::find();
    if programs.is_none() {
        environment::report_missing("postgresql");
    }
    programs
}

impl Cluster {
    /// Starts a server. Returns `None` with a message if PostgreSQL is not installed.
    pub fn start() -> Option<Cluster> {
        Cluster::with(Access::Trust)
    }

    pub fn with(access: Access) -> Option<Cluster> {
        let method = if access == Access::Trust { "trust" } else { "scram-sha-256" };
        let mut cluster = Cluster(Server::create(programs()?, None, method).unwrap());
        cluster.run();
        Some(cluster)
    }

    /// Starts the server in the existing folder.
    pub fn run(&mut self) {
        // Nothing has to survive the machine.
        self.0.start(&["-F"]).unwrap();
    }

    /// Starts a standby that follows this server.
    pub fn standby(&self) -> Option<Cluster> {
        let mut standby = Cluster(Server::new(programs()?, None).unwrap());
        let mut copy = standby.0.command("pg_basebackup");
        copy.args([
            "--write-recovery-conf",
            "--wal-method=stream",
            "--checkpoint=fast",
            "--no-sync",
            "-U",
            "sheetport",
        ]);
        success(copy.arg("-h").arg(self.folder()).arg("-D").arg(&standby.0.data).output().unwrap()).unwrap();
        standby.run();
        Some(standby)
    }

    /// Lets a standby receive nothing more, as behind a slow or broken network.
    pub fn lag(&self) {
        self.query("postgres", "ALTER SYSTEM SET primary_conninfo = ''");
        self.query("postgres", "SELECT pg_reload_conf()");
        let receivers = "SELECT COUNT(*) FROM pg_stat_wal_receiver";
        self.wait_for(|| self.query("postgres", receivers) == "0");
    }

    /// Waits until the standby of this server has received everything once.
    pub fn wait_for_standby(&self) {
        let until = self.query("postgres", "SELECT pg_current_wal_flush_lsn()");
        let received = format!("SELECT COUNT(*) FROM pg_stat_replication WHERE flush_lsn >= '{until}'");
        self.wait_for(|| self.query("postgres", &received) == "1");
    }

    /// Makes a primary server of a standby.
    pub fn promote(&self) {
        assert_eq!(self.query("postgres", "SELECT pg_promote()"), "t");
    }

    /// Copies the files of the stopped server.
    pub fn copy_files(&self, to: &Path) {
        copy(&self.0.data, to);
    }

    /// Replaces the files of the stopped server by a copy. `recovers`: as from a backup, whose log is applied as far as there is one.
    pub fn restore_files(&self, from: &Path, recovers: bool) {
        std::fs::remove_dir_all(&self.0.data).unwrap();
        copy(from, &self.0.data);
        if recovers {
            let signal = self.0.data.join("recovery.signal");
            std::fs::write(&signal, "").unwrap();
            give_to_nobody(&signal).unwrap();
            let settings = self.0.data.join("postgresql.auto.conf");
            let mut text = std::fs::read_to_string(&settings).unwrap();
            text.push_str("restore_command = 'false'\n");
            std::fs::write(&settings, text).unwrap();
        }
    }

    /// Writes a dump of a database into a file.
    pub fn dump(&self, database: &str, to: &Path) {
        let mut dump = self.0.command("pg_dump");
        let dump = dump.args(["-U", "sheetport", "-d", database, "-h"]).arg(self.folder());
        std::fs::write(to, success(dump.output().unwrap()).unwrap()).unwrap();
    }

    /// Loads a dump into a new database of the same name.
    pub fn load(&self, database: &str, from: &Path) {
        self.query("postgres", &format!("DROP DATABASE {database} WITH (FORCE)"));
        self.query("postgres", &format!("CREATE DATABASE {database}"));
        let mut load = self.0.command("psql");
        load.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-U", "sheetport", "-d", database, "-h"]).arg(self.folder());
        success(load.stdin(std::fs::File::open(from).unwrap()).output().unwrap()).unwrap();
    }

    fn wait_for(&self, is_there: impl Fn() -> bool) {
        let until = Instant::now() + DEADLINE;
        while !is_there() {
            assert!(Instant::now() < until, "a server has waited too long");
            std::thread::sleep(POLL);
        }
    }

    /// Ends the server at once, as a crash does.
    pub fn crash(&mut self) {
        self.0.crash().unwrap();
    }

    /// Creates an empty database and returns its address, without a password.
    pub fn database(&self, name: &str) -> String {
        self.0.database(name).unwrap()
    }

    /// Returns the address of a database.
    pub fn address(&self, name: &str) -> String {
        self.0.address(name)
    }

    /// Returns the folder with the socket.
    pub fn folder(&self) -> &Path {
        self.0.folder()
    }

    /// Executes statements and returns the result as `psql` writes it, without headings.
    #[track_caller]
    pub fn query(&self, database: &str, sql: &str) -> String {
        self.0.query(database, sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
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
        self.folder().join(".s.PGSQL.5432")
    }
}

fn copy(from: &Path, to: &Path) {
    success(std::process::Command::new("cp").arg("-a").arg(from).arg(to).output().unwrap()).unwrap();
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
    /// Starts a pooler before a database, with this number of sessions. Returns `None` with a message if PgBouncer is not installed.
    pub fn pooler(&self, database: &str, sessions: u32) -> Option<Pooler> {
        let program =
            ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].map(PathBuf::from).into_iter().find(|it| it.exists());
        let Some(program) = program else {
            environment::report_missing("pgbouncer");
            return None;
        };
        let (folder, settings) = (self.folder(), self.folder().join("pgbouncer.ini"));
        let text = format!(
            "[databases]\n{database} = host={at} user=sheetport\n[pgbouncer]\nunix_socket_dir = {at}\nlisten_port = 6432\n\
             auth_type = any\npool_mode = transaction\ndefault_pool_size = {sessions}\nmax_client_conn = 100\n",
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

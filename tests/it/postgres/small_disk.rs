//! A server whose databases are on a small disk of their own, which can be filled.

use std::path::Path;
use std::process::Command;

use sheetport_testing::postgres::{NOBODY, Server, give_to_nobody};

use super::{Cluster, programs};
use crate::environment;

/// Size of the small disk, in the notation of `mount`. An empty database needs 8 MB.
const SMALL: &str = "64m";

impl Cluster {
    /// Starts a server whose databases are on a small disk of their own. Returns `None` with a message if PostgreSQL is not installed,
    /// or if no file system can be mounted.
    pub fn on_small_disk() -> Option<Cluster> {
        let mut server = Server::create(programs()?, None, "trust").unwrap();
        let disk = server.folder().join("disk");
        std::fs::create_dir(&disk).unwrap();
        give_to_nobody(&disk).unwrap();
        if !mounted(&disk, &Command::new("true")).status().is_ok_and(|status| status.success()) {
            environment::report_untested(
                "a small file system can't be mounted, neither as root nor in a user namespace",
            );
            return None;
        }
        server.start_by(mounted(&disk, &server.command("postgres")), &["-F"]).unwrap();
        let server = Cluster(server);
        server.query("postgres", &format!("CREATE TABLESPACE small LOCATION '{}'", disk.display()));
        // New databases are where their template is.
        server.query("postgres", "ALTER DATABASE template1 SET TABLESPACE small");
        Some(server)
    }

    /// Leaves no space on the small disk.
    pub fn fill_disk(&self) {
        self.shell("dd if=/dev/zero of=disk/filler bs=4k 2>/dev/null || true");
    }

    /// Frees the space on the small disk again.
    pub fn free_disk(&self) {
        self.shell("rm disk/filler");
    }

    /// Runs a command in the folder of the server, as the server, which alone sees the small disk.
    fn shell(&self, command: &str) {
        let folder = self.folder().display();
        self.query("postgres", &format!("COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; cd {folder} && {command}'"));
    }
}

/// Returns a command that mounts a small file system for itself on a folder, and then becomes `command`. The file system vanishes
/// with the last of its processes.
fn mounted(folder: &Path, command: &Command) -> Command {
    let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let mut unshare = Command::new("unshare");
    let mount = "mount -t tmpfs -o \"$1\" none \"$2\" && shift 2 && exec \"$@\"";
    let options = format!("size={SMALL},mode=0700");
    if user == 0 {
        unshare.args(["--mount", "sh", "-c", mount, "sh"]).arg(format!("{options},uid={NOBODY},gid={NOBODY}"));
        unshare.arg(folder);
    } else {
        unshare.args(["--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh"]).arg(options).arg(folder);
        unshare.args(["unshare", "--user"]).arg(format!("--map-user={user}")).arg(format!("--map-group={group}"));
    }
    unshare.arg(command.get_program()).args(command.get_args());
    unshare.current_dir(folder.parent().unwrap_or(folder));
    unshare
}

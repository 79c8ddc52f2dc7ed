//! What another user of the machine (65534, nobody) can't do: the lines of SECURITY.md, tried as that user.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::jobs::arrived;
use super::process::{Place, name};
use super::service::Served;
use crate::environment::report_untested;

const NOBODY: &str = "65534";

/// Returns a place that others can enter. Returns `None` if nothing can be done here as another user.
fn place() -> Option<Place> {
    if !rustix::process::geteuid().is_root() {
        report_untested("only root can try things as another user");
        return None;
    }
    let place = Place::new();
    open(&place.path(""), 0o755);
    Some(place)
}

fn open(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs a line of the shell as the other user. Returns whether it succeeded, and its output.
fn as_nobody(place: &Place, line: &str) -> (bool, String) {
    let ran = Command::new("setpriv")
        .args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "sh", "-c", line])
        .current_dir(place.path(""))
        .output()
        .expect("setpriv, of util-linux");
    (ran.status.success(), String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned())
}

fn done_by_nobody(place: &Place, line: &str) {
    let (is_done, said) = as_nobody(place, line);
    assert!(is_done, "{line}: {said}");
}

const JOB: &str = "[[step]]\nupload = \"inbox/*.csv\"\ntemplate = \"items\"\nsettle = \"0s\"\n";
const SECRET: &str = "SKU,Name,Price\nSECRET,Salary of Anna,5000\n";

#[test]
fn a_job_follows_no_link_of_another_user() {
    let Some(place) = place() else { return };
    let served = Served::start(&place);
    place.write("nightly.toml", JOB);
    for folder in ["inbox", "private", "private/in"] {
        fs::create_dir(place.path(folder)).unwrap();
    }
    open(&place.path("inbox"), 0o777);
    let secret = place.write("private/secret.csv", SECRET);
    place.write("private/in/list.csv", SECRET.replace("SECRET", "SECRET2"));
    let own = place.write("private/own.csv", "SKU,Name,Price\nOWN,Bolt,1\n");
    open(&place.path("private"), 0o700);

    let secret = name(&secret);
    done_by_nobody(&place, "printf 'SKU,Name,Price\\nB1,Nut,2\\n' > inbox/good.csv");
    done_by_nobody(&place, &format!("ln -s '{secret}' inbox/link.csv"));
    done_by_nobody(&place, "ln -s link.csv inbox/second.csv; mkfifo inbox/pipe.csv; ln -s /dev/zero inbox/zero.csv");
    // The lock of an office program is read, too.
    done_by_nobody(&place, &format!("ln -s '{secret}' 'inbox/.~lock.good.csv#'"));
    // Remains of an upload that never was.
    let left = "inbox/.sheetport/01900000-0000-7000-8000-000000000000";
    done_by_nobody(
        &place,
        &format!("mkdir -p {left}; printf left.csv > {left}/lock; ln -s '{secret}' {left}/left.csv"),
    );
    // A hard link has no maker. (Linux itself refuses them to others, unless `fs.protected_hardlinks` is off.)
    fs::hard_link(secret, place.path("inbox/hard.csv")).unwrap();
    symlink(own, place.path("inbox/own.csv")).unwrap();

    let run = |exit| -> Value { served.sheetport(&place, ["job", "run", "nightly.toml", "--json"]).exits(exit).json() };
    let ran = run(0);
    assert_eq!(arrived(&served), ["OWN"], "{ran}");
    let warnings = ran["warnings"].to_string();
    for (file, why) in [
        ("link.csv", "link of another user"),
        ("second.csv", "link of another user"),
        ("zero.csv", "link of another user"),
        ("hard.csv", "second name"),
        ("pipe.csv", "no regular file"),
        ("good.csv", "open in LibreOffice;"),
    ] {
        assert!(warnings.contains(&format!("inbox/{file}: ")) && warnings.contains(why), "{file}: {warnings}");
    }
    assert!(!ran.to_string().contains("Salary") && !ran.to_string().contains("SKU"), "{ran}");
    fs::remove_file(place.path("inbox/.~lock.good.csv#")).unwrap();
    run(0);
    assert_eq!(arrived(&served), ["B1", "OWN"]);

    // The whole inbox is a link that another user has made in a folder of everybody.
    fs::create_dir(place.path("shared")).unwrap();
    open(&place.path("shared"), 0o1777);
    done_by_nobody(&place, &format!("ln -s '{}' shared/inbox", name(&place.path("private/in"))));
    place.write("nightly.toml", JOB.replace("inbox/", "shared/inbox/"));
    let ran = run(1);
    assert!(ran.to_string().contains("link of another user"), "{ran}");
    assert_eq!(arrived(&served), ["B1", "OWN"]);
    assert!(place.path("private/in/list.csv").exists());
}

#[test]
fn another_user_reads_nothing_of_ours() {
    let Some(place) = place() else { return };
    let served = Served::start(&place);
    let file = place.write("prices.csv", "SKU,Name,Price\nA1,Bolt,1.50\nA2,Nut,free\n");
    open(&file, 0o640);
    served.sheetport(&place, ["upload", "prices.csv", "-t", "items"]).exits(3);
    served.sheetport(&place, ["check", "prices.csv", "-t", "items"]).exits(3);
    for what in ["home", "prices.report.xlsx"] {
        let (_, read) = as_nobody(&place, &format!("find '{what}' -type f -readable"));
        assert!(!read.lines().any(|line| line.starts_with(what)), "{what}: {read}");
    }
    let (is_read, _) = as_nobody(&place, "cat home/ledger.db");
    assert!(!is_read);
}

#[test]
fn another_user_does_not_redirect_an_export_or_a_report() {
    let Some(place) = place() else { return };
    let served = Served::start(&place);
    served.post("/v1/public/items", &json!({"externalId": "A1", "name": "Bolt"}).to_string());
    fs::create_dir(place.path("shared")).unwrap();
    open(&place.path("shared"), 0o1777);
    let target = place.write("mine.csv", "mine");
    done_by_nobody(&place, &format!("ln -s '{}' shared/items.csv", name(&target)));
    served.sheetport(&place, ["export", "items", "-o", "shared/items.csv", "--replace"]).exits(0);
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
    assert!(!place.path("shared/items.csv").is_symlink());

    place.write("prices.csv", "SKU,Name,Price\nA1,Bolt,free\n");
    served.sheetport(&place, ["upload", "prices.csv", "-t", "items", "--report", "own.csv"]).exits(3);
    done_by_nobody(&place, &format!("ln -s '{}' shared/report.csv", name(&target)));
    place.sheetport(["report", "-o", "shared/report.csv"]).exits(2);
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
}

//! `job schedule`: entries that the schedulers accept.

#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::super::process::{Place, Sheetport, name};
use super::with_job;

const JOB: &str =
    "[[step]]\nexport = \"items\"\noutput = \"items.csv\"\n[schedule]\nat = \"05:15\"\ndays = \"mon-fri\"\n";

/// Makes programs that note how they are called.
fn with_programs(programs: &[(&str, &str)]) -> Place {
    let place = with_job(JOB);
    fs::create_dir(place.path("bin")).unwrap();
    for (program, script) in programs {
        let path = place.write(&format!("bin/{program}"), format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    place
}

fn schedule(place: &Place, words: &[&str]) -> Sheetport {
    let path = format!("{}:{}", name(&place.path("bin")), std::env::var("PATH").unwrap());
    let first = ["job", "schedule", "nightly.toml"];
    let command = place.sheetport(first.iter().chain(words)).env("PATH", &path);
    command.env("HOME", name(&place.path("user"))).env("XDG_CONFIG_HOME", name(&place.path("user/config")))
}

#[test]
fn entries_run_the_job_quietly_with_its_folders() {
    let place = with_programs(&[]);
    let (job, home) = (place.path("nightly.toml"), place.path("home"));
    let cron = schedule(&place, &["--for", "cron"]).exits(0);
    let command = format!("sheetport job run {} --quiet --home {}", name(&job), name(&home));
    cron.shows(&["\n15 5 * * 1,2,3,4,5 /", &command]).says(&["Next", "--install", "no tokens yet"]);
    schedule(&place, &["--for", "systemd"]).exits(0).shows(&[
        "OnCalendar=Mon,Tue,Wed,Thu,Fri *-*-* 05:15:00",
        "Persistent=true",
        &format!("WorkingDirectory={}", name(job.parent().unwrap())),
    ]);
    let json = schedule(&place, &["--for", "windows", "--json"]).exits(0).json();
    assert!(json["files"][0]["text"].as_str().unwrap().contains("<StartWhenAvailable>true<"), "{json}");
    schedule(&place, &["--for", "launchd"]).exits(0).shows(&["<key>Weekday</key><integer>5</integer>"]);
}

#[test]
fn times_of_another_zone_or_that_the_clock_skips_are_told() {
    let place = with_programs(&[]);
    let job = |more: &str| format!("[[step]]\nexport = \"items\"\noutput = \"items.csv\"\n[schedule]\n{more}\n");
    let tokyo = |words: &[&str]| schedule(&place, words).env("TZ", "Europe/Berlin");
    place.write("nightly.toml", job("at = \"05:15\"\nzone = \"Asia/Tokyo\""));
    tokyo(&["--for", "systemd"]).exits(0).shows(&["OnCalendar=*-*-* 05:15:00 Asia/Tokyo"]);
    tokyo(&["--for", "cron"]).exits(2).says(&["which is not that of Asia/Tokyo", "--for systemd"]);
    let next = place.sheetport(["job", "status", "nightly.toml", "--json"]).exits(0).json();
    assert!(next["jobs"][0]["next"].as_str().unwrap().ends_with("T20:15:00Z"), "{next}");
    place.write("nightly.toml", job("at = \"02:30\"\nzone = \"Europe/Berlin\""));
    tokyo(&["--for", "cron"]).exits(0).says(&["the clock skips or repeats the time of the schedule"]);
    place.write("nightly.toml", job("zone = \"Berlin\""));
    tokyo(&["--for", "cron"]).exits(2).says(&["'Berlin' is not a time zone", "Europe/Berlin"]);
}

#[test]
fn systemd_takes_the_units() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return;
    }
    let place = with_programs(&[("systemctl", "echo \"$@\" >> calls")]);
    schedule(&place, &["--for", "systemd", "--install"]).exits(0).says(&["enable-linger"]);
    let folder = place.path("user/config/systemd/user");
    let units = ["sheetport-nightly.service", "sheetport-nightly.timer"].map(|unit| folder.join(unit));
    let verified = Command::new("systemd-analyze").args(["verify", "--man=no"]).args(&units).output().unwrap();
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    assert!(!said.contains("sheetport-nightly"), "{said}");
    let calls = fs::read_to_string(place.path("calls")).unwrap();
    assert_eq!(calls, "--user daemon-reload\n--user enable --now sheetport-nightly.timer\n");
    schedule(&place, &["--for", "systemd", "--remove"]).exits(0);
    assert!(units.iter().all(|unit| !unit.exists()));
}

#[test]
fn the_crontab_keeps_its_other_lines() {
    let script = "case $1 in -l) cat crontab 2>/dev/null || { echo 'no crontab for anna' >&2; exit 1; } ;; \
                  -) cat > new && mv new crontab ;; esac";
    let place = with_programs(&[("crontab", script)]);
    // A user without a crontab.
    schedule(&place, &["--for", "cron", "--install"]).exits(0).says(&["while the machine was off"]);
    let alone = fs::read_to_string(place.path("crontab")).unwrap();
    place.write("crontab", format!("MAILTO=anna\n{alone}0 0 * * * backup\n"));
    place.write("nightly.toml", JOB.replace("05:15", "06:00"));
    schedule(&place, &["--for", "cron", "--install"]).exits(0);
    let both = fs::read_to_string(place.path("crontab")).unwrap();
    let lines: Vec<&str> = both.lines().collect();
    assert_eq!((lines[..2].to_vec(), lines.len()), (vec!["MAILTO=anna", "0 0 * * * backup"], 4), "{both}");
    assert!(lines[3].starts_with("0 6 * * 1,2,3,4,5 /"), "{both}");
    schedule(&place, &["--for", "cron", "--remove"]).exits(0);
    assert_eq!(fs::read_to_string(place.path("crontab")).unwrap(), "MAILTO=anna\n0 0 * * * backup\n");
    // A crontab that can't be read is not taken for an empty one.
    for why in ["crontabs/anna/: fdopen: Permission denied", "crontab: cannot read the spool: Input/output error"] {
        let script = format!("case $1 in -l) echo '{why}' >&2; exit 1 ;; -) cat > crontab ;; esac");
        let place = with_programs(&[("crontab", &script)]);
        place.write("crontab", "0 0 * * * backup\n");
        for change in ["--install", "--remove"] {
            schedule(&place, &["--for", "cron", change]).exits(1).says(&[why]);
        }
        assert_eq!(fs::read_to_string(place.path("crontab")).unwrap(), "0 0 * * * backup\n");
    }
    // A scheduler that refuses.
    let place = with_programs(&[("crontab", "echo 'you may not' >&2; exit 1")]);
    schedule(&place, &["--for", "cron", "--install"]).exits(1).says(&["you may not", "by hand"]);
}

//! Entries for the schedulers of the systems: cron, systemd, launchd, and the Task Scheduler of Windows.

use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use sheetport_files::absolute_path::absolute;
use sheetport_operations::command_line::{Given, quoted_for_posix};
use sheetport_operations::context::Context;
use sheetport_operations::error::Error;

use super::super::definition::{Job, Schedule};

/// A scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    Cron,
    Systemd,
    Launchd,
    Windows,
}

impl Scheduler {
    pub const ALL: [Scheduler; 4] = [Scheduler::Cron, Scheduler::Systemd, Scheduler::Launchd, Scheduler::Windows];

    pub fn name(self) -> &'static str {
        match self {
            Scheduler::Cron => "cron",
            Scheduler::Systemd => "systemd",
            Scheduler::Launchd => "launchd",
            Scheduler::Windows => "windows",
        }
    }

    /// Returns the default scheduler of this system.
    pub fn usual() -> Scheduler {
        if cfg!(windows) {
            Scheduler::Windows
        } else if cfg!(target_os = "macos") {
            Scheduler::Launchd
        } else if Path::new("/run/systemd/system").is_dir() {
            Scheduler::Systemd
        } else {
            Scheduler::Cron
        }
    }
}

/// A scheduler entry: the command and its schedule.
#[derive(Debug)]
pub struct Entry {
    /// Name for the scheduler: letters, digits and hyphens.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// The program and its arguments.
    pub words: Vec<String>,
    pub folder: PathBuf,
    pub schedule: Schedule,
    /// The time zone of the schedule, if it is not that of the machine.
    pub zone: Option<String>,
}

/// A file of a scheduler.
#[derive(Debug, PartialEq, Eq)]
pub struct EntryFile {
    pub name: String,
    pub text: String,
}

impl Entry {
    /// Returns the entry that runs a job with this program, with `-q` and the same settings as the present command.
    pub fn of(job: &Job, program: &Path, context: &Context) -> Entry {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = job.name.chars().map(plain).collect();
        let name = format!("sheetport-{}", name.trim_matches('-'));
        let path = |path: &Path| path.display().to_string();
        let mut words = vec![path(program), "job".to_owned(), "run".to_owned(), path(&job.path), "--quiet".to_owned()];
        // The scheduler has another environment.
        words.extend(["--home".to_owned(), path(&absolute(&context.home))]);
        let Given { base_url, profile, ca_file, client_cert, client_key, .. } = &context.given;
        let profile = profile.clone().or_else(|| Some(context.profile.clone()).filter(|_| context.is_profile_chosen));
        let texts = [("--profile", profile.filter(|_| job.profile.is_none())), ("--base-url", base_url.clone())];
        let paths = [("--ca-file", ca_file), ("--client-cert", client_cert), ("--client-key", client_key)];
        let paths = paths.map(|(flag, file)| (flag, file.as_ref().map(|file| path(&absolute(file)))));
        for (flag, value) in texts.into_iter().chain(paths) {
            words.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value]));
        }
        Entry {
            name,
            title: format!("Sheetport job {}", job.name),
            words,
            folder: job.folder().to_owned(),
            schedule: job.schedule.clone().unwrap_or_default(),
            zone: job.zone.as_ref().and_then(foreign),
        }
    }

    /// Refuses a schedule in another time zone than the machine's for schedulers that have no zones.
    ///
    /// # Errors
    /// If the scheduler would start the job at another time.
    pub fn check_zone(&self, scheduler: Scheduler) -> Result<(), Error> {
        match (&self.zone, scheduler) {
            (None, _) | (_, Scheduler::Systemd) => Ok(()),
            (Some(zone), _) => Err(Error::invalid(
                format!("{} starts jobs by the clock of this machine, which is not that of {zone}", scheduler.name()),
                "use --for systemd, set the time zone of the machine, or leave out zone",
            )),
        }
    }

    /// Returns the files of the entry for a scheduler.
    pub fn files(&self, scheduler: Scheduler) -> Vec<EntryFile> {
        let file = |name: String, text| EntryFile { name, text };
        match scheduler {
            Scheduler::Cron => vec![file("crontab".to_owned(), self.crontab())],
            Scheduler::Systemd => vec![
                file(format!("{}.service", self.name), self.service()),
                file(format!("{}.timer", self.name), self.timer()),
            ],
            Scheduler::Launchd => vec![file(format!("{}.plist", self.launchd_label()), self.plist())],
            Scheduler::Windows => vec![file(format!("{}.xml", self.name), self.task())],
        }
    }

    pub(super) fn launchd_label(&self) -> String {
        format!("local.{}", self.name)
    }

    /// Returns the first line of the entry in a crontab, which identifies the entry.
    pub(super) fn cron_mark(&self) -> String {
        format!("# {}", self.name)
    }

    /// Returns two lines. cron starts a job only while the machine is on.
    fn crontab(&self) -> String {
        let time = match &self.schedule {
            Schedule::At { hour, minute, days } => {
                // Days count from Sunday.
                let list: Vec<String> = days.iter().map(|day| ((day + 1) % 7).to_string()).collect();
                let days = if list.len() == 7 { "*".to_owned() } else { list.join(",") };
                format!("{minute} {hour} * * {days}")
            }
            Schedule::Every { minutes: 60 } => "0 * * * *".to_owned(),
            Schedule::Every { minutes } if *minutes < 60 => format!("*/{minutes} * * * *"),
            Schedule::Every { minutes } => format!("0 */{} * * *", minutes / 60),
        };
        // A percent sign would end the command.
        let words: Vec<String> = self.words.iter().map(|word| quoted_for_posix(word).replace('%', "\\%")).collect();
        format!("{}\n{time} {}\n", self.cron_mark(), words.join(" "))
    }

    fn service(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| systemd(word)).collect();
        // For these exit codes, rows need fixing or outcomes are unknown. The job has reported both, and systemd should not see a
        // failure.
        format!(
            include_str!("entry_files/systemd.service"),
            title = self.title.replace('%', "%%"),
            folder = self.folder.display().to_string().replace('%', "%%"),
            command = words.join(" ")
        )
    }

    fn timer(&self) -> String {
        const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
        let time = match &self.schedule {
            Schedule::At { hour, minute, days } => {
                let names: Vec<&str> = days.iter().filter_map(|day| DAYS.get(usize::from(*day)).copied()).collect();
                let days = if names.len() == 7 { String::new() } else { format!("{} ", names.join(",")) };
                format!("{days}*-*-* {hour:02}:{minute:02}:00")
            }
            Schedule::Every { minutes } if *minutes < 60 => format!("*-*-* *:00/{minutes}:00"),
            Schedule::Every { minutes } => format!("*-*-* 00/{}:00:00", minutes / 60),
        };
        let zone = self.zone.as_ref().map_or_else(String::new, |zone| format!(" {zone}"));
        let time = format!("{time}{zone}");
        // `Persistent` makes up for a run missed while the machine was off.
        format!(include_str!("entry_files/systemd.timer"), title = self.title.replace('%', "%%"), time = time)
    }

    fn plist(&self) -> String {
        let words: String = self.words.iter().map(|word| format!("    <string>{}</string>\n", xml(word))).collect();
        let when = match &self.schedule {
            Schedule::At { hour, minute, days } => {
                let of_days: Vec<String> = match days.len() {
                    7 => vec![String::new()],
                    _ => days
                        .iter()
                        .map(|day| format!("<key>Weekday</key><integer>{}</integer>", (day + 1) % 7))
                        .collect(),
                };
                let time =
                    format!("<key>Hour</key><integer>{hour}</integer><key>Minute</key><integer>{minute}</integer>");
                let entries: String = of_days.iter().map(|day| format!("    <dict>{time}{day}</dict>\n")).collect();
                format!("  <key>StartCalendarInterval</key>\n  <array>\n{entries}  </array>\n")
            }
            Schedule::Every { minutes } => {
                format!("  <key>StartInterval</key>\n  <integer>{}</integer>\n", u64::from(*minutes) * 60)
            }
        };
        format!(
            include_str!("entry_files/launchd.plist"),
            label = self.launchd_label(),
            words = words,
            folder = xml(&self.folder.display().to_string()),
            when = when
        )
    }

    fn task(&self) -> String {
        const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
        let (repetition, start, days) = match &self.schedule {
            Schedule::At { hour, minute, days } => (String::new(), format!("{hour:02}:{minute:02}"), days.as_slice()),
            Schedule::Every { minutes } => {
                let repetition = format!("<Repetition><Interval>PT{minutes}M</Interval></Repetition>");
                (repetition, "00:00".to_owned(), &[0, 1, 2, 3, 4, 5, 6][..])
            }
        };
        let by_day = match days.len() {
            7 => "<ScheduleByDay><DaysInterval>1</DaysInterval></ScheduleByDay>".to_owned(),
            _ => {
                let names = days.iter().filter_map(|day| DAYS.get(usize::from(*day)));
                let days: String = names.map(|day| format!("<{day} />")).collect();
                format!(
                    "<ScheduleByWeek><WeeksInterval>1</WeeksInterval><DaysOfWeek>{days}</DaysOfWeek></ScheduleByWeek>"
                )
            }
        };
        // The schema wants the repetition first.
        let trigger = format!("{repetition}<StartBoundary>2026-01-01T{start}:00</StartBoundary>{by_day}");
        let (program, arguments) =
            self.words.split_first().map_or(("", &[][..]), |(program, rest)| (program.as_str(), rest));
        let arguments: Vec<String> = arguments.iter().map(|word| windows(word)).collect();
        format!(
            include_str!("entry_files/windows.xml"),
            title = xml(&self.title),
            trigger = trigger,
            program = xml(program),
            arguments = xml(&arguments.join(" ")),
            folder = xml(&self.folder.display().to_string())
        )
    }
}

/// Returns the name of a time zone, unless it is that of this machine.
fn foreign(zone: &TimeZone) -> Option<String> {
    let is_ours = zone.iana_name() == TimeZone::system().iana_name();
    zone.iana_name().filter(|_| !is_ours).map(str::to_owned)
}

/// Quotes a word for the line of a unit.
fn systemd(word: &str) -> String {
    let escaped = word.replace('%', "%%").replace('$', "$$").replace('\\', "\\\\").replace('"', "\\\"");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=+,%$".contains(c);
    if !word.is_empty() && escaped.chars().all(is_plain) { escaped } else { format!("\"{escaped}\"") }
}

/// Quotes an argument by the command-line rules of Windows programs.
fn windows(word: &str) -> String {
    if !word.is_empty() && !word.contains([' ', '\t', '"']) {
        return word.to_owned();
    }
    let (mut quoted, mut backslashes) = (String::from('"'), 0);
    for c in word.chars() {
        match c {
            '\\' => backslashes += 1,
            '"' => quoted.push_str(&"\\".repeat(backslashes * 2 + 1)),
            _ => quoted.push_str(&"\\".repeat(backslashes)),
        }
        if c != '\\' {
            quoted.push(c);
            backslashes = 0;
        }
    }
    quoted.push_str(&"\\".repeat(backslashes * 2));
    quoted.push('"');
    quoted
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(schedule: Schedule) -> Entry {
        Entry {
            name: "sheetport-nightly".to_owned(),
            title: "Sheetport job nightly".to_owned(),
            words: ["/usr/bin/sheetport", "job", "run", "/home/anna/my jobs/100% & more.toml"]
                .map(str::to_owned)
                .to_vec(),
            folder: PathBuf::from("/home/anna/my jobs"),
            schedule,
            zone: None,
        }
    }

    fn at(days: &[u8]) -> Schedule {
        Schedule::At { hour: 4, minute: 5, days: days.to_vec() }
    }

    #[test]
    fn times_are_written_for_each_scheduler() {
        let all = [0, 1, 2, 3, 4, 5, 6];
        for (schedule, cron, systemd, windows) in [
            (at(&all), "5 4 * * * ", "OnCalendar=*-*-* 04:05:00\n", "<DaysInterval>1</DaysInterval>"),
            (
                at(&[0, 4, 6]),
                "5 4 * * 1,5,0 ",
                "OnCalendar=Mon,Fri,Sun *-*-* 04:05:00\n",
                "<Monday /><Friday /><Sunday />",
            ),
            (
                Schedule::Every { minutes: 15 },
                "*/15 * * * * ",
                "OnCalendar=*-*-* *:00/15:00\n",
                "<Interval>PT15M</Interval>",
            ),
            (
                Schedule::Every { minutes: 60 },
                "0 * * * * ",
                "OnCalendar=*-*-* 00/1:00:00\n",
                "<Interval>PT60M</Interval>",
            ),
            (
                Schedule::Every { minutes: 240 },
                "0 */4 * * * ",
                "OnCalendar=*-*-* 00/4:00:00\n",
                "<Interval>PT240M</Interval>",
            ),
        ] {
            let entry = entry(schedule);
            let text = |scheduler| entry.files(scheduler).pop().expect("a file").text;
            assert!(text(Scheduler::Cron).contains(&format!("\n{cron}")), "{}", text(Scheduler::Cron));
            assert!(text(Scheduler::Systemd).contains(systemd), "{}", text(Scheduler::Systemd));
            assert!(text(Scheduler::Windows).contains(windows), "{}", text(Scheduler::Windows));
        }
    }

    #[test]
    fn only_systemd_knows_time_zones() {
        let entry = Entry { zone: Some("Asia/Tokyo".to_owned()), ..entry(Schedule::default()) };
        let timer = entry.files(Scheduler::Systemd).pop().expect("a timer").text;
        assert!(timer.contains("OnCalendar=*-*-* 04:30:00 Asia/Tokyo\n"), "{timer}");
        let refused = Scheduler::ALL.map(|scheduler| entry.check_zone(scheduler).is_err());
        assert_eq!(refused, [true, false, true, true]);
    }

    #[test]
    fn no_part_of_a_path_acts() {
        let entry = entry(Schedule::default());
        let text = |scheduler| entry.files(scheduler).remove(0).text;
        assert!(text(Scheduler::Cron).ends_with("'/home/anna/my jobs/100\\% & more.toml'\n"));
        assert!(text(Scheduler::Systemd).contains(" \"/home/anna/my jobs/100%% & more.toml\"\n"));
        assert!(text(Scheduler::Launchd).contains("<string>/home/anna/my jobs/100% &amp; more.toml</string>"));
        assert!(text(Scheduler::Windows).contains("run &quot;/home/anna/my jobs/100% &amp; more.toml&quot;<"));
    }

    #[test]
    fn words_are_quoted_as_windows_splits_them() {
        for (word, quoted) in [
            (r"C:\jobs\a.toml", r"C:\jobs\a.toml"),
            (r"C:\my jobs\", r#""C:\my jobs\\""#),
            (r#"a "b" c"#, r#""a \"b\" c""#),
            ("", "\"\""),
        ] {
            assert_eq!(windows(word), quoted);
        }
    }
}

//! The next command after every ending: run as it is printed, in a shell that has nothing but PATH, HOME and what a user
//! has set, it goes on with the same run, service, rate, rows, ledger and flags.

#![cfg(unix)]

use std::net::TcpListener;
use std::path::Path;

use serde_json::Value;

use super::process::{Ended, Place, Sheetport, name};
use super::service::Served;
use super::{accounting, count, items, summary};
use crate::faults::server::{Reply, Seen, Server, answer};

/// A folder with a test service, and an environment that names another service and another ledger.
struct Scene {
    place: Place,
    served: Served,
    /// Address of the test service.
    url: String,
    production: TcpListener,
}

impl Scene {
    fn new(faults: &[&str]) -> Scene {
        let place = Place::new();
        let served = Served::start_with(&place, 0, faults);
        let production = TcpListener::bind("127.0.0.1:0").unwrap();
        production.set_nonblocking(true).unwrap();
        place.write("my items.csv", items(6));
        place.write("-items.csv", items(2).replace("00001", "a b").replace("00002", "c"));
        place.write("wrong.csv", "SKU,Name,Price,Currency\n1,Bolt,free,EUR\n2,Nut,1,EUR\n3,Screw,1,EUR\n");
        place.write(
            "refused.csv",
            items(4).replace("SKU,Name,Price,Currency", "SKU,Name,Price,Currency,Status").replace(
                "00002,Item 2,2.50,EUR",
                "00002,Item 2,2.50,EUR,in stock from the beginning of the third quarter of 2027",
            ),
        );
        place.write("invoices.csv", items(3));
        place.write("invoices.toml", "record = \"invoice\"\n[fields.cid]\ncolumn = \"SKU\"\n[fields.currency]\nvalue = \"EUR\"\n[lines.id]\ncolumn = \"Name\"\n[lines.amount]\ncolumn = \"Price\"\n");
        let url = served.url();
        Scene { place, served, url, production }
    }

    /// Returns a shell with the environment of a user who works with production, and has the tokens of the test service.
    fn shell(&self, line: &str) -> Sheetport {
        let exe = Path::new(env!("CARGO_BIN_EXE_sheetport"));
        let path = std::env::var("PATH").unwrap();
        let address = format!("http://{}", self.production.local_addr().unwrap());
        let shell = self.served.shell(&self.place, line).env("SHEETPORT_BASE_URL", &address);
        let shell = shell.env("SHEETPORT_TOKEN_HOST", &self.url);
        shell.env("PATH", &format!("{}:{path}", exe.parent().unwrap().display()))
    }

    /// Runs a command against the test service and the ledger `books`, which flags name.
    #[track_caller]
    fn run(&self, command: &str, exit: i32) -> Value {
        self.shell(&format!("sheetport {command} --json {}", self.flags())).exits(exit).json()
    }

    fn flags(&self) -> String {
        format!("--home books --base-url {}", self.url)
    }

    /// Runs a printed command.
    #[track_caller]
    fn follow(&self, printed: &Value, exit: i32) -> Ended {
        let printed = printed.as_str().unwrap_or_else(|| panic!("no next command: {printed}"));
        self.shell(&format!("{printed} --json")).exits(exit)
    }

    #[track_caller]
    fn details(&self, run: u64) -> Value {
        self.shell(&format!("sheetport runs show {run} --json --home books")).exits(0).json()
    }

    /// Asserts that nothing else was used.
    #[track_caller]
    fn is_done(&self) {
        assert!(self.production.accept().is_err(), "the service of the environment was asked");
        let other = self.shell("sheetport runs --json").exits(0).json();
        assert_eq!(other["runs"], Value::Array(Vec::new()), "the ledger of the environment was used");
    }
}

#[test]
fn next_command_repeats_the_chosen_flags() {
    const PACE: &str = "--rate 50/s --concurrency 3 --max-errors 7";
    // What is run, its exit code, the next command without the flags of the scene, its exit code, and what it did.
    for (command, exit, next, then, did) in [
        (
            "upload 'my items.csv' -t items --rows 2-4 --changed-only --rate 50/s --concurrency 3 --max-errors 7 --dry-run",
            0,
            "sheetport upload 'my items.csv' -t items --rate 50/s --concurrency 3 --changed-only --rows 2-4 --max-errors 7",
            0,
            "6: sent 3, skipped 3",
        ),
        (
            "upload ./-items.csv -t items --all-or-nothing --strict --yes --rehearse --report=-r.csv",
            0,
            "sheetport upload ./-items.csv -t items --strict --yes --all-or-nothing --report=-r-2.csv",
            0,
            "2: sent 2",
        ),
        (
            "upload ./-items.csv -t items --dry-run --allow-repeat='a b,c'",
            0,
            "sheetport upload ./-items.csv -t items --allow-repeat='a b,c'",
            0,
            "2: sent 2",
        ),
        (
            "check 'my items.csv' --locale en --strict",
            0,
            "sheetport upload 'my items.csv' -t items --locale en --strict",
            0,
            "6: sent 6",
        ),
        ("check wrong.csv -t items", 3, "sheetport upload wrong.csv -t items", 3, "3: sent 2, rejected 1"),
        ("upload 'my items.csv' -t items", 0, "", 0, ""),
        (
            "upload wrong.csv -t items --report 'the report.csv'",
            3,
            "sheetport continue 'the report.csv'",
            3,
            "3: unchanged 2, rejected 1",
        ),
        ("upload wrong.csv -t items --report 42", 2, "", 0, ""),
        (
            "upload wrong.csv -t items --all-or-nothing --report r.csv",
            3,
            "sheetport continue r.csv",
            3,
            "3: rejected 1, pending 2",
        ),
        ("upload wrong.csv -t items --report r.html", 3, "sheetport report 1 -o report-1.xlsx --only problems", 0, ""),
        (
            "upload refused.csv -t items --max-errors 0 --rate 50/s --concurrency 1",
            9,
            "sheetport continue 1",
            3,
            "4: sent 3, failed 1",
        ),
        ("upload refused.csv -t items --report r.xlsx", 3, "sheetport continue r.xlsx", 3, "4: unchanged 3, failed 1"),
    ] {
        let scene = Scene::new(&[]);
        let first = scene.run(command, exit);
        if next.is_empty() {
            assert_eq!(first["next"], Value::Null, "{command}");
            continue;
        }
        let expected = format!("{next} {}", scene.flags());
        assert_eq!(first["next"], *expected, "{command}");
        let ended = scene.follow(&first["next"], then);
        if !did.is_empty() {
            let ended = summary(&ended);
            assert_eq!(accounting(&ended), did, "{command}");
            let settings = scene.details(count(&ended, "run"));
            assert_eq!(settings["base_url"], scene.served.url());
            if PACE.split(' ').all(|word| command.contains(word)) {
                let settings =
                    ["rate", "concurrency", "max_errors", "chosen_rows"].map(|field| settings[field].to_string());
                assert_eq!(settings, ["\"50/s\"", "3", "7", "\"2-4\""], "{command}");
            }
        }
        scene.is_done();
    }
}

#[test]
fn report_and_retry_name_the_next_command() {
    let scene = Scene::new(&[]);
    let upload = scene.run("upload wrong.csv -t items --report r.html --rate 40/s", 3);
    let report = scene.follow(&upload["next"], 0).json();
    assert_eq!(report["next"], *format!("sheetport continue report-1.xlsx {}", scene.flags()));
    let retried = summary(&scene.follow(&report["next"], 3));
    assert_eq!((accounting(&retried), &retried["run"]), ("1: rejected 1".to_owned(), &2.into()));
    assert_eq!(scene.details(2)["rate"], "40/s");
    // The name is taken now.
    let again = scene.run("resume 1", 3);
    assert_eq!(again["next"], *format!("sheetport report 1 -o report-1-2.xlsx --only problems {}", scene.flags()));
    let dry = scene.run("retry report-1.xlsx --dry-run --as-new --rate 5/s --all-or-nothing=false", 3);
    assert_eq!(dry["next"], Value::Null, "no row could be sent");
    scene.is_done();
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_records_lead_to_resolve_and_retry() {
    let resets = |seen: &Seen| if seen.path.contains("invoices") { Reply::Reset } else { Reply::Accept };
    let server = Server::start(resets).await;
    let scene = Scene { url: server.address.clone(), ..Scene::new(&[]) };
    let upload = scene.run("upload invoices.csv -t invoices.toml --concurrency 5", 4);
    assert_eq!(accounting(&upload), "3: unknown 3");
    let listed = scene.follow(&upload["next"], 4).json();
    assert_eq!((count(&listed, "unknown"), &listed["next"]), (3, &upload["next"]));
    let resolved = scene.run("resolve 1 --all-failed", 0);
    assert_eq!(resolved["next"], *format!("sheetport retry 1 {}", scene.flags()));
    let retried = summary(&scene.follow(&resolved["next"], 4));
    assert_eq!((accounting(&retried).as_str(), &retried["run"]), ("3: unknown 3", &2.into()));
    assert_eq!(scene.details(2)["concurrency"], 5);
    scene.is_done();
}

#[test]
fn interrupted_runs_are_resumed_as_they_were_asked_for() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 130)] {
        let scene = Scene::new(&[]);
        scene.place.write("many.csv", items(40));
        let flags = scene.flags();
        let line = format!(
            "exec sheetport upload many.csv -t items --rate 10/s --concurrency 2 --json {flags} --report r.csv"
        );
        let running = scene.shell(&line).start();
        super::process::until("some items", || (scene.served.total() > 2).then_some(()));
        running.signal(signal);
        let stopped = summary(&running.wait().exits(code));
        let pending = count(&stopped, "pending");
        assert!(pending > 10, "{stopped}");
        assert_eq!(stopped["next"], *format!("sheetport continue 1 {flags}"), "{signal}");
        let resumed = summary(&scene.follow(&stopped["next"], 0));
        assert_eq!((accounting(&resumed).as_str(), &resumed["run"]), ("40: sent 40", &1.into()));
        assert!(resumed["seconds"].as_f64().unwrap() >= 3.5, "the rate is remembered: {resumed}");
        assert_eq!(resumed["report"], name(&scene.place.path("r-2.csv")), "so is the report, and r.csv is kept");
        scene.is_done();
    }
}

#[test]
fn runs_with_refused_credentials_are_resumed() {
    let scene = Scene::new(&[]);
    let flags = scene.flags();
    let wrong = scene.shell(&format!("sheetport upload 'my items.csv' -t items --json {flags}"));
    let refused =
        summary(&wrong.without("SHEETPORT_REFRESH_TOKEN").secret("SHEETPORT_ACCESS_TOKEN", "expired-token").exits(5));
    assert_eq!(refused["next"], *format!("sheetport continue 1 {flags}"));
    // Without its number and the address, too: it is the only one.
    let resumed = scene.shell("sheetport resume --json --home books").without("SHEETPORT_BASE_URL").exits(0);
    assert_eq!(accounting(&summary(&resumed)), "6: sent 6");
    scene.is_done();
}

#[test]
fn resume_without_a_number_lists_the_runs_if_there_are_several() {
    let scene = Scene::new(&[]);
    for file in ["'my items.csv'", "refused.csv"] {
        let upload = format!("sheetport upload {file} -t items {}", scene.flags());
        let upload = scene.shell(&upload).without("SHEETPORT_REFRESH_TOKEN");
        upload.secret("SHEETPORT_ACCESS_TOKEN", "expired-token").exits(5);
    }
    let several = scene.shell(&format!("sheetport resume {}", scene.flags())).exits(2);
    let flags = scene.flags();
    several.says(&[
        "2 runs can be resumed",
        &format!("`sheetport continue 1 {flags}`"),
        &format!("`sheetport continue 2 {flags}`"),
    ]);
    // A run of another service than the environment's is refused, with the remedy.
    let other = scene.shell("sheetport continue 1 --home books").exits(2);
    other.says(&["planned for", &format!("--base-url {}", scene.served.url())]);
    scene.is_done();
}

#[test]
fn interrupted_export_is_continued_by_the_next_command() {
    let scene = Scene::new(&["--fail", "500:1"]);
    let failed = scene.run("export items -o 'my items.export.csv' --rate 100/s --locale de", 9);
    let expected =
        format!("sheetport export items -o 'my items.export.csv' --locale de --rate 100/s {}", scene.flags());
    assert_eq!(failed["next"], *expected);
    let again = scene.follow(&failed["next"], 9).json();
    assert_eq!(again["next"], failed["next"]);
    scene.is_done();
}

/// The hint for missing or refused tokens is a command that stores tokens for the same profile, home folder and service.
#[test]
fn login_is_named_with_its_profile_and_the_command_goes_on_then() {
    let scene = Scene::new(&[]);
    let (access, refresh) = scene.served.tokens();
    let pair = format!("{access}\n{refresh}\n");
    let flags = format!("--home books --profile test --base-url {}", scene.url);
    let without = |line: &str| {
        let shell = scene.shell(line).without("SHEETPORT_ACCESS_TOKEN");
        shell.without("SHEETPORT_REFRESH_TOKEN")
    };
    let upload = format!("sheetport upload 'my items.csv' -t items --json {flags}");
    let login = format!("sheetport login {flags}");
    without(&upload).exits(2).says(&["there are no credentials", &format!("`{login}`")]);
    without(&format!("{login} --json")).fed(&pair).exits(0);

    // The tokens of the profile expire; the run remembers the profile.
    let file = scene.place.path("books/credentials/test.json");
    let stored = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, stored.replace(&access, "expired").replace(&refresh, "expired-too")).unwrap();
    let refused = without(&upload).exits(5).says(&["refused the credentials", &format!("`{login}`")]);
    let refused = summary(&refused);
    assert_eq!(refused["next"], *format!("sheetport continue 1 {flags}"));
    let resume = "sheetport continue 1 --home books --json";
    let again = without(resume).without("SHEETPORT_BASE_URL").exits(5);
    again.says(&["`sheetport login --profile test --home books`"]);
    without(&login).fed(&pair).exits(0);
    let resumed = summary(&without(&format!("{} --json", refused["next"].as_str().unwrap())).exits(0));
    assert_eq!(accounting(&resumed), "6: sent 6");
    scene.is_done();
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_continues_a_run_at_a_wrong_address() {
    let redirects = |seen: &Seen| match seen.number {
        0..=3 => Reply::Accept,
        _ => answer(302, "location: /login\r\n", ""),
    };
    let first = Server::with_probes(|_| answer(302, "location: /login\r\n", "")).await;
    let scene = Scene { url: first.address.clone(), ..Scene::new(&[]) };
    let ended = scene.shell(&format!("sheetport upload 'my items.csv' -t items --json {}", scene.flags())).exits(9);
    let ended =
        ended.says(&["the service redirects (302)", "then upload the file again, because a run keeps its address"]);
    let stopped = summary(&ended);
    assert_eq!((accounting(&stopped).as_str(), &stopped["next"]), ("6: pending 6", &Value::Null));

    // A service that has accepted records is at the right address.
    let later = Server::start(redirects).await;
    let scene = Scene { url: later.address.clone(), ..Scene::new(&[]) };
    let upload = "upload 'my items.csv' -t items --json --concurrency 1";
    let ended = scene.shell(&format!("sheetport {upload} {}", scene.flags())).exits(9);
    let ended = ended.says(&["the service redirects (302)", "then resume"]);
    let stopped = summary(&ended);
    assert_eq!(stopped["next"], *format!("sheetport continue 1 {}", scene.flags()));
    assert!(count(&stopped, "sent") > 0 && count(&stopped, "pending") > 0, "{stopped}");
}

/// A test service in the environment, and a profile with the address of production.
#[test]
fn dry_runs_against_a_test_service_do_not_lead_to_the_service_of_the_profile() {
    let scene = Scene::new(&[]);
    let production = format!("http://{}", scene.production.local_addr().unwrap());
    std::fs::create_dir_all(scene.place.path("books")).unwrap();
    scene.place.write("books/sheetport.toml", format!("[profiles.default]\nbase_url = \"{production}\"\n"));
    for (command, code) in [
        ("upload 'my items.csv' -t items --dry-run", 0),
        ("upload 'my items.csv' -t items --rehearse", 0),
        ("check 'my items.csv' -t items", 0),
    ] {
        let first = scene.shell(&format!("sheetport {command} --json --home books"));
        let first = first.env("SHEETPORT_BASE_URL", &scene.url).exits(code).json();
        assert_eq!(first["next"], *format!("sheetport upload 'my items.csv' -t items {}", scene.flags()), "{command}");
    }
    scene.is_done();
}

//! The same job on several machines with one ledger.

use std::fs;
use std::time::Duration;

use super::INBOX;
use crate::cli::desk::Desk;
use crate::cli::items;
use crate::cli::process::until;
use crate::faults::server::Reply;

#[tokio::test(flavor = "multi_thread")]
async fn a_job_runs_on_one_machine_at_a_time() {
    let Some(desk) = Desk::new(|_| Reply::Late(Duration::from_millis(50), Box::new(Reply::Accept))).await else {
        return;
    };
    // Each machine has a copy of the job.
    for machine in ["here", "there"] {
        fs::create_dir_all(desk.place.path(machine).join("inbox")).unwrap();
        desk.place.write(&format!("{machine}/nightly.toml"), INBOX);
    }
    desk.place.write("here/inbox/a.csv", items(400));
    let running = desk.on("home-1", &["job", "run", "here/nightly.toml"]).start();
    until("requests", || (desk.service.log().len() >= 5).then_some(()));
    let second = desk.run("home-2", &["job", "run", "there/nightly.toml"], 6).await;
    second.says(&["the job nightly is already running"]);
    tokio::task::spawn_blocking(move || running.wait()).await.unwrap();
    desk.run("home-2", &["job", "run", "there/nightly.toml"], 0).await;
}

//! Queued runs and the workers that send them, on several machines with a ledger on a PostgreSQL server.

use std::collections::BTreeMap;
use std::time::Duration;

use super::desk::{Desk, late, moves};
use super::process::until;
use super::{accounting, count, items, summary, table};
use crate::faults::server::{Reply, answer};

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_run_is_sent_by_a_worker_elsewhere() {
    let Some(desk) = Desk::new(|seen| match seen.body.contains("00013") {
        true => late(answer(422, "", "{\"message\":\"not this one\"}")),
        false => late(Reply::Accept),
    })
    .await
    else {
        return;
    };
    desk.place.write("items.csv", items(300));
    let queued = desk.run("one", &["upload", "items.csv", "-t", "items", "--queue", "--json"], 0).await;
    let queued = summary(&queued);
    assert_eq!((accounting(&queued), &queued["queued"]), ("300: pending 300".to_owned(), &true.into()));
    assert_eq!(queued["next"], "sheetport runs wait 1");
    assert_eq!(desk.service.log().len(), 0);
    let listed = desk.run("other", &["runs", "--json", "--state", "queued"], 0).await.json();
    assert_eq!(listed["runs"][0]["state"], "queued");

    let waiting = desk.on("one", &["runs", "wait", "1", "--json"]).start();
    desk.run("other", &["work", "--until-idle"], 0).await;
    let ended = summary(&tokio::task::spawn_blocking(move || waiting.wait()).await.unwrap());
    assert_eq!(accounting(&ended), "300: sent 299, failed 1");
    assert_eq!(desk.service.bodies().values().sum::<usize>(), 300);
    // The report is written where the upload was asked for, and can be handed back.
    let report = ended["report"].as_str().unwrap().to_owned();
    let report = desk.place.path(&report);
    assert!(report.exists(), "{}", report.display());
    let listed = desk.run("other", &["runs", "--json"], 0).await.json();
    assert_eq!(listed["runs"][0]["state"], "done");
    assert_eq!(desk.server.query("ledger", "SELECT COUNT(*) FROM lease"), "0");
    // Waiting once more says the same.
    let again = summary(&desk.run("other", &["runs", "wait", "1", "--report", "again.csv", "--json"], 3).await);
    assert_eq!(accounting(&again), "300: sent 299, failed 1");
    assert_eq!(table(&desk.place.path("again.csv")).len(), 301);
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_share_a_run_and_the_dead_are_replaced() {
    let Some(desk) = Desk::new(|_| late(Reply::Accept)).await else { return };
    desk.place.write("moves.csv", moves(500));
    desk.place.write("items.csv", items(900));
    desk.run("one", &["upload", "moves.csv", "-t", "movements.toml", "--queue", "-q"], 0).await;
    desk.run("one", &["upload", "items.csv", "-t", "items", "--queue", "-q"], 0).await;
    let mut kills = 0;
    for round in 0..6 {
        let workers: Vec<_> =
            ["one", "two", "three"].map(|machine| desk.on(machine, &["work"]).start()).into_iter().collect();
        let before = desk.service.log().len();
        until("some more requests", || {
            (desk.service.log().len() >= (before + 40 + 10 * round).min(1400)).then_some(())
        });
        for worker in workers {
            worker.kill();
            kills += 1;
        }
        desk.server.end_leases("ledger");
    }
    desk.run("two", &["work", "--until-idle"], 0).await;
    let moves = desk.run("one", &["runs", "show", "1", "--json"], 0).await.json();
    let items = desk.run("one", &["runs", "show", "2", "--json"], 0).await.json();
    let (sent, unknown) = (count(&moves, "sent"), count(&moves, "unknown"));
    assert_eq!((sent + unknown, count(&moves, "pending")), (500, 0), "{moves}");
    assert!(unknown <= kills * 8, "{moves}");
    assert_eq!(accounting(&items), "900: sent 900");
    // No transaction twice, and every one that is sent arrived.
    let bodies: BTreeMap<String, usize> = desk.service.bodies();
    let arrived = bodies.iter().filter(|(body, _)| body.contains("transactionType"));
    let arrived: Vec<usize> = arrived.map(|(_, times)| *times).collect();
    assert!(arrived.iter().all(|times| *times == 1));
    assert!((sent..=sent + unknown).contains(&(arrived.len() as u64)), "{} of {moves}", arrived.len());
    assert_eq!(desk.server.query("ledger", "SELECT COUNT(*) FROM in_flight"), "0");
    desk.run("one", &["runs", "check"], 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_run_can_be_stopped_and_taken_over() {
    let Some(desk) = Desk::new(|_| Reply::Late(Duration::from_millis(40), Box::new(Reply::Accept))).await else {
        return;
    };
    desk.place.write("items.csv", items(1_000));
    desk.run("one", &["upload", "items.csv", "-t", "items", "--queue", "-q"], 0).await;
    let worker = desk.on("two", &["work"]).start();
    until("some requests", || (desk.service.log().len() >= 50).then_some(()));
    desk.run("one", &["runs", "stop", "1", "--by", "Ann"], 0).await;
    let stopped = summary(&desk.run("one", &["runs", "wait", "1", "--json"], 9).await);
    assert_eq!(stopped["stopped"], "Ann stopped it");
    let sent = count(&stopped, "sent");
    assert!(sent >= 50 && count(&stopped, "pending") == 1_000 - sent, "{stopped}");
    desk.run("one", &["runs", "stop", "1"], 2).await.says(&["no workers send it"]);
    // Nothing more is sent while nobody asks for it.
    let before = desk.service.log().len();
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(desk.service.log().len(), before);
    desk.run("one", &["resume", "1", "--queue", "-q"], 0).await;
    let ended = summary(&desk.run("one", &["runs", "wait", "1", "--json"], 0).await);
    assert_eq!(accounting(&ended), "1000: sent 1000");
    worker.kill();
    assert!(desk.service.bodies().values().all(|times| *times == 1));
    let shown = desk.run("three", &["runs", "show", "1", "--json"], 0).await.json();
    let history = shown["history"].as_array().unwrap();
    let actions: Vec<_> = history.iter().map(|event| event["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["planned", "queued", "worked", "stopped", "queued", "worked", "finished"], "{shown}");
    assert_eq!((&history[3]["by"], &history[0]["count"]), (&"Ann".into(), &1_000.into()));
    // All parts were taken by one process, and one of them twice.
    assert_eq!(history[2]["process"], history[5]["process"]);
    let taken = |event: &serde_json::Value| event["count"].as_i64().unwrap();
    assert!(taken(&history[2]) + taken(&history[5]) > 16 && history[0]["process"] != history[2]["process"], "{shown}");
    let shown = desk.run("three", &["runs", "show", "1"], 0).await.stdout;
    assert!(["planned 1,000 records", "Ann (", "as a worker"].iter().all(|words| shown.contains(words)), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_share_one_rate() {
    let Some(desk) = Desk::new(|_| Reply::Accept).await else { return };
    desk.place.write("items.csv", items(260));
    desk.run("one", &["upload", "items.csv", "-t", "items", "--queue", "--rate", "40/s", "-q"], 0).await;
    let workers = ["one", "two", "three"].map(|machine| desk.on(machine, &["work"]).start());
    let ended = summary(&desk.run("one", &["runs", "wait", "1", "--json"], 0).await);
    assert_eq!(accounting(&ended), "260: sent 260");
    for worker in workers {
        worker.kill();
    }
    let most = desk.service.most_in_a_second();
    // The test's clock is that of the arrival, on a busy machine.
    assert!((30..=46).contains(&most), "{most} requests in a second");
    let times: Vec<_> = desk.service.log().iter().map(|seen| seen.came).collect();
    let took = *times.iter().max().unwrap() - *times.iter().min().unwrap();
    assert!(took >= Duration::from_secs(6), "{took:?}");
}

/// Two exports on different machines, and a pause that one of them is asked for.
#[tokio::test(flavor = "multi_thread")]
async fn exports_share_the_rate() {
    let asked = std::sync::Mutex::new(None);
    let Some(desk) = Desk::new(move |seen| {
        let mut asked = asked.lock().unwrap();
        if asked.is_none() && seen.number >= 20 {
            *asked = Some(seen.came);
            return answer(429, "Retry-After: 3\r\n", "{\"message\":\"slowly\"}");
        }
        let page = seen.path.split(['?', '&']).find_map(|part| part.strip_prefix("page=")).unwrap_or("1");
        let page: usize = page.parse().unwrap();
        let ids: Vec<String> = (0..10).map(|nth| format!("{{\"id\":\"i-{page}-{nth}\"}}")).collect();
        answer(200, "", &format!("{{\"data\":[{}],\"total\":600}}", ids.join(",")))
    })
    .await
    else {
        return;
    };
    // The tables of the ledger.
    desk.run("one", &["runs"], 0).await;
    let exports = ["one", "two"].map(|machine| {
        let out = format!("{machine}.csv");
        desk.on(machine, &["export", "items", "-o", &out, "--page-size", "10", "--rate", "40/s", "-q"]).start()
    });
    for export in exports {
        tokio::task::spawn_blocking(move || export.wait().exits(0)).await.unwrap();
    }
    let log = desk.service.log();
    assert!(log.len() >= 120, "{}", log.len());
    let most = desk.service.most_in_a_second();
    assert!(most <= 46, "{most} requests in a second");
    // Nobody asks within the pause, but for requests that were on their way.
    let asked = log.iter().find(|seen| seen.number == 20).unwrap().came;
    let pause = asked + Duration::from_millis(700)..asked + Duration::from_millis(2_900);
    let within = log.iter().filter(|seen| pause.contains(&seen.came)).count();
    assert_eq!(within, 0, "requests within the pause");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_that_one_worker_is_asked_for_holds_all() {
    let asked = std::sync::Mutex::new(None);
    let Some(desk) = Desk::new(move |seen| {
        let mut asked = asked.lock().unwrap();
        match *asked {
            None if seen.body.contains("00100") => {
                *asked = Some(seen.came);
                answer(429, "Retry-After: 3\r\n", "{\"message\":\"slowly\"}")
            }
            _ => Reply::Accept,
        }
    })
    .await
    else {
        return;
    };
    desk.place.write("items.csv", items(400));
    desk.run("one", &["upload", "items.csv", "-t", "items", "--queue", "--rate", "100/s", "-q"], 0).await;
    let workers = ["one", "two"].map(|machine| desk.on(machine, &["work"]).start());
    let ended = summary(&desk.run("one", &["runs", "wait", "1", "--json"], 0).await);
    assert_eq!(accounting(&ended), "400: sent 400");
    for worker in workers {
        worker.kill();
    }
    let log = desk.service.log();
    let refused = log.iter().find(|seen| seen.body.contains("00100")).unwrap().came;
    let (grace, pause) = (Duration::from_millis(500), Duration::from_millis(2_900));
    let meanwhile = log.iter().filter(|seen| seen.came > refused + grace && seen.came < refused + pause).count();
    assert_eq!(meanwhile, 0, "requests in spite of the pause");
    assert!(log.iter().filter(|seen| seen.came > refused + pause).count() > 100);
}

//! Uploads to a service that honours `Idempotency-Key`, as a profile says: lost answers are asked for again with the same key.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use super::process::{Place, until};
use super::service::Served;
use super::{accounting, summary};
use crate::faults::server::{Reply, Server};

const ROWS: u32 = 12;
const STOCK: &str = "/v1/public/inventories/-?external_id=L-06";
const UPLOAD: [&str; 6] = ["upload", "rows.csv", "-t", "transactions", "--yes", "--json"];

/// A sheet of new transactions. Each row has its own digit in base four, which counts how often it has arrived.
fn place() -> Place {
    let place = Place::new();
    let row = |number| format!("2026-09-02,L-06,in,{},available\n", 4_u64.pow(number));
    let rows: String = (0..ROWS).map(row).collect();
    place.write("rows.csv", format!("Date,Stock,Movement,Quantity,Figure\n{rows}"));
    fs::create_dir(place.path("home")).unwrap();
    place
}

/// Writes what the profile says of the service.
fn set_profile(place: &Place, lines: &str) {
    place.write("home/sheetport.toml", format!("[profiles.default]\n{lines}\n"));
}

fn available(served: &Served) -> u64 {
    served.get(STOCK)["available"].as_u64().unwrap()
}

/// Returns how often each row has arrived. `before`: the stock before the upload.
fn arrivals(served: &Served, before: u64) -> Vec<u64> {
    let added = available(served) - before;
    (0..ROWS).map(|number| added >> (2 * number) & 3).collect()
}

#[test]
fn lost_answers_are_asked_for_again_with_the_same_key() {
    for fault in [
        "ending = \"reset\"\nwhen = \"after\"",
        "ending = \"reset\"\nwhen = \"before\"",
        "answer = { status = 503, retry_after = 0 }\nwhen = \"after\"",
        "answer = { status = 500 }\nwhen = \"before\"",
        "ending = \"cut\"",
        "ending = \"garbage\"",
    ] {
        let plan = format!(
            "[[fault]]\nmethod = \"POST\"\npath = \"/v1/public/inventory-transactions\"\nattempt = 1\nshare = 0.5\n{fault}\n"
        );
        for has_keys in [true, false] {
            let place = place();
            place.write("plan.toml", &plan);
            if has_keys {
                set_profile(&place, "idempotency_key = \"24h\"");
            }
            let served = Served::demo_with(&place, 0, &["--plan", "plan.toml", "--seed", "7"]);
            let before = available(&served);
            let said = summary(&served.sheetport(&place, UPLOAD).run());
            let arrived = arrivals(&served, before);
            let context = format!("{fault}: {said}, {arrived:?}");
            if has_keys {
                assert_eq!(accounting(&said), "12: sent 12", "{context}");
                assert_eq!(arrived, [1; ROWS as usize], "{context}");
                assert!(said["retries"].as_u64().unwrap() > 0, "{context}");
            } else {
                assert!(said["unknown"].as_u64().unwrap() > 0, "{context}");
                assert!(arrived.iter().all(|times| *times <= 1), "{context}");
            }
        }
    }
}

/// Kills an upload with three requests that were applied and not answered, and resumes it with another profile. Returns the
/// summary.
fn killed_and_resumed(profile: &str, pause: Duration) -> Value {
    let place = place();
    set_profile(&place, "idempotency_key = \"24h\"");
    place.write(
        "plan.toml",
        "[[fault]]\nmethod = \"POST\"\npath = \"/v1/public/inventory-transactions\"\nattempt = 1\ncall = \"6..8\"\n\
         ending = \"hang\"\nwhen = \"after\"\n",
    );
    let served = Served::demo_with(&place, 0, &["--plan", "plan.toml"]);
    let before = available(&served);
    let upload = served.sheetport(&place, UPLOAD.iter().copied().chain(["--concurrency", "3"])).start();
    until("eight transactions", || (arrivals(&served, before).iter().sum::<u64>() == 8).then_some(()));
    upload.kill();
    std::thread::sleep(pause);
    set_profile(&place, profile);
    let said = summary(&served.sheetport(&place, ["resume", "--json"]).run());
    assert_eq!(arrivals(&served, before), [1; ROWS as usize], "{said}");
    said
}

#[test]
fn killed_uploads_send_records_in_flight_again_with_the_same_key() {
    let said = killed_and_resumed("idempotency_key = \"24h\"", Duration::ZERO);
    assert_eq!(accounting(&said), "12: sent 12");
}

#[test]
fn records_whose_keys_may_be_forgotten_are_unknown() {
    let said = killed_and_resumed("idempotency_key = \"1s\"", Duration::from_secs(1));
    assert_eq!(accounting(&said), "12: sent 9, unknown 3");
    // Nothing says any more that the service honours keys.
    let said = killed_and_resumed("", Duration::ZERO);
    assert_eq!(accounting(&said), "12: sent 9, unknown 3");
}

#[test]
fn records_without_an_answer_stay_pending_and_are_not_for_a_person_to_resolve() {
    let place = place();
    set_profile(&place, "idempotency_key = \"24h\"");
    let plan = "[[fault]]\nmethod = \"POST\"\npath = \"/v1/public/inventory-transactions\"\ncall = \"9..\"\n\
                answer = { status = 503 }\nwhen = \"after\"\n";
    place.write("plan.toml", plan);
    let faulty = Served::demo_with(&place, 0, &["--plan", "plan.toml"]);
    let before = available(&faulty);
    let said = summary(&faulty.sheetport(&place, UPLOAD).run());
    assert_eq!(accounting(&said), "12: sent 8, pending 4");
    let port = faulty.port();
    drop(faulty);
    place.sheetport(["resolve", "--json"]).exits(0);
    // Another upload of the same rows does not send what may have been applied.
    let served = Served::demo_with(&place, port, &[]);
    let again = summary(&served.sheetport(&place, UPLOAD).run());
    assert_eq!(accounting(&again), "12: unchanged 8, rejected 4");
    let said = summary(&served.sheetport(&place, ["resume", "1", "--json"]).run());
    assert_eq!(accounting(&said), "12: sent 12");
    assert_eq!(arrivals(&served, before), [1; ROWS as usize]);
}

#[test]
fn a_refusal_after_a_lost_answer_leaves_the_record_unknown() {
    let place = place();
    set_profile(&place, "idempotency_key = \"24h\"");
    let fault = |when: &str, what: &str| {
        format!("[[fault]]\nmethod = \"POST\"\npath = \"/v1/public/inventory-transactions\"\n{when}\n{what}\n")
    };
    let plan = [
        fault("attempt = 1\ncall = 1", "answer = { status = 409, message = \"in progress\" }"),
        fault("attempt = 1\ncall = \"1..2\"", "ending = \"reset\"\nwhen = \"after\""),
        fault("attempt = 2", "answer = { status = 422, message = \"no\" }"),
    ];
    place.write("plan.toml", plan.concat());
    let served = Served::demo_with(&place, 0, &["--plan", "plan.toml"]);
    let before = available(&served);
    let args = UPLOAD.iter().copied().chain(["--concurrency", "1", "--report", "report.csv"]);
    let said = summary(&served.sheetport(&place, args).run());
    // The first request is a 409, and its repetition is refused, both before it took effect.
    assert_eq!(accounting(&said), "12: sent 9, failed 1, unknown 2");
    let mut expected = [1; ROWS as usize];
    expected[0] = 0;
    assert_eq!(arrivals(&served, before), expected);
    let errors = super::column(&super::table(&place.path("report.csv")), "sheetport_errors").join("\n");
    assert!(errors.contains("the service answered 422: no") || errors.contains("no;"), "{errors}");
    assert_eq!(errors.matches("may have been applied all the same").count(), 2, "{errors}");
}

/// A profile speaks of its own service only.
#[tokio::test]
async fn other_services_get_no_keys() {
    let server = Server::start(|_| Reply::Accept).await;
    for (profile, is_sent) in [
        (format!("base_url = \"{}\"\nidempotency_key = \"24h\"", server.address), true),
        ("idempotency_key = \"24h\"".to_owned(), true),
        ("base_url = \"http://127.0.0.1:1\"\nidempotency_key = \"24h\"".to_owned(), false),
        (String::new(), false),
    ] {
        let place = place();
        set_profile(&place, &profile);
        let upload =
            place.sheetport(UPLOAD).env("SHEETPORT_BASE_URL", &server.address).secret("SHEETPORT_ACCESS_TOKEN", "a-1");
        let seen = server.log().len();
        tokio::task::spawn_blocking(move || upload.exits(0)).await.unwrap();
        let keys: Vec<Option<String>> = server.log()[seen..].iter().map(|seen| seen.idempotency_key.clone()).collect();
        assert_eq!(keys.len(), ROWS as usize);
        assert!(keys.iter().all(|key| key.is_some() == is_sent), "{profile}: {keys:?}");
        let mut different = keys.clone();
        different.sort();
        different.dedup();
        assert!(!is_sent || different.len() == keys.len(), "{keys:?}");
    }
}

#[test]
fn a_wrong_duration_is_shown_at_its_place() {
    let place = place();
    set_profile(&place, "idempotency_key = \"soon\"");
    let said = place.sheetport(["runs"]).exits(2);
    said.says(&["sheetport.toml:2:19", "'soon' is not a duration such as 24h, 7d, 90min or 30s"]);
}

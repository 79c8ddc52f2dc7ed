//! `serve show`: records with their requests, what arrived twice, and the journal, also while the service runs.

use std::fs;

use serde_json::{Value, json};

use super::process::{Place, until};
use super::service::Served;

const SHOW: [&str; 4] = ["serve", "show", "--data", "service"];

#[track_caller]
fn show(place: &Place, args: &[&str]) -> Value {
    place.sheetport(SHOW.iter().chain(args).copied()).arg("--json").exits(0).json()
}

/// Waits until the journal has this number of requests.
#[track_caller]
fn requests(place: &Place, total: usize) -> Vec<Value> {
    let found = until("the journal has all requests", || {
        let found = show(place, &["requests", "--limit", "all"])["requests"].as_array().unwrap().clone();
        (found.len() >= total).then_some(found)
    });
    assert_eq!(found.len(), total, "{found:?}");
    found
}

const INVOICE: &str = r#"{"cid":"019a3c00-0003-7000-8000-000000000005","status":"scheduled","items":[{"id":"019a3c00-0001-7000-8000-000000000001","amount":10}],"currency":"EUR"}"#;

#[test]
fn requests_with_a_wrong_base_address_are_in_the_journal() {
    let place = Place::new();
    let served = Served::demo(&place);
    served.send("GET", "/shop/v1/public/items", "", "");
    served.send("GET", "/healthz", "", "");
    let found = requests(&place, 1);
    assert_eq!((&found[0]["path"], &found[0]["status"]), (&json!("/shop/v1/public/items"), &json!(404)), "{found:?}");
}

#[test]
fn records_show_the_requests_that_made_them_and_what_arrived_twice() {
    let place = Place::new();
    let served = Served::demo(&place);
    let post = |path: &str, body: &str| served.send("POST", path, "", body);
    post("/v1/invoices/create", INVOICE);
    post("/v1/invoices/create", &INVOICE.replace("10}", "10.0}"));
    post("/v1/invoices/create", &INVOICE.replace("10}", "11}"));
    post("/v1/public/items", r#"{"externalId":"A-1","name":"Bolt","price":1.50}"#);
    post("/v1/public/items", r#"{"externalId":"A-1","price":2}"#);
    post("/v1/public/items", r#"{"externalId":"a-1 ","price":2}"#);
    let order = r#"{"order":{"deliveryStatus":"delivered","items":[{"itemExternalId":"A-1","quantity":3}]},"triggerWorkflows":true}"#;
    served.send("PUT", "/v1/public/orders/SO-2026-0001", "", order);
    served.send("PUT", "/v1/public/orders/SO-2026-0001", "", order);
    requests(&place, 8);

    let overview = show(&place, &[]);
    let demo = &overview["workspaces"][0];
    assert_eq!(
        (&demo["workspace"], &demo["requests"], &demo["records"]["invoices"]),
        (&json!("demo"), &json!(8), &json!(3))
    );
    let twice: Vec<_> = demo["arrived_twice"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| (group["records"].clone(), group["requests"].clone(), group["same"].clone()))
        .collect();
    assert_eq!(
        twice,
        [
            (json!("items"), json!([4, 6]), json!(r#"external ids that differ in spelling alone: "A-1", "a-1 ""#)),
            (json!("invoices"), json!([1, 2]), json!("the same content")),
            (json!("jobs"), json!([7, 8]), json!("the same order, by requests with the same content")),
        ]
    );

    let item = &show(&place, &["items", "A-1"])["records"][0];
    let touches: Vec<_> = item["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|touch| (touch["request"].clone(), touch["outcome"].clone(), touch["fields"].clone()))
        .collect();
    assert_eq!(
        touches,
        [
            (json!(4), json!("created"), Value::Null),
            (json!(5), json!("updated"), serde_json::from_str(r#"{"price":[1.50,2]}"#).unwrap()),
        ]
    );
    let order = &show(&place, &["orders", "5001"])["records"][0];
    assert_eq!((order["lines"].as_array().unwrap().len(), order["jobs"].as_array().unwrap().len()), (1, 2), "{order}");
    assert_eq!(order["lines"][0]["quantity"], 3);
    assert_eq!(order["requests"][0]["fields"]["delivery_status"][1], "delivered");
    assert_eq!(order["requests"][1]["outcome"], json!("unchanged"));
    let invoices = show(&place, &["invoices", "--limit", "2"]);
    assert_eq!((&invoices["total"], invoices["records"].as_array().unwrap().len()), (&json!(3), 2));
    assert_eq!(invoices["records"][0]["arrived_twice"].as_array().unwrap().len(), 1);
    assert_eq!(invoices["records"][1]["arrived_twice"], json!([]));

    let text = place.sheetport(SHOW.iter().chain(&["items"]).copied()).exits(0).stdout;
    assert!(text.contains("request 5") && text.contains("updated: price 1.50 → 2"), "{text}");
    assert!(text.contains("loaded, or by a request that is no longer in the journal"), "{text}");
    let text = place.sheetport(SHOW).exits(0).stdout;
    assert!(text.contains("arrived twice") && text.contains("made by requests 1, 2"), "{text}");
    let journal = place.sheetport(SHOW.iter().chain(&["requests"]).copied()).exits(0).stdout;
    assert!(journal.contains("repeats request 7"), "{journal}");
}

#[test]
fn the_journal_is_kept_bounded_and_has_no_tokens() {
    let place = Place::new();
    let served = Served::start_with(&place, 0, &["--journal", "20"]);
    let (access, refresh) = served.tokens();
    let body = format!(r#"{{"refresh":"{refresh}"}}"#);
    served.send("POST", "/api/token/refresh/", "", &body);
    served.send("GET", &format!("/v1/public/items?access_token={}&page=1", access), "", "");
    served.send("GET", &format!("/v1/public/orders/{}", access), "", "");
    served.send("POST", "/v1/public/items", "", &format!(r#"{{"externalId":"{}","price":"x"}}"#, access));
    served.send("GET", "/healthz", "", "");
    let all = requests(&place, 4);
    assert_eq!(all[1]["query"], "access_token=…&page=1");
    assert_eq!((&all[2]["path"], &all[2]["status"]), (&json!("/v1/public/orders/<token>"), &json!(404)));
    assert_eq!(
        (&all[3]["key"], &all[3]["reason"]),
        (&json!("<token>"), &json!("price must be a number or null, not a string"))
    );
    for file in ["service.db", "service.db-wal"] {
        let bytes = fs::read(place.path("service").join(file)).unwrap();
        for secret in [&access, &refresh] {
            let secret = secret.rsplit('.').next().unwrap().as_bytes();
            assert!(!bytes.windows(secret.len()).any(|window| window == secret), "{file}");
        }
    }
    for number in 0..40 {
        served.send("GET", "/v1/public/items", "", "");
        if number % 4 == 0 {
            served.send("POST", "/v1/public/items", "", &format!(r#"{{"externalId":"{number}"}}"#));
        }
    }
    // 11 writes, and 20 to 22 others: the oldest are deleted from time to time.
    let all = until("the last request is in the journal", || {
        let found = show(&place, &["requests", "--limit", "all"])["requests"].as_array().unwrap().clone();
        (found.last().unwrap()["request"] == 54).then_some(found)
    });
    let writes = all.iter().filter(|request| request["path"] == "/v1/public/items" && request["method"] == "POST");
    assert_eq!(writes.count(), 11);
    let total = all.len();
    assert!((31..=34).contains(&total), "{total}");
    drop(served);

    // Numbers go on after a restart, and a stopped service is shown as well.
    let before = show(&place, &["requests"]);
    assert_eq!(before["requests"].as_array().unwrap().last().unwrap()["request"], 54);
    let served = Served::start_with(&place, 0, &["--journal", "0"]);
    served.send("POST", "/v1/public/items", "", r#"{"externalId":"Z"}"#);
    let items = show(&place, &["items", "Z"]);
    assert_eq!(items["records"][0]["requests"], json!([]));
}

#[test]
fn faults_and_lost_responses_are_in_the_journal() {
    let place = Place::new();
    place.write("plan.toml", "[[fault]]\nname = \"lost\"\nkey = \"A\"\nattempt = 1\nending = \"reset\"\nwhen = \"after\"\n[[fault]]\nkey = \"B\"\nanswer = { status = 503 }\nwhen = \"before\"\n");
    let served = Served::start_with(&place, 0, &["--plan", "plan.toml"]);
    for id in ["A", "A", "B"] {
        served.send("POST", "/v1/public/items", "", &format!(r#"{{"externalId":"{id}"}}"#));
    }
    let all = requests(&place, 3);
    let short: Vec<_> = all
        .iter()
        .map(|request| {
            (
                request["status"].clone(),
                request["fault"].clone(),
                request["changes"][0]["outcome"].clone(),
                request["repeats"].clone(),
            )
        })
        .collect();
    assert_eq!(
        short,
        [
            (Value::Null, json!("lost"), json!("created"), Value::Null),
            (json!(200), Value::Null, json!("unchanged"), json!(1)),
            (json!(503), json!("fault 2"), Value::Null, Value::Null),
        ]
    );
    assert_eq!(all[2]["key"], "B");
}

#[test]
fn refused_updates_of_orders_have_their_reason_in_the_journal() {
    let place = Place::new();
    let served = Served::demo(&place);
    served.send("PUT", "/v1/public/orders/SO-2026-0001", "", r#"{"order":{"items":[{"itemExternalId":"none-such"}]}}"#);
    let refused = &requests(&place, 1)[0];
    assert_eq!(
        (&refused["status"], &refused["reason"]),
        (&json!(200), &json!(r#"line 1: no item has the itemExternalId "none-such""#))
    );
}

#[test]
fn missing_data_and_records_are_reported() {
    let place = Place::new();
    let refused = |args: &[&str], message: &str| {
        let ended = place.sheetport(args.iter().copied()).exits(2);
        assert!(ended.stderr.contains(message), "{}", ended.stderr);
    };
    refused(&SHOW, "there is no data of a service in service");
    let served = Served::demo(&place);
    drop(served);
    refused(&["serve", "show", "items", "nobody", "--data", "service"], "no record of items has");
    refused(&["serve", "show", "requests", "7", "--data", "service"], "the journal has no request");
    refused(&["serve", "show", "--workspace", "other", "--data", "service"], "of the workspace 'other'");
    refused(&["serve", "show", "prices", "--data", "service"], "requests");
}

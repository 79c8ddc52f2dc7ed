//! `--lines`: each listed order is requested by its ID.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::process::{Place, Sheetport, until};
use super::service::Served;
use super::{column, count, table};
use crate::faults::server::{Server, answer};

/// Number of orders on a page.
const PAGE: usize = 10;
const LIST: &str = "/v1/public/orders";

/// An order, of which the list does not show the lines.
#[derive(Clone, Default)]
struct Order {
    status: &'static str,
    /// Number of pieces in the only line.
    pieces: u32,
    /// Answer to a request of the order, if not the order.
    answer: Option<(u16, &'static str)>,
    /// Whether the order is removed when it is requested.
    vanishes: bool,
}

/// A service with orders, and a log of requests.
struct Orders {
    server: Server,
    orders: Arc<Mutex<BTreeMap<String, Order>>>,
}

impl Orders {
    async fn start(orders: usize) -> Orders {
        let orders = (1..=orders)
            .map(|number| (format!("o{number:03}"), Order { status: "open", pieces: 2, ..Order::default() }));
        let orders: Arc<Mutex<BTreeMap<String, Order>>> = Arc::new(Mutex::new(orders.collect()));
        let shared = Arc::clone(&orders);
        let server = Server::with_probes(move |seen| {
            let mut orders = shared.lock().unwrap();
            let path = seen.path.split('?').next().unwrap();
            if let Some(id) = path.strip_prefix(LIST).and_then(|rest| rest.strip_prefix('/')) {
                let Some(order) = orders.get(id).cloned() else { return answer(404, "", "{}") };
                if order.vanishes {
                    orders.remove(id);
                    return answer(404, "", "{}");
                }
                if let Some((status, body)) = order.answer {
                    return answer(status, "", body);
                }
                let Order { status, pieces, .. } = order;
                // The fields have another order than in the list.
                let body = format!(
                    r#"{{"status":"{status}","id":"{id}","note":"n","items":[{{"quantity":{pieces},"price":1.50}},{{"quantity":1,"price":4}}]}}"#
                );
                return answer(200, "", &body);
            }
            let number: usize = seen.path.split("page=").nth(1).unwrap().split('&').next().unwrap().parse().unwrap();
            let entries: Vec<String> = orders
                .iter()
                .map(|(id, order)| format!(r#"{{"id":"{id}","status":"{}","changed":{}}}"#, order.status, order.pieces))
                .collect();
            let page = entries.chunks(PAGE).nth(number - 1).unwrap_or_default().join(",");
            answer(200, "", &format!(r#"{{"data":[{page}],"total":{}}}"#, entries.len()))
        })
        .await;
        Orders { server, orders }
    }

    fn set(&self, id: &str, change: impl FnOnce(&mut Order)) {
        change(self.orders.lock().unwrap().get_mut(id).unwrap());
    }

    /// Returns the requested orders from this number of requests on, sorted: several are requested at a time.
    fn requested(&self, from: usize) -> Vec<String> {
        let log = self.server.log_from(from);
        let ids = log.iter().filter_map(|seen| seen.path.strip_prefix(LIST)?.strip_prefix('/').map(str::to_owned));
        let mut ids: Vec<String> = ids.collect();
        ids.sort();
        ids
    }

    fn sheetport(&self, place: &Place, words: &[&str]) -> Sheetport {
        let command = place.sheetport(words).env("SHEETPORT_BASE_URL", &self.server.address);
        command.secret("SHEETPORT_ACCESS_TOKEN", "access-1")
    }

    /// Exports with lines. Returns the summary, and the orders that were requested.
    #[track_caller]
    fn export(&self, place: &Place, file: &str, flags: &[&str], code: i32) -> (Value, Vec<String>) {
        let from = self.server.received();
        let words = ["export", "orders", "-o", file, "--lines", "--json"];
        let ended = self.sheetport(place, &[&words[..], flags].concat()).exits(code).json();
        (ended, self.requested(from))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_order_has_its_lines() {
    let (place, orders) = (Place::new(), Orders::start(25).await);
    let (exported, requested) = orders.export(&place, "orders.csv", &["--explode", "items"], 0);
    assert_eq!((count(&exported, "count"), count(&exported, "rows"), requested.len()), (25, 50, 25));
    let rows = table(&place.path("orders.csv"));
    assert_eq!(column(&rows, "id")[..3], ["o001", "o001", "o002"], "in the order of the list");
    assert_eq!(column(&rows, "items.quantity")[..3], ["2", "1", "2"]);
    let manifest: Value = serde_json::from_slice(&fs::read(place.path("orders.csv.manifest.json")).unwrap()).unwrap();
    assert_eq!(
        (&manifest["lines"], &manifest["complete"], &manifest["distinct"]),
        (&json!(true), &json!(true), &json!(25))
    );
    // NDJSON has the orders as the service sent them.
    orders.export(&place, "orders.ndjson", &[], 0);
    let text = fs::read_to_string(place.path("orders.ndjson")).unwrap();
    assert!(text.starts_with(r#"{"status":"open","id":"o001","note":"n","items":["#), "{text}");
    let flags = ["--explode", "items", "--columns", "id,sum=row['items.quantity'] * row['items.price']", "--sort=-id"];
    orders.export(&place, "sums.csv", &flags, 0);
    assert_eq!(table(&place.path("sums.csv"))[1..3], [["o025", "3"], ["o025", "4"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_changed_orders_are_requested() {
    let (place, orders) = (Place::new(), Orders::start(12).await);
    // An export without lines has another history.
    orders.sheetport(&place, &["export", "orders", "-o", "new.csv", "--since", "last"]).exits(0);
    fs::remove_file(place.path("new.csv")).unwrap();
    let flags = ["--since", "last", "--append"];
    assert_eq!(orders.export(&place, "new.csv", &flags, 0).1.len(), 12);
    let (exported, requested) = orders.export(&place, "new.csv", &flags, 0);
    assert_eq!((count(&exported, "count"), count(&exported, "older"), requested.len()), (0, 12, 0));
    orders.set("o003", |order| order.pieces = 9);
    orders.orders.lock().unwrap().insert("o100".to_owned(), Order { status: "open", pieces: 1, ..Order::default() });
    let (exported, requested) = orders.export(&place, "new.csv", &flags, 0);
    assert_eq!(requested, ["o003", "o100"]);
    assert_eq!(exported["changes"], json!({"added": 1, "changed": 1, "removed": 0}));
    assert_eq!(column(&table(&place.path("new.csv")), "id")[12..], ["o003", "o100"]);
    assert!(orders.export(&place, "new.csv", &flags, 0).1.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_keeps_orders_that_did_not_change() {
    let (place, orders) = (Place::new(), Orders::start(6).await);
    let flags = ["--since", "last", "--where", "status == 'open'"];
    let alive = || {
        let query = "SELECT id, status, note FROM orders WHERE deleted_at IS NULL ORDER BY id";
        let rows = sheetport_datasets::testing::query(&place.path("o.db"), query);
        rows.iter().map(|row| row.join("|")).collect::<Vec<_>>()
    };
    assert_eq!(orders.export(&place, "o.db", &flags, 0).1.len(), 6);
    orders.set("o002", |order| order.pieces = 5);
    orders.set("o003", |order| order.status = "paid");
    orders.orders.lock().unwrap().remove("o006");
    let (exported, requested) = orders.export(&place, "o.db", &flags, 0);
    assert_eq!(requested, ["o002"]);
    assert_eq!(exported["changes"], json!({"added": 0, "changed": 1, "removed": 2}));
    assert_eq!(alive(), ["o001|open|n", "o002|open|n", "o004|open|n", "o005|open|n"]);
    assert!(orders.export(&place, "o.db", &flags, 0).1.is_empty());
    assert_eq!(alive().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_about_the_list_save_requests() {
    let (place, orders) = (Place::new(), Orders::start(6).await);
    orders.set("o002", |order| order.status = "paid");
    orders.set("o004", |order| (order.status, order.pieces) = ("paid", 7));
    let flags = ["--where", "status == 'paid'", "--where", "note == 'n'", "--since", "last"];
    let (exported, requested) = orders.export(&place, "a.csv", &flags, 0);
    assert_eq!(requested, ["o002", "o004"]);
    assert_eq!((count(&exported, "count"), count(&exported, "left_out")), (2, 4));
    // An order that meets the conditions now is new.
    fs::remove_file(place.path("a.csv")).unwrap();
    orders.set("o005", |order| order.status = "paid");
    let (exported, requested) = orders.export(&place, "a.csv", &flags, 0);
    assert_eq!(requested, ["o005"]);
    assert_eq!((count(&exported, "older"), count(&exported, "left_out")), (2, 3));
    // A condition about another field is decided by the order itself.
    let (exported, requested) = orders.export(&place, "b.csv", &["--where", "note != 'n'"], 0);
    assert_eq!((count(&exported, "left_out"), count(&exported, "count"), requested.len()), (6, 0, 6));
    orders.export(&place, "b.csv", &["--where", "nte != 'n'"], 2);
    assert!(orders.export(&place, "b.csv", &["--where", "note == 'n'"], 0).1.is_empty(), "they are still in the spool");
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_that_are_gone_or_not_found_are_told_apart() {
    let (place, orders) = (Place::new(), Orders::start(15).await);
    orders.set("o007", |order| order.vanishes = true);
    let ended = orders.sheetport(&place, &["export", "orders", "-o", "o.csv", "--lines"]).exits(0);
    ended.shows(&["14 orders in o.csv", "complete", "1 were removed before their lines were requested"]);
    assert!(!place.path("o.csv.not-found.csv").exists());
    let before = fs::read(place.path("o.csv")).unwrap();
    for (status, body, reason) in [
        (404, "{}", "not found"),
        (422, r#"{"message": "locked"}"#, "the service answered 422: locked"),
        (200, r#"{"id": "o001", "items": []}"#, "the service answered the record o001 instead"),
    ] {
        orders.set("o003", |order| order.answer = Some((status, body)));
        let (exported, _) = orders.export(&place, "o.csv", &[], 8);
        assert_eq!((count(&exported, "count"), count(&exported, "not_found"), count(&exported, "gone")), (13, 1, 0));
        assert!(exported["how"].as_str().unwrap().starts_with("1 listed records were not found"), "{exported}");
        let missing = table(&place.path("o.csv.incomplete.not-found.csv"));
        assert_eq!(missing, [["id", "row", "reason"], ["o003", "3", reason]]);
        assert_eq!(fs::read(place.path("o.csv")).unwrap(), before);
    }
    orders.set("o003", |order| order.answer = None);
    orders.export(&place, "o.csv", &["--since", "last"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_export_goes_on_with_the_other_orders() {
    let (place, orders) = (Place::new(), Orders::start(60).await);
    let words = ["export", "orders", "-o", "o.csv", "--lines", "--explode", "items", "--rate", "30/s"];
    let running = orders.sheetport(&place, &words).start();
    until("some orders", || (orders.requested(0).len() > 15).then_some(()));
    running.kill();
    assert!(!place.path("o.csv").exists());
    let before = orders.requested(0);
    let (exported, requested) = orders.export(&place, "o.csv", &["--explode", "items"], 0);
    assert_eq!((count(&exported, "count"), count(&exported, "rows"), &exported["resumed"]), (60, 120, &json!(true)));
    // Those in flight are requested twice.
    let twice = requested.iter().filter(|id| before.contains(id)).count();
    assert!(twice <= 16 && requested.len() < 60 - 1, "{} before, {} after", before.len(), requested.len());
    let rows = table(&place.path("o.csv"));
    let mut ids = column(&rows, "id");
    ids.dedup();
    assert_eq!(ids.len(), 60, "each once, in the order of the list");
    assert!(ids.is_sorted());
    // The hashes are complete as well.
    let (exported, requested) = orders.export(&place, "o.csv", &["--explode", "items", "--since", "last"], 0);
    assert_eq!((count(&exported, "older"), requested.len()), (60, 0));
}

#[test]
fn faults_of_the_service_lose_no_order() {
    let place = Place::new();
    let plan = "[[fault]]\npath = \"/v1/public/orders/*\"\nattempt = 1\nshare = 0.3\nanswer = { status = 503, retry_after = 0 }\n\
                [[fault]]\npath = \"/v1/public/orders/*\"\nattempt = 1\nshare = 0.1\nending = \"cut\"\n\
                [[fault]]\nmethod = \"GET\"\npath = \"/v1/public/orders\"\nmax_page = 7\n";
    place.write("plan.toml", plan);
    let served = Served::demo_with(&place, 0, &["--plan", "plan.toml", "--seed", "5"]);
    let args = ["export", "orders", "-o", "orders.csv", "--lines", "--columns", "id,order_id", "--json"];
    let exported = served.sheetport(&place, args).exits(0).json();
    assert_eq!((count(&exported, "count"), &exported["complete"]), (30, &json!(true)), "{exported}");
    let rows = table(&place.path("orders.csv"));
    let mut ids = column(&rows, "id");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 30);
}

#[test]
fn other_lists_have_no_lines() {
    let place = Place::new();
    place.write("ids.csv", "id\no1\n");
    for (words, says) in [
        (&["items", "-o", "a.csv"][..], "--lines is for orders"),
        (&["orders", "-o", "a.csv", "--ids", "ids.csv"], "cannot be used with"),
        (&["orders", "-o", "a.csv", "--changes", "b.csv"], "cannot be used with"),
        (&["orders", "-o", "a.csv", "--family", "legacy"], "--lines needs the public family"),
    ] {
        let args = ["export", "--lines", "--base-url", "http://localhost:1"].iter().chain(words);
        let export = place.sheetport(args).env("SHEETPORT_TOKEN_HOST", "http://localhost:1");
        export.secret("SHEETPORT_ACCESS_TOKEN", "a-token-of-no-use").exits(2).says(&[says]);
    }
}

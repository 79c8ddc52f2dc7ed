//! `undo` takes back what a run has sent, and nothing that somebody has edited since.

use serde_json::{Value, json};

use super::process::{Place, Sheetport, until};
use super::service::Served;
use super::{accounting, column, summary, table};

const BEFORE: &str = "SKU,Name,Price,Currency\nA-1,Bolt,1.50,EUR\nA-2,Nut,0.10,EUR\nA-3,Washer,,EUR\nA-4,Pin,12.99,EUR\n\
                      A-5,Screw,2.00,EUR\n";
/// A-1 is unchanged, A-2 to A-5 are changed, A-5 in two fields, and A-7 is wrong.
const AFTER: &str = "SKU,Name,Price,Currency\nA-1,Bolt,1.50,EUR\nA-2,Nut,0.12,EUR\nA-3,Washer,0.06,EUR\nA-4,Pin,1299,EUR\n\
                     A-5,Screw M5,2.38,EUR\nA-7,Cap,x,EUR\n";
const MOVEMENTS: &str =
    "Movement,Stock,Quantity,Date\nin,L-01,4,2026-01-01\nin,L-01,4,2026-01-01\nout,L-02,3,2026-01-02\n";

struct Shop {
    place: Place,
    served: Served,
}

impl Shop {
    /// A service with the items of [`BEFORE`], sent by run 1, and the file `new.csv` with those of [`AFTER`].
    fn with(words: &[&str]) -> Shop {
        let place = Place::new();
        let served = Served::start_with(&place, 0, words);
        place.write("old.csv", BEFORE);
        place.write("new.csv", AFTER);
        served.sheetport(&place, ["upload", "old.csv", "-t", "items", "-q"]).exits(0);
        Shop { place, served }
    }

    /// The same, after run 2 has sent `new.csv`.
    fn sent() -> Shop {
        let shop = Shop::with(&[]);
        shop.sheetport(&["upload", "new.csv", "-t", "items", "-q", "--undoable"]).exits(3);
        shop
    }

    /// A shop with inventories, and the file `moves.csv` with [`MOVEMENTS`], sent by run 1.
    fn moved(words: &[&str]) -> (Shop, [i64; 2]) {
        let place = Place::new();
        let served = Served::demo_with(&place, 0, words);
        place.write("moves.csv", MOVEMENTS);
        let shop = Shop { place, served };
        let before = shop.stock();
        shop.sheetport(&["upload", "moves.csv", "-t", "transactions", "-q", "--yes"]).exits(0);
        assert_eq!(shop.stock(), [before[0] + 8, before[1] - 3]);
        (shop, before)
    }

    fn sheetport(&self, args: &[&str]) -> Sheetport {
        self.served.sheetport(&self.place, args.iter().copied())
    }

    fn undo(&self, args: &[&str], code: i32) -> Value {
        self.sheetport(&["undo"]).args(args).arg("--json").exits(code).json()
    }

    /// Somebody else writes an item.
    fn other_writes(&self, body: &Value) {
        self.served.post("/v1/public/items", &body.to_string());
    }

    /// Exports the items, without the time of their last change.
    fn export(&self, file: &str) -> Vec<Vec<String>> {
        self.sheetport(&["export", "items", "-o", file, "-q"]).exits(0);
        let mut rows = table(&self.place.path(file));
        let time = rows[0].iter().position(|name| name == "updated_at").unwrap();
        rows.iter_mut().for_each(|row| drop(row.remove(time)));
        rows[1..].sort();
        rows
    }

    /// Returns the items of the service: external id, name and price.
    fn items(&self) -> Vec<String> {
        let list = self.served.get("/v1/public/items?limit=100");
        let text = |item: &Value, name: &str| item[name].as_str().unwrap().to_owned();
        let item = |item: &Value| format!("{} {} {}", text(item, "external_id"), text(item, "name"), item["price"]);
        let mut items: Vec<String> = list["data"].as_array().unwrap().iter().map(item).collect();
        items.sort();
        items
    }

    /// Returns what is available of two inventories.
    fn stock(&self) -> [i64; 2] {
        ["L-01", "L-02"].map(|name| {
            let path = format!("/v1/public/inventories/{name}?external_id={name}");
            self.served.get(&path)["available"].as_i64().unwrap()
        })
    }
}

#[test]
fn what_a_run_has_changed_is_as_before() {
    for ways in [&[&["upload", "--undoable"][..]][..], &[&["plan"], &["apply", "2"]]] {
        let shop = Shop::with(&[]);
        let before = shop.export("before.csv");
        for (nth, words) in ways.iter().enumerate() {
            let file: &[&str] = if nth == 0 { &["new.csv", "-t", "items"] } else { &[] };
            shop.sheetport(&[words, file, &["-q"]].concat()).exits(3);
        }
        assert_ne!(shop.export("changed.csv"), before);
        let undone = shop.undo(&["2", "--yes"], 0);
        assert_eq!(accounting(&undone), "6: sent 4, skipped 2", "{undone}");
        assert_eq!((&undone["undo"]["of"], &undone["undo"]["returned"]), (&json!(2), &json!(4)), "{undone}");
        assert_eq!(shop.export("after.csv"), before, "{ways:?}");
        // Once more, there is nothing to do.
        let again = shop.sheetport(&["undo", "2", "--yes"]).exits(0);
        again.says(&["nothing is left to take back"]).shows(&["5  as before"]);
        assert_eq!(shop.export("again.csv"), before);
    }
}

#[test]
fn the_undo_is_a_plan_until_somebody_agrees() {
    let shop = Shop::sent();
    let changed = shop.items();
    let shown = shop.sheetport(&["undo", "2"]).exits(0);
    shown.shows(&[
        "Undo of run 2",
        "4  returned",
        "price  4 changed",
        "A-4  1299 → 12.99",
        "A-3  0.06 → blank",
        "name  1 changed",
        "A-5  Screw M5 → Screw",
        "Next    sheetport apply 3",
    ]);
    assert_eq!(shop.items(), changed, "nothing was sent");
    shop.sheetport(&["runs"]).exits(0).shows(&["planned", "new.csv, undo of run 2"]);
    let told = shop.sheetport(&["runs", "show", "2", "--json"]).exits(0).json();
    assert_eq!(told["undone_by"], 3, "{told}");
    assert_eq!(accounting(&summary(&shop.sheetport(&["apply", "3", "--json"]).exits(0))), "6: sent 4, skipped 2");
    shop.sheetport(&["report", "3", "-o", "report.csv"]).exits(0);
    let report = table(&shop.place.path("report.csv"));
    assert_eq!(column(&report, "sheetport_status"), ["skipped", "sent", "sent", "sent", "sent", "skipped"]);
    let reasons = column(&report, "sheetport_errors");
    assert!(reasons[0].contains("has the values from before run 2 already"), "{reasons:?}");
    assert!(reasons[5].contains("was not sent by run 2"), "{reasons:?}");
    shop.sheetport(&["report", "3", "-o", "report.html"]).exits(0);
    // Its rows are not what it sent, so that they are no way to send it again.
    for again in [&["retry", "3"][..], &["retry", "report.csv"], &["upload", "report.csv", "-t", "items"]] {
        shop.sheetport(again).exits(2).says(&["it takes run 2 back", "sheetport undo 2"]);
    }
}

#[test]
fn a_newer_plan_to_undo_replaces_an_older_one() {
    let shop = Shop::sent();
    shop.undo(&["2"], 0);
    shop.undo(&["2", "-y"], 0);
    shop.sheetport(&["apply", "3"]).exits(2).says(&["nothing of it was to be sent", "sheetport undo 2"]);
}

#[test]
fn the_changes_of_an_undo_are_approved_by_a_file() {
    let shop = Shop::sent();
    let planned = shop.undo(&["2", "-o", "changes.csv"], 0);
    assert!(planned["next"].as_str().unwrap().ends_with("apply changes.csv"), "{planned}");
    let changes = std::fs::read_to_string(shop.place.path("changes.csv")).unwrap();
    let lines = changes.lines().map(|line| if line.contains(",A-4,") { format!("no{line}") } else { line.to_owned() });
    shop.place.write("changes.csv", lines.collect::<Vec<_>>().join("\n"));
    let applied = summary(&shop.sheetport(&["apply", "changes.csv", "--json"]).exits(0));
    assert_eq!(accounting(&applied), "6: sent 3, skipped 3", "{applied}");
    assert_eq!(shop.items(), ["A-1 Bolt 1.50", "A-2 Nut 0.10", "A-3 Washer null", "A-4 Pin 1299", "A-5 Screw 2.00"]);
}

#[test]
fn edits_since_are_kept() {
    let shop = Shop::sent();
    shop.other_writes(&json!({"externalId": "A-4", "price": 13.50}));
    shop.other_writes(&json!({"externalId": "A-5", "price": 3}));
    // The value from before, and a field that the run did not send.
    shop.other_writes(&json!({"externalId": "A-2", "price": 0.10, "status": "inactive"}));
    let undone = shop.sheetport(&["undo", "2", "-y", "--report", "report.csv"]).exits(3);
    undone.shows(&[
        "2  returned",
        "1  partly",
        "1  kept",
        "price was '12.99' before run 2, which sent '1299', and is '13.5' now, so it is kept",
        "1 record edited since by somebody, and kept",
    ]);
    let items = ["A-1 Bolt 1.50", "A-2 Nut 0.1", "A-3 Washer null", "A-4 Pin 13.5", "A-5 Screw 3"];
    assert_eq!(shop.items(), items);
    let report = table(&shop.place.path("report.csv"));
    assert_eq!(column(&report, "sheetport_status"), ["skipped", "skipped", "sent", "skipped", "sent", "skipped"]);
    let reasons = column(&report, "sheetport_errors");
    assert!(reasons[3].contains("which sent '1299', and is '13.5' now"), "{reasons:?}");
    // What somebody edits between the plan and its approval is kept, too.
    let shop = Shop::sent();
    shop.undo(&["2"], 0);
    shop.other_writes(&json!({"externalId": "A-4", "price": 14}));
    let applied = summary(&shop.sheetport(&["apply", "3", "--json"]).exits(3));
    assert_eq!(accounting(&applied), "6: sent 3, skipped 3", "{applied}");
    assert!(applied["next"].as_str().unwrap().ends_with("undo 2"), "{applied}");
    assert!(shop.items().contains(&"A-4 Pin 14".to_owned()));
    // Nor does a resume of the plan overwrite it, unlike that of an upload.
    let shop = Shop::sent();
    shop.undo(&["2"], 0);
    shop.other_writes(&json!({"externalId": "A-4", "price": 14}));
    let resumed = summary(&shop.sheetport(&["resume", "3", "--json"]).exits(3));
    assert_eq!(accounting(&resumed), "6: sent 3, skipped 3", "{resumed}");
    assert!(shop.items().contains(&"A-4 Pin 14".to_owned()));
}

#[test]
fn an_undo_is_taken_back_like_any_run() {
    let shop = Shop::sent();
    let changed = shop.export("changed.csv");
    shop.undo(&["2", "-y"], 0);
    let redone = shop.undo(&["3", "-y"], 0);
    assert_eq!(accounting(&redone), "6: sent 4, skipped 2", "{redone}");
    assert_eq!(shop.export("again.csv"), changed);
    shop.undo(&["2", "-y"], 0);
    assert_eq!(shop.items(), ["A-1 Bolt 1.50", "A-2 Nut 0.10", "A-3 Washer null", "A-4 Pin 12.99", "A-5 Screw 2.00"]);
}

#[test]
fn rows_are_taken_back_alone() {
    let shop = Shop::sent();
    let undone = shop.undo(&["2", "-y", "--rows", "3-4"], 0);
    assert_eq!(accounting(&undone), "6: sent 2, skipped 4", "{undone}");
    assert_eq!(shop.items(), ["A-1 Bolt 1.50", "A-2 Nut 0.10", "A-3 Washer null", "A-4 Pin 1299", "A-5 Screw M5 2.38"]);
    shop.undo(&["2", "-y"], 0);
    assert!(shop.items().contains(&"A-5 Screw 2.00".to_owned()));
    shop.sheetport(&["undo", "2", "--rows", "7-9"])
        .exits(2)
        .says(&["the service has accepted no record of these rows"]);
}

#[test]
fn created_items_are_listed() {
    let shop = Shop::with(&[]);
    shop.place.write("new.csv", format!("{AFTER}A-8,Clip,9.00,EUR\n"));
    shop.sheetport(&["upload", "new.csv", "-t", "items", "-q", "--undoable"]).exits(3);
    let undone = shop.undo(&["2", "-y"], 3);
    assert_eq!(accounting(&undone), "7: sent 4, skipped 3", "{undone}");
    assert_eq!((&undone["undo"]["cannot"], &undone["cannot_undo"]["rows"]), (&json!(1), &json!([8])), "{undone}");
    let why = undone["problems"].to_string();
    assert!(why.contains("was created by run 2, and the service can't delete items"), "{why}");
}

#[test]
fn a_literal_service_returns_what_it_shows() {
    let shop = Shop::with(&["--literal"]);
    // Its list shows no purchase price; run 2 sends one for A-2 alone, of which run 1 knew nothing.
    shop.place.write("new.csv", "SKU,Name,Price,Currency,Purchase price\nA-2,Nut,0.12,EUR,0.05\nA-4,Pin,1299,EUR,\n");
    shop.sheetport(&["upload", "new.csv", "-t", "items", "-q", "--undoable"]).exits(0);
    shop.place.write("next.csv", "SKU,Name,Price,Currency,Purchase price\nA-2,Nut,0.12,EUR,0.07\n");
    shop.sheetport(&["upload", "next.csv", "-t", "items", "-q", "--undoable"]).exits(0);
    let cost = || {
        let items = shop.served.get("/v1/public/items?limit=100");
        let nut = items["data"].as_array().unwrap().iter().find(|item| item["external_id"] == "A-2").unwrap().clone();
        nut["purchase_price"].to_string()
    };
    let undone = shop.undo(&["3", "-y"], 0);
    assert_eq!((accounting(&undone).as_str(), cost().as_str()), ("1: sent 1", "0.05"), "{undone}");
    assert_eq!(undone["changes"]["fields"][0]["as_sent"], 1, "{undone}");
    let undone = shop.undo(&["2", "-y"], 3);
    let why = undone["problems"].to_string();
    assert!(why.contains("is not shown by the service, so what it was before run 2 is not known"), "{why}");
    assert_eq!((&undone["undo"]["returned"], &undone["undo"]["partly"]), (&json!(2), &json!(1)), "{undone}");
    assert_eq!(shop.items()[1..4], ["A-2 Nut 0.10", "A-3 Washer null", "A-4 Pin 12.99"]);
}

#[test]
fn runs_that_can_not_be_taken_back_say_why() {
    let shop = Shop::sent();
    let refused = |args: &[&str], words: &[&str]| {
        let before = shop.items();
        shop.sheetport(&["undo"]).args(args).exits(2).says(words);
        assert_eq!(shop.items(), before);
    };
    refused(&["1"], &["run 1 can't be taken back", "what the service had before it was not read", "--undoable"]);
    refused(&["9"], &["there is no run 9"]);
    refused(&["2", "--base-url", "http://127.0.0.1:9"], &["it was planned for", "use the address"]);
    let token = ["serve", "token", "--data", "service", "--workspace", "other", "--access", "full", "--json"];
    let token = shop.place.sheetport(token).exits(0).json();
    let other = shop.sheetport(&["undo", "2", "-y"]).without("SHEETPORT_REFRESH_TOKEN");
    let other = other.secret("SHEETPORT_ACCESS_TOKEN", token["access"].as_str().unwrap()).exits(2);
    other.says(&["it was planned for the workspace 'shop', but the token is for 'other'"]);
    shop.place.write("new.csv", AFTER.replace("0.12", "0.13"));
    shop.sheetport(&["plan", "new.csv", "-t", "items", "-q"]).exits(3);
    refused(&["3"], &["the service has accepted none of its records"]);
    shop.sheetport(&["runs", "prune", "--older-than", "0d", "--force"]).exits(0);
    refused(&["2"], &["there is no run 2 any more", "removed it"]);
}

#[test]
fn without_a_look_nothing_undoable_is_sent() {
    let place = Place::new();
    place.write("plan.toml", "[[fault]]\nmethod = \"GET\"\npath = \"/v1/public/items\"\nanswer = { status = 403 }\n");
    let served = Served::start_with(&place, 0, &["--plan", "plan.toml"]);
    place.write("new.csv", AFTER);
    let upload = ["upload", "new.csv", "-t", "items", "--undoable"];
    let ended = served.sheetport(&place, upload).run();
    assert!(ended.code.is_some_and(|code| code > 0), "{ended:?}");
    ended.says(&["nothing was sent, because what the service has can't be read and kept for an undo"]);
    assert_eq!(served.get("/v1/items")["data"], json!([]));
}

#[test]
fn what_was_erased_is_not_taken_back() {
    let shop = Shop::sent();
    shop.sheetport(&["runs", "erase", "--key", "A-4"]).exits(0);
    let undone = shop.undo(&["2", "-y"], 3);
    assert_eq!(accounting(&undone), "6: sent 3, skipped 3", "{undone}");
    assert!(undone["problems"].to_string().contains("is not known any more, or was never read"), "{undone}");
    assert!(shop.items().contains(&"A-4 Pin 1299".to_owned()));
}

#[test]
fn movements_are_answered_by_their_opposites_once() {
    let (shop, before) = Shop::moved(&[]);
    let undone = shop.undo(&["1", "-y"], 0);
    assert_eq!(accounting(&undone), "3: sent 3", "{undone}");
    assert_eq!(shop.stock(), before);
    shop.sheetport(&["report", "2", "-o", "report.csv"]).exits(0);
    let report = table(&shop.place.path("report.csv"));
    let ids = column(&report, "sheetport_service_id");
    let counter = shop.served.get(&format!("/v1/public/inventory-transactions/{}", ids[2]));
    assert_eq!((&counter["transaction_type"], &counter["transaction_amount"]), (&json!("in"), &json!(3)));
    assert!(!counter["transaction_date"].as_str().unwrap().starts_with("2026-01-02"), "{counter}");
    let again = shop.sheetport(&["undo", "1", "-y"]).exits(0);
    assert!(!again.stderr.contains("--allow-repeat"), "{again:?}");
    again.says(&["nothing is left to take back"]).shows(&["3  undone", "was taken back in run 2"]);
    assert_eq!(shop.stock(), before);
    // A correction of the file is new, though it has the values of a counter-movement.
    shop.place.write("more.csv", "Movement,Stock,Quantity,Date\nin,L-02,3,2026-01-02\n");
    shop.sheetport(&["upload", "more.csv", "-t", "transactions", "-q", "--yes"]).exits(0);
    assert_eq!(shop.stock(), [before[0], before[1] + 3]);
    // The undo is taken back like any run, once.
    shop.undo(&["2", "-y"], 0);
    assert_eq!(shop.stock(), [before[0] + 8, before[1]]);
    shop.undo(&["2", "-y"], 0);
    assert_eq!(shop.stock(), [before[0] + 8, before[1]]);
}

#[test]
fn two_plans_to_undo_movements_book_once() {
    let (shop, before) = Shop::moved(&[]);
    shop.undo(&["1"], 0);
    shop.undo(&["1", "-y"], 0);
    assert_eq!(shop.stock(), before);
    shop.sheetport(&["apply", "2"]).exits(2);
    shop.sheetport(&["resume", "2"]).exits(2);
    assert_eq!(shop.stock(), before);
}

#[test]
fn movements_uploaded_anew_are_not_brought_back_as_well() {
    let (shop, before) = Shop::moved(&[]);
    shop.undo(&["1", "-y"], 0);
    // Of the two equal ones, one.
    shop.place.write("one.csv", "Movement,Stock,Quantity,Date\nin,L-01,4,2026-01-01\n");
    shop.sheetport(&["upload", "one.csv", "-t", "transactions", "-q", "--yes"]).exits(0);
    assert_eq!(shop.stock(), [before[0] + 4, before[1]]);
    let undone = shop.undo(&["2", "-y"], 3);
    assert_eq!(accounting(&undone), "3: sent 2, unchanged 1", "{undone}");
    assert_eq!((&undone["undo"]["returned"], &undone["undo"]["kept"]), (&json!(2), &json!(1)), "{undone}");
    let why = undone["problems"][0]["message"].as_str().unwrap();
    assert!(why.starts_with("was uploaded anew in run 3 on "), "{undone}");
    assert_eq!(shop.stock(), [before[0] + 8, before[1] - 3]);
    // What was brought back is taken back from where it came.
    shop.sheetport(&["undo", "4", "-y"])
        .exits(2)
        .says(&["it has brought back what run 1 had sent", "sheetport undo 1"]);
    // The file is there, whoever has sent its rows.
    let again = shop.sheetport(&["upload", "moves.csv", "-t", "transactions", "--json"]).exits(0).json();
    assert_eq!(accounting(&again), "3: unchanged 3", "{again}");
}

#[test]
fn movements_of_other_types_and_in_doubt_stay() {
    let place = Place::new();
    place.write(
        "plan.toml",
        "[[fault]]\nmethod = \"POST\"\npath = \"/v1/public/inventory-transactions\"\nattempt = 1\ncall = 2\n\
         ending = \"reset\"\nwhen = \"after\"\n",
    );
    let served = Served::demo_with(&place, 0, &["--plan", "plan.toml"]);
    let shop = Shop { place, served };
    let before = shop.stock();
    shop.place.write("moves.csv", "Movement,Stock,Quantity\nin,L-01,4\nin,L-01,5\nadjust,L-02,7\n");
    shop.place.write(
        "moves.toml",
        "record = \"inventory-transaction\"\n[fields.transactionType]\ncolumn = \"Movement\"\n\
         [fields.inventoryExternalId]\ncolumn = \"Stock\"\n[fields.transactionAmount]\ncolumn = \"Quantity\"\n",
    );
    let upload = ["upload", "moves.csv", "-t", "moves.toml", "-q", "--yes", "--concurrency", "1"];
    shop.sheetport(&upload).exits(4);
    let undone = shop.undo(&["1", "-y"], 3);
    let why = undone["problems"].to_string();
    assert!(why.contains("may or may not have been applied in run 1"), "{why}");
    assert!(why.contains("is of the type 'adjust'"), "{why}");
    assert_eq!(accounting(&undone), "3: sent 1, skipped 2", "{undone}");
    assert_eq!(shop.stock()[0], before[0] + 5);
    shop.sheetport(&["resolve", "1", "--all-sent"]).exits(0);
    let undone = shop.undo(&["1", "-y"], 3);
    assert_eq!(accounting(&undone), "3: sent 1, unchanged 1, skipped 1", "{undone}");
    assert_eq!(shop.stock()[0], before[0]);
}

#[test]
fn a_killed_undo_is_resumed_and_books_once() {
    const COUNT: i64 = 30;
    let place = Place::new();
    let served = Served::demo(&place);
    let rows: String = (0..COUNT).map(|nth| format!("in,L-01,{},2026-01-01\n", nth + 1)).collect();
    place.write("moves.csv", format!("Movement,Stock,Quantity,Date\n{rows}"));
    let shop = Shop { place, served };
    let before = shop.stock()[0];
    shop.sheetport(&["upload", "moves.csv", "-t", "transactions", "-q", "--yes"]).exits(0);
    let moved = shop.stock()[0];
    let running = shop.sheetport(&["undo", "1", "-y", "--rate", "10/s", "--concurrency", "1"]).start();
    until("some of them are sent", || (shop.stock()[0] < moved - 10).then_some(()));
    // Another person does the same.
    let busy = shop.sheetport(&["undo", "1", "-y"]).run();
    assert!(matches!(busy.code, Some(2 | 6)), "{busy:?}");
    running.kill();
    assert!(shop.stock()[0] > before, "it was killed before its end");
    shop.sheetport(&["undo", "1", "-y"]).exits(2).says(&["run 2 is taking it back, and is not finished", "continue 2"]);
    let resumed = summary(&shop.sheetport(&["resume", "2", "--json"]).run());
    let unknown = resumed["unknown"].as_u64().unwrap();
    assert!(unknown <= 1, "{resumed}");
    if unknown > 0 {
        // It was applied, or not: the stock says which.
        let was_applied = shop.stock()[0] == before;
        shop.sheetport(&["resolve", "2", if was_applied { "--all-sent" } else { "--all-failed" }]).exits(0);
        shop.undo(&["1", "-y"], 0);
    }
    assert_eq!(shop.stock()[0], before);
    shop.undo(&["1", "-y"], 0);
    assert_eq!(shop.stock()[0], before);
}

#[test]
fn orders_return_with_their_lines() {
    for words in [&[][..], &["--literal"]] {
        let is_literal = !words.is_empty();
        let place = Place::new();
        let served = Served::demo_with(&place, 0, words);
        let order = &served.get("/v1/public/orders?page=1&limit=1")["data"][0].clone();
        let text = |name: &str| order[name].as_str().unwrap().to_owned();
        let (name, path) = (text("external_id"), format!("/v1/public/orders/{}", text("id")));
        let lines = r#"{"itemExternalId": "N-1", "quantity": 0.50, "price": 1234567.8901, "tax": 0.10},
            {"itemExternalId": "N-2", "quantity": 2, "price": 3.00}"#;
        let put = |lines: &str| {
            served.put(&path, &format!(r#"{{"order": {{"items": [{lines}]}}, "createMissingItems": true}}"#));
        };
        put(lines);
        let shop = Shop { place, served };
        let order = || {
            let mut order = shop.served.get(&path);
            order.as_object_mut().unwrap().remove("updated_at");
            order
        };
        let before = order();
        shop.place.write(
            "t.toml",
            format!(
                "{}\n[fields.deliveryStatus]\ncolumn = \"State\"\n",
                super::kills::ORDER
                    .replace("[fields.order_id]\ncolumn = \"Id\"\n", "")
                    .replace("itemExternalId]\ncolumn = \"Id\"", "itemExternalId]\ncolumn = \"Item\"")
            ),
        );
        shop.place.write("new.csv", format!("Id,Item,Amount,State\n{name},N-2,5,returned\n"));
        shop.sheetport(&["upload", "new.csv", "-t", "t.toml", "-q", "--undoable"]).exits(0);
        let changed = order();
        assert_eq!(
            (&changed["delivery_status"], changed["number_item"] == before["number_item"]),
            (&json!("returned"), false)
        );
        if is_literal {
            let undone = shop.undo(&["1", "-y"], 3);
            assert!(undone["problems"].to_string().contains("is not shown by the service"), "{undone}");
            assert_eq!(order()["delivery_status"], before["delivery_status"]);
            assert_eq!(order()["items"], changed["items"]);
            continue;
        }
        shop.undo(&["1", "-y"], 0);
        assert_eq!(order(), before);
        // Somebody has changed a line since.
        shop.undo(&["2", "-y"], 0);
        assert_eq!(order()["items"], changed["items"]);
        shop.served.put(&path, r#"{"order": {"items": [{"itemExternalId": "N-2", "quantity": 6, "price": 3.00}]}}"#);
        let undone = shop.undo(&["1", "-y"], 3);
        assert_eq!((&undone["undo"]["partly"], &order()["items"][0]["quantity"]), (&json!(1), &json!(6)), "{undone}");
        assert_eq!(order()["delivery_status"], before["delivery_status"]);
    }
}

#[test]
fn invoices_are_listed() {
    let place = Place::new();
    let served = Served::demo(&place);
    std::fs::copy(super::sample("invoices.csv"), place.path("invoices.csv")).unwrap();
    let shop = Shop { place, served };
    shop.sheetport(&["upload", "invoices.csv", "-t", "invoices", "-q", "--yes"]).run();
    let undone = shop.undo(&["1", "-y"], 3);
    assert_eq!(undone["undo"]["returned"], 0, "{undone}");
    assert!(undone["problems"].to_string().contains("the service can't delete"), "{undone}");
}

#[test]
fn what_was_taken_back_is_sent_again_by_the_corrected_file() {
    let (shop, before) = Shop::moved(&[]);
    shop.undo(&["1", "--yes"], 0);
    assert_eq!(shop.stock(), before);
    shop.place.write("corrected.csv", MOVEMENTS.replace("out,L-02,3", "out,L-02,2"));
    let again = shop.sheetport(&["upload", "corrected.csv", "-t", "transactions", "--yes", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&again)), "3: sent 3");
    assert_eq!(shop.stock(), [before[0] + 8, before[1] - 2]);
    // Now they are there.
    let same = shop.sheetport(&["upload", "corrected.csv", "-t", "transactions", "--yes", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&same)), "3: unchanged 3");
    assert_eq!(shop.stock(), [before[0] + 8, before[1] - 2]);
}

#[test]
fn a_movement_that_was_corrected_since_is_kept() {
    let (shop, before) = Shop::moved(&[]);
    shop.sheetport(&["report", "1", "-o", "moved.csv"]).exits(0);
    let report = table(&shop.place.path("moved.csv"));
    let ids = column(&report, "sheetport_service_id");
    shop.place.write(
        "fix.toml",
        "record = \"inventory-transaction\"\n[fields.transaction_id]\ncolumn = \"Id\"\n[fields.transactionType]\ncolumn = \"Movement\"\n\
         [fields.transactionAmount]\ncolumn = \"Quantity\"\n",
    );
    shop.place.write("fix.csv", format!("Id,Movement,Quantity\n{},in,1\n", ids[0]));
    shop.sheetport(&["upload", "fix.csv", "-t", "fix.toml", "-q", "--yes"]).exits(0);
    let corrected = shop.stock();
    let undone = shop.undo(&["1", "--yes"], 3);
    assert_eq!((&undone["undo"]["returned"], &undone["undo"]["kept"]), (&json!(2), &json!(1)), "{undone}");
    assert_eq!(shop.stock(), [corrected[0] - 4, before[1]]);
}

#[test]
fn a_declined_undo_is_not_resumed() {
    let shop = Shop::sent();
    let changed = shop.items();
    shop.undo(&["2"], 0);
    shop.sheetport(&["resume"]).exits(2).says(&["it is an undo that nobody has applied", "sheetport apply 3"]);
    assert_eq!(shop.items(), changed);
}

#[test]
fn a_value_that_a_newer_run_has_sent_as_well_is_kept() {
    let shop = Shop::sent();
    shop.place.write("newer.csv", "SKU,Name,Price,Currency\nA-2,Nut,0.12,EUR\n");
    shop.sheetport(&["upload", "newer.csv", "-t", "items", "-q"]).exits(0);
    shop.undo(&["2", "--yes"], 3);
    assert!(shop.items().contains(&"A-2 Nut 0.12".to_owned()), "{:?}", shop.items());
}

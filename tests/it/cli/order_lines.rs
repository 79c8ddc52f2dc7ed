//! The lines that an order has in the service and a file lacks: they are named, and kept on request. A literal service shows no lines.

use serde_json::{Value, json};

use super::process::{Place, Sheetport};
use super::service::Served;
use super::{accounting, summary};

const HEADER: &str = "Order no,Item no,Qty,Unit price\n";

#[test]
fn lines_that_would_go_are_a_warning() {
    let place = Place::new();
    let served = Served::demo(&place);
    let (id, _) = first_order(&served);
    place.write("all.csv", format!("{HEADER}{id},N-1,1,2.00\n{id},N-2,1,2.00\n{id},N-3,1,2.00\n"));
    let upload = |file| served.sheetport(&place, ["upload", file, "-t", "orders", "--json", "--create-missing-items"]);
    upload("all.csv").exits(0);
    place.write("one.csv", format!("{HEADER}{id},N-2,5,2.00\n"));
    let checked = ["check", "one.csv", "-t", "orders", "--online", "--json"];
    let checked = served.sheetport(&place, checked).exits(0).json()["warnings"].clone();
    assert_eq!((&checked[0]["field"], &checked[0]["header"]), (&json!("externalId"), &json!("Order no")), "{checked}");
    let checked = checked.to_string();
    assert!(checked.contains("would lose 1 × N-1, 1 × N-3 (lines in the service: 3, in the file: 1)"), "{checked}");
    let strict = upload("one.csv").arg("--strict").exits(3);
    assert_eq!(accounting(&summary(&strict)), "1: rejected 1");
    assert_eq!(summary(&upload("one.csv").exits(0))["warned"], 1);
    // The same line again is no reason for a warning.
    assert_eq!(summary(&upload("one.csv").exits(0))["warned"], 0);
}

/// Returns the external id and the path of an order of the demo.
fn first_order(served: &Served) -> (String, String) {
    let order = &served.get("/v1/public/orders?page=1&limit=1")["data"][0];
    let text = |name: &str| order[name].as_str().unwrap().to_owned();
    (text("external_id"), format!("/v1/public/orders/{}", text("id")))
}

#[test]
fn kept_lines_arrive_as_they_were() {
    let place = Place::new();
    let served = Served::demo(&place);
    let (id, path) = first_order(&served);
    let lines = r#"{"itemExternalId": "N-1", "quantity": 0.50, "price": 1234567.8901, "tax": 0.10},
        {"itemExternalId": "N-2", "quantity": 2, "price": 3.00},
        {"itemExternalId": "N-3", "quantity": 7, "price": 0.05, "tax_rate": 19.5}"#;
    served.put(&path, &format!(r#"{{"order": {{"items": [{lines}]}}, "createMissingItems": true}}"#));
    let before = served.get(&path);
    place.write("one.csv", format!("{HEADER}{id},N-2,5,2.00\n{id},N-4,1,9.00\n"));
    let upload = ["upload", "one.csv", "-t", "orders", "--json", "--create-missing-items", "--keep-lines", "--strict"];
    assert_eq!(accounting(&summary(&served.sheetport(&place, upload).exits(0))), "1: sent 1");
    let after = served.get(&path);
    let lines = |order: &Value| {
        let mut lines = order["items"].as_array().unwrap().clone();
        lines.sort_by_key(|line| line["itemExternalId"].to_string());
        lines
    };
    let (before, after) = (lines(&before), lines(&after));
    assert_eq!(after.len(), 4, "{after:?}");
    assert_eq!((after[0].to_string(), after[2].to_string()), (before[0].to_string(), before[2].to_string()));
    assert_eq!((&after[1]["quantity"], after[1]["price"].to_string().as_str()), (&json!(5), "2.00"));
    assert_eq!(after[3]["itemExternalId"], "N-4");
    // Again, nothing else changes.
    served.sheetport(&place, upload).exits(0);
    assert_eq!(lines(&served.get(&path)), after);
}

#[test]
fn lines_that_are_not_known_exactly_are_not_kept() {
    let place = Place::new();
    let served = Served::demo(&place);
    let (id, path) = first_order(&served);
    let line = r#"{"itemExternalId": "N-1", "quantity": 1, "price": 2}"#;
    served.put(&path, &format!(r#"{{"order": {{"items": [{line}, {line}]}}, "createMissingItems": true}}"#));
    let before = served.get(&path);
    place.write("one.csv", format!("{HEADER}{id},N-1,5,2.00\n"));
    let upload = ["upload", "one.csv", "-t", "orders", "--keep-lines"];
    let ended = served.sheetport(&place, upload).exits(3);
    ended.shows(&["more of them than in the file have"]);
    assert_eq!(served.get(&path), before);

    let place = Place::new();
    let literal = Served::demo_with(&place, 0, &["--literal"]);
    place.write("one.csv", format!("{HEADER}{id},N-1,5,2.00\n"));
    literal.sheetport(&place, upload).exits(3).shows(&["the service does not show them"]);
    place.write("items.csv", "Item no,Name\nN-1,Bolt\n");
    let items = ["upload", "items.csv", "-t", "items", "--keep-lines"];
    served.sheetport(&place, items).exits(2).says(&["--keep-lines is for orders"]);
}

#[test]
fn a_retry_keeps_the_lines_as_its_upload_did() {
    let place = Place::new();
    let served = Served::demo(&place);
    let (id, path) = first_order(&served);
    let line = r#"{"itemExternalId": "N-1", "quantity": 1, "price": 2}"#;
    served.put(&path, &format!(r#"{{"order": {{"items": [{line}]}}, "createMissingItems": true}}"#));
    place.write("one.csv", format!("{HEADER}{id},N-2,x,2.00\n"));
    let upload = ["upload", "one.csv", "-t", "orders", "--create-missing-items", "--keep-lines", "--report", "r.csv"];
    served.sheetport(&place, upload).exits(3);
    place.write("r.csv", std::fs::read_to_string(place.path("r.csv")).unwrap().replace(",x,", ",5,"));
    served.sheetport(&place, ["retry", "r.csv"]).exits(0);
    let lines = served.get(&path)["items"].clone();
    assert_eq!(lines.as_array().map(Vec::len), Some(2), "{lines}");
}

/// An order of a service that does not show lines, and an upload of a file with some lines of it.
struct Hidden {
    place: Place,
    served: Served,
    id: String,
    path: String,
}

impl Hidden {
    fn new() -> Hidden {
        let place = Place::new();
        let served = Served::demo_with(&place, 0, &["--literal"]);
        let (id, path) = first_order(&served);
        Hidden { place, served, id, path }
    }

    fn run(&self, words: &[&str], items: &[&str]) -> Sheetport {
        let lines = items.iter().map(|item| format!("{},{item},1,2.00\n", self.id));
        self.place.write("o.csv", std::iter::once(HEADER.to_owned()).chain(lines).collect::<String>());
        self.served.sheetport(&self.place, [words, &["o.csv", "-t", "orders", "--json"]].concat())
    }

    /// Returns what is warned of when these lines are uploaded.
    #[track_caller]
    fn upload(&self, items: &[&str]) -> String {
        let ended = self.run(&["upload", "--create-missing-items"], items).exits(0).json();
        assert_eq!(accounting(&ended), "1: sent 1");
        ended["warnings"].to_string()
    }
}

#[test]
fn lines_of_an_earlier_upload_are_named_if_the_service_does_not_show_them() {
    let hidden = Hidden::new();
    assert_eq!(hidden.upload(&["N-1", "N-2", "N-3"]), "[]");
    let checked = hidden.run(&["check", "--online"], &["N-2"]).exits(0).json()["warnings"].clone();
    assert_eq!(checked[0]["code"], "lines-sent-before", "{checked}");
    let would = "would lose 1 × N-1, 1 × N-3, which run 1 sent on ";
    assert!(checked.to_string().contains(would) && checked.to_string().contains("(lines then: 3, in the file: 1)"));
    // As many lines, but other ones.
    assert!(hidden.upload(&["N-2", "N-4", "N-5"]).contains(would));
    // The service may have what the last upload sent.
    assert!(hidden.upload(&["N-2"]).contains("would lose 1 × N-4, 1 × N-5, which run 2 sent on "));
    assert_eq!(hidden.upload(&["N-2"]), "[]");
    assert_eq!(hidden.upload(&["N-2", "N-6"]), "[]");
    let strict = hidden.run(&["upload", "--strict"], &["N-6"]).exits(3);
    assert_eq!(accounting(&summary(&strict)), "1: rejected 1");
    // The service alone says which lines are kept.
    let kept = hidden.run(&["upload", "--keep-lines"], &["N-6"]).csv_report("r.csv").exits(3);
    assert_eq!(accounting(&summary(&kept)), "1: rejected 1");
    let report = std::fs::read_to_string(hidden.place.path("r.csv")).unwrap();
    assert!(report.contains("the service does not show them") && !report.contains("would lose"), "{report}");
}

#[test]
fn refused_uploads_and_those_without_lines_leave_the_lines_of_the_one_before() {
    let hidden = Hidden::new();
    hidden.upload(&["N-1", "N-2"]);
    // Refused, because the service has no such item.
    let refused = hidden.run(&["upload"], &["none-such"]).exits(3);
    assert_eq!(accounting(&summary(&refused)), "1: failed 1");
    let state = "record = \"order\"\n[fields.externalId]\ncolumn = \"Order no\"\n[fields.orderAt]\ncolumn = \"Date\"\n";
    hidden.place.write("state.toml", state);
    hidden.place.write("state.csv", format!("Order no,Date\n{},2026-04-14\n", hidden.id));
    let state = hidden.served.sheetport(&hidden.place, ["upload", "state.csv", "-t", "state.toml", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&state)), "1: sent 1");
    let checked = hidden.run(&["check"], &["N-1"]).arg("--online").run().stdout;
    assert!(checked.contains("would lose 1 × N-2, which run 1 sent on "), "{checked}");
    hidden.place.write("by-id.toml", "record = \"order\"\n[group]\nby = \"Id\"\n[fields.order_id]\ncolumn = \"Id\"\n[lines.itemExternalId]\ncolumn = \"SKU\"\n[lines.quantity]\ncolumn = \"Qty\"\n");
    let record = hidden.path.rsplit('/').next().unwrap();
    hidden.place.write("by-id.csv", format!("Id,SKU,Qty\n{record},N-1,1\n"));
    let by_id = ["upload", "by-id.csv", "-t", "by-id.toml", "--json"];
    assert_eq!(accounting(&summary(&hidden.served.sheetport(&hidden.place, by_id).exits(0))), "1: sent 1");
    // An upload by the record id is known by the external id, too.
    assert!(hidden.upload(&["N-2"]).contains("would lose 1 × N-1, which run 4 sent on "));
}

#[test]
fn lines_that_the_service_shows_are_compared_with_it_alone() {
    let place = Place::new();
    let served = Served::demo(&place);
    let (id, path) = first_order(&served);
    let upload = |items: &[&str]| {
        let lines = items.iter().map(|item| format!("{id},{item},1,2.00\n"));
        place.write("o.csv", std::iter::once(HEADER.to_owned()).chain(lines).collect::<String>());
        let args = ["upload", "o.csv", "-t", "orders", "--json", "--create-missing-items"];
        served.sheetport(&place, args).exits(0).json()["warnings"].to_string()
    };
    upload(&["N-1", "N-2"]);
    // Somebody else has changed the order.
    let line = r#"{"itemExternalId": "N-3", "quantity": 2.50, "price": 2}"#;
    served.put(&path, &format!(r#"{{"order": {{"items": [{line}]}}, "createMissingItems": true}}"#));
    let warned = upload(&["N-4"]);
    assert!(warned.contains("would lose 2.50 × N-3 (lines in the service: 1, in the file: 1)"), "as many: {warned}");
    assert!(!warned.contains("N-1"), "{warned}");
    let warned = upload(&["N-5", "N-6"]);
    assert!(warned.contains("would lose 1 × N-4 (lines in the service: 1, in the file: 2)"), "more: {warned}");
}

#[test]
fn a_check_foretells_kept_lines() {
    let place = Place::new();
    let served = Served::demo(&place);
    let (id, path) = first_order(&served);
    let line = r#"{"itemExternalId": "0042", "quantity": 1, "price": 2}"#;
    let put = |lines: &str| {
        served.put(&path, &format!(r#"{{"order": {{"items": [{lines}]}}, "createMissingItems": true}}"#));
    };
    put(line);
    place.write("one.csv", format!("{HEADER}{id},0043,5,2.00\n"));
    let check = |code: i32| {
        let words = ["check", "one.csv", "-t", "orders", "--online", "--keep-lines", "--json"];
        served.sheetport(&place, words).exits(code).json()
    };
    let checked = check(0);
    assert_eq!((&checked["warned"], &checked["rejected"]), (&json!(0), &json!(0)), "{checked}");
    assert!(checked["next"].as_str().unwrap().contains("--keep-lines"), "{checked}");
    put(&format!("{line},{line}"));
    place.write("one.csv", format!("{HEADER}{id},0042,5,2.00\n"));
    assert_eq!(check(3)["problems"][0]["code"], "lines-not-kept");
    let words = ["check", "one.csv", "-t", "orders", "--keep-lines"];
    served.sheetport(&place, words).exits(2).says(&["--online"]);
    place.write("items.csv", "Item no,Name\nN-1,Bolt\n");
    let items = ["check", "items.csv", "-t", "items", "--online", "--keep-lines"];
    served.sheetport(&place, items).exits(2).says(&["--keep-lines is for orders"]);
}

//! Fields with `resolve`: records are named by what people know, and what arrives is the id.

use serde_json::{Value, json};

use super::process::{Place, until};
use super::review::page::ReviewPage;
use super::service::Served;
use super::{accounting, sample, summary};
use crate::faults::server::{Reply, Seen, Server, answer};

const COMPANIES: &str = "id,external_id,number,name\nc1,C-42,1001,Müller\nc2,C-43,1002,Smith\nc3,C-44,1003,Smith\n";

/// Starts a service with companies, a contact, inventories and the items of a sample.
fn service(place: &Place, words: &[&str]) -> Served {
    place.write("companies.csv", COMPANIES);
    place.write("contacts.csv", "id,name\np1,Ann\n");
    place.write("inventories.csv", "id,inventory_id,external_id,name\ni1,1,MAIN,Bolts\ni2,2,BACK,Nuts\n");
    load(place, &["companies.csv", "contacts.csv", "inventories.csv"]);
    let served = Served::start_with(place, 0, words);
    let items = sample("items.csv");
    served.sheetport(place, ["upload", items.to_str().unwrap(), "-t", "items", "-q"]).exits(0);
    served
}

fn load(place: &Place, files: &[&str]) {
    let load = ["serve", "load", "--data", "service", "--workspace", "shop"];
    place.sheetport(load.iter().chain(files)).exits(0);
}

/// Returns a field of all stored records of a kind.
fn stored(place: &Place, kind: &str, field: &str) -> Vec<Value> {
    let show = ["serve", "show", kind, "--data", "service", "--limit", "all", "--json"];
    let shown = place.sheetport(show).exits(0).json();
    let mut values: Vec<Value> =
        shown["records"].as_array().unwrap().iter().map(|shown| shown["record"][field].clone()).collect();
    values.sort_by_key(Value::to_string);
    values
}

fn id_of_item(served: &Served, name: &str) -> String {
    let items = served.get("/v1/public/items?limit=100");
    let items = items["data"].as_array().unwrap();
    items.iter().find(|item| item["external_id"] == name).unwrap()["id"].as_str().unwrap().to_owned()
}

/// Returns the invoices of these customers, each with its own amount.
fn invoices(item: &str, customers: &[&str]) -> String {
    let rows = customers.iter().enumerate().map(|(n, customer)| format!("R{n},{customer},{item},{}\n", n + 1));
    rows.fold("Invoice no.,Customer,SKU,Quantity\n".to_owned(), |all, row| all + &row)
}

#[test]
fn a_customer_is_named_by_id_external_id_number_or_name() {
    let place = Place::new();
    let served = service(&place, &[]);
    let item = id_of_item(&served, "TL-3001");
    let customers = ["c1", "C-42", "1001", "Mu\u{308}ller ", "Ann", "Smith", "Nobody", "Müler"];
    place.write("in.csv", invoices("TL-3001", &customers));

    // Without the service, every value may be right.
    let offline = place.sheetport(["check", "in.csv", "-t", "invoices", "--json"]).exits(0).says(&[
        "cid has values that are no ids: an upload looks them up in the service's list of contacts and companies",
    ]);
    assert_eq!(accounting(&offline.json()), "8: pending 8");
    let dry = ["upload", "in.csv", "-t", "invoices", "--dry-run"];
    served.sheetport(&place, dry).exits(0).says(&["an upload looks them up in the service's list of items"]);

    let expected = [
        (
            "7",
            "stands for two records of the service (contact or company): c2 and c3",
            "write the id of the one that is meant",
        ),
        (
            "8",
            "is no contact or company that the service knows; its list was searched by id, external_id, number, name",
            "correct it, or create the contact or company first",
        ),
        (
            "9",
            "is no contact or company that the service knows; its list was searched by id, external_id, number, name, and has the name Müller",
            "write Müller if that is meant, or the id in the service",
        ),
    ];
    let online = served.sheetport(&place, ["check", "in.csv", "-t", "invoices", "--online", "--json"]).exits(3).json();
    let upload = ["upload", "in.csv", "-t", "invoices", "--report", "out.csv", "--json"];
    let sent = summary(&served.sheetport(&place, upload).exits(3));
    let report = std::fs::read_to_string(place.path("out.csv")).unwrap();
    for (row, message, remedy) in expected {
        let problems = online["problems"].as_array().unwrap();
        let is = |problem: &&Value| {
            problem["rows"].as_array().unwrap().iter().any(|of| of.as_u64().is_some_and(|of| of.to_string() == row))
        };
        let problem = problems.iter().find(is).unwrap_or_else(|| panic!("no problem of row {row}: {online}"));
        assert_eq!((&problem["message"], &problem["remedy"]), (&json!(message), &json!(remedy)));
        assert_eq!((&problem["column"], &problem["field"]), (&json!("B"), &json!("cid")));
        assert!(report.contains(message), "{report}");
    }
    assert_eq!(accounting(&online), "8: rejected 3, pending 5");
    assert_eq!(accounting(&sent), "8: sent 5, rejected 3");
    assert_eq!(stored(&place, "invoices", "cid"), ["c1", "c1", "c1", "c1", "p1"]);
    let lines = stored(&place, "invoices", "items");
    assert!(lines.iter().all(|lines| lines[0]["id"] == item.as_str()), "{lines:?}");
    assert!(report.contains("C-42") && report.contains("Ann"), "the cells are those of the file: {report}");

    // The records were sent before, whatever names them now.
    let again = summary(&served.sheetport(&place, ["upload", "in.csv", "-t", "invoices", "--json"]).exits(3));
    assert_eq!(accounting(&again), "8: unchanged 5, rejected 3");
    place.write("ids.csv", invoices(&item, &["c1", "c1", "c1", "c1", "p1"]));
    let again = summary(&served.sheetport(&place, ["upload", "ids.csv", "-t", "invoices", "--json"]).exits(0));
    assert_eq!(accounting(&again), "5: unchanged 5");

    // The fixed report is looked up, too.
    let fixed = report.replace(",Smith,", ",C-44,").replace(",Müler,", ",Müller,");
    place.write("out.csv", fixed);
    let retried = summary(&served.sheetport(&place, ["retry", "out.csv", "--json"]).exits(3));
    assert_eq!(accounting(&retried), "8: sent 2, unchanged 5, rejected 1");
    assert_eq!(stored(&place, "invoices", "cid"), ["c1", "c1", "c1", "c1", "c1", "c3", "p1"]);
}

#[test]
fn customers_are_named_in_jobs_and_on_the_page() {
    let place = Place::new();
    let served = service(&place, &[]);
    place.write("job.csv", invoices("TL-3001", &["C-42", "Ann", "Nobody"]));
    place.write("nightly.toml", "[[step]]\nupload = \"job.csv\"\ntemplate = \"invoices\"\nsettle = \"0s\"\n");
    served.sheetport(&place, ["job", "run", "nightly.toml", "-q"]).exits(3);
    assert_eq!(stored(&place, "invoices", "cid"), ["c1", "p1"]);

    let later = invoices("TL-3002", &["1003", "Müller", "Nobody"]).replace("\nR", "\nP");
    place.write("page.csv", later);
    let page = ReviewPage::open(&place, &served, "page.csv");
    page.post("/check", &json!({"full": true}));
    page.post("/compare", &json!({}));
    let compared = until("the comparison", || {
        let found = page.review()["comparison"].clone();
        (found["phase"] == "done").then_some(found)
    });
    assert_eq!((&compared["unknown"][0]["value"], &compared["new"]), (&json!("Nobody"), &json!(3)), "{compared}");
    page.post("/send", &json!({}));
    let ended = until("the end", || {
        let status = page.review()["status"].clone();
        (status["phase"] == "ended").then_some(status)
    });
    assert_eq!((&ended["counts"]["sent"], &ended["counts"]["rejected"]), (&json!(2), &json!(1)), "{ended}");
    assert_eq!(stored(&place, "invoices", "cid"), ["c1", "c1", "c3", "p1"]);
}

#[test]
fn a_company_that_was_renamed_after_the_check_is_not_guessed() {
    let place = Place::new();
    let served = service(&place, &[]);
    place.write("in.csv", invoices("TL-3001", &["Müller"]));
    served.sheetport(&place, ["check", "in.csv", "-t", "invoices", "--online", "-q"]).exits(0);
    drop(served);
    place.write("companies.csv", COMPANIES.replace("Müller", "Miller"));
    load(&place, &["companies.csv"]);
    let served = Served::start(&place);
    let ended = served.sheetport(&place, ["upload", "in.csv", "-t", "invoices"]).exits(3);
    ended.shows(&["and has the name Miller", "write Miller if that is meant, or the id in the service"]);
    assert_eq!(stored(&place, "invoices", "cid"), Vec::<Value>::new());
}

#[test]
fn orders_and_transactions_name_companies_and_inventories() {
    let place = Place::new();
    let served = service(&place, &[]);
    place.write("orders.csv", "external_id,order_at,status\nSO-1,2026-01-01T00:00:00Z,open\n");
    drop(served);
    load(&place, &["orders.csv"]);
    let served = Served::start(&place);
    place.write("t.toml", "extends = \"orders\"\n[fields.companyId]\ncolumn = \"Customer\"\n");
    place.write("in.csv", "Order no.,Customer,Item no.,Quantity,Unit price\nSO-1,Müller,TL-3001,1,5\n");
    let sent = summary(&served.sheetport(&place, ["upload", "in.csv", "-t", "t.toml", "--json", "-y"]).exits(0));
    assert_eq!(accounting(&sent), "1: sent 1");
    assert_eq!(stored(&place, "orders", "company_id"), ["c1"]);

    place.write("moves.csv", "Date,Inventory ID,Movement,Quantity\n2026-01-01,Nuts,in,3\n2026-01-01,1,in,4\n");
    let sent =
        summary(&served.sheetport(&place, ["upload", "moves.csv", "-t", "transactions", "--json", "-y"]).exits(0));
    assert_eq!(accounting(&sent), "2: sent 2");
    assert_eq!(stored(&place, "transactions", "inventory_uuid"), ["i1", "i2"]);
}

#[test]
fn a_service_that_shows_only_ids_finds_only_ids() {
    let place = Place::new();
    let served = service(&place, &["--literal"]);
    let items = served.get("/v1/public/items?limit=100");
    let item = items["data"][0]["id"].as_str().unwrap();
    place.write("in.csv", invoices(item, &["c1", "p1", "Müller", "C-42"]));
    let ended = served.sheetport(&place, ["upload", "in.csv", "-t", "invoices"]).exits(3);
    ended.shows(&["is no contact or company that the service knows; its list was searched by id"]);
    assert_eq!(stored(&place, "invoices", "cid"), ["c1", "p1"]);
}

#[test]
fn a_template_says_where_a_field_is_looked_up() {
    let place = Place::new();
    let refuses = |keys: &str, expected: &[&str]| {
        place.write("t.toml", format!("extends = \"orders\"\n{keys}\n"));
        place.sheetport(["template", "check", "t.toml"]).exits(2).says(expected);
    };
    refuses(
        "[fields.companyId]\nresolve = \"items\"",
        &["t.toml:3:11", "'items' is not a list for companyId", "companies"],
    );
    refuses(
        "[fields.companyExternalId]\nresolve = \"companies\"",
        &["t.toml:3:11", "companyExternalId takes an external id", "it is for companyId, item_id"],
    );
    refuses("[fields.deliveryStatus]\nresolve = \"companies\"", &["deliveryStatus does not name another record"]);
    place.write("t.toml", "extends = \"orders\"\n[fields.companyId]\nresolve = \"none\"\n");
    place.sheetport(["template", "check", "t.toml"]).exits(0);
}

const CUSTOMER: &str = "019a3c00-0002-7000-8000-000000000005";
const ITEM: &str = "019a3c00-0001-7000-8000-000000000002";

/// Uploads invoices to a service with these answers, and returns the summary, the report and the requests that read.
async fn uploaded(file: &str, code: i32, reply: fn(&Seen) -> Reply) -> (Value, String, Vec<String>) {
    let server = Server::start(reply).await;
    let place = Place::new();
    place.write("in.csv", file);
    let upload = place.sheetport(["upload", "in.csv", "-t", "invoices", "--json", "--report", "out.csv"]);
    let upload = upload.env("SHEETPORT_BASE_URL", &server.address).secret("SHEETPORT_ACCESS_TOKEN", "access-1");
    let sent = summary(&upload.exits(code));
    let report = std::fs::read_to_string(place.path("out.csv")).unwrap();
    let log = server.log();
    let reads = log.iter().filter(|seen| seen.body.is_empty()).map(|seen| seen.path.clone());
    (sent, report, reads.collect())
}

/// Lists a contact, a company and an item.
fn lists(seen: &Seen) -> Reply {
    let is_first = seen.path.contains("page=1") || !seen.path.contains("page=");
    match seen.path.as_str() {
        path if path.contains('?') && !is_first => answer(200, "", r#"{"data": []}"#),
        path if path.starts_with("/v1/contacts") => answer(200, "", r#"{"data": [{"id": "p1", "name": "Ann"}]}"#),
        path if path.starts_with("/v1/public/companies") => {
            answer(200, "", r#"{"data": [{"id": "c1", "name": "Bob"}], "page": 1, "count": 1, "total": 1}"#)
        }
        path if path.starts_with("/v1/public/items") => {
            answer(200, "", r#"{"data": [{"id": "i1", "external_id": "A"}]}"#)
        }
        _ => Reply::Accept,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_read_once_and_only_for_what_is_no_id() {
    let (sent, _, reads) = uploaded(&invoices(ITEM, &[CUSTOMER, CUSTOMER]), 0, lists).await;
    assert_eq!(accounting(&sent), "2: sent 2");
    let of_lists = |reads: &[String]| -> Vec<String> {
        let lists =
            reads.iter().filter(|path| ["contacts", "companies", "items"].iter().any(|list| path.contains(list)));
        let mut lists: Vec<String> = lists.map(|path| path.split('?').next().unwrap().to_owned()).collect();
        lists.sort();
        lists
    };
    // The first request of a run that creates records may be a probe.
    assert!(of_lists(&reads).len() <= 1, "{reads:?}");

    let (sent, _, reads) = uploaded(&invoices("A", &["Ann", "Bob", "p1", "Ann", "Bob"]), 0, lists).await;
    assert_eq!(accounting(&sent), "5: sent 5");
    let read = of_lists(&reads);
    for list in ["/v1/contacts", "/v1/public/companies", "/v1/public/items"] {
        let times = read.iter().filter(|path| *path == list).count();
        // A list without a total ends with a page without new records.
        assert!((1..=3).contains(&times), "{reads:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_found_by_luck_in_a_list_that_may_be_incomplete() {
    let without_contacts = |seen: &Seen| match seen.path.starts_with("/v1/contacts") {
        true => answer(404, "", r#"{"message": "no such path"}"#),
        false => lists(seen),
    };
    let file = invoices(ITEM, &[CUSTOMER, "Bob", "c1"]);
    let (sent, report, _) = uploaded(&file, 3, without_contacts).await;
    // An id is an id, wherever it is found; a contact may have the name of the company.
    assert_eq!(accounting(&sent), "3: sent 2, rejected 1");
    let message = "can't be looked up (contact or company): the service does not show a list of contacts";
    assert!(report.contains(message), "{report}");
    let cut = |seen: &Seen| match seen.path.starts_with("/v1/public/companies") {
        true => answer(200, "", r#"{"data": [{"id": "c1", "name": "Bob"}], "page": 1, "count": 1, "total": 9}"#),
        false => lists(seen),
    };
    let (sent, report, _) = uploaded(&file, 3, cut).await;
    assert_eq!(accounting(&sent), "3: sent 2, rejected 1");
    assert!(report.contains("the service's list of companies may be incomplete"), "{report}");
}

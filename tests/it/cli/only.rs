//! `--only new` and `--only known`: records of the other kind are left out, with a reason.

use serde_json::{Value, json};

use super::process::Place;
use super::service::Served;
use super::{accounting, column, summary, table};

const BEFORE: &str = "SKU,Name,Price\nA-1,Bolt,1\nA-2,Nut,2\n";
/// A-12 is a mistyped A-2.
const AFTER: &str = "SKU,Name,Price\nA-1,Bolt,1.50\nA-12,Nut,2.50\nA-3,Pin,3\n";

fn desk(words: &[&str]) -> (Place, Served) {
    let place = Place::new();
    let served = Served::start_with(&place, 0, words);
    place.write("old.csv", BEFORE);
    place.write("new.csv", AFTER);
    served.sheetport(&place, ["upload", "old.csv", "-t", "items", "-q"]).exits(0);
    (place, served)
}

fn prices(served: &Served) -> String {
    let list = served.get("/v1/public/items?limit=100");
    let price = |item: &Value| format!("{}={}", item["external_id"].as_str().unwrap(), item["price"]);
    let mut prices: Vec<String> = list["data"].as_array().unwrap().iter().map(price).collect();
    prices.sort();
    prices.join(" ")
}

#[test]
fn only_known_records_are_changed() {
    let (place, served) = desk(&[]);
    let upload = served.sheetport(&place, ["upload", "new.csv", "-t", "items", "--only", "known", "--report", "r.csv"]);
    upload.exits(0).says(&["2 records left out: to be sent only if known, and not in the service (rows 3, 4)"]);
    assert_eq!(prices(&served), "A-1=1.50 A-2=2");
    let report = table(&place.path("r.csv"));
    assert_eq!(column(&report, "sheetport_status"), ["sent", "skipped", "skipped"]);
    let reasons = column(&report, "sheetport_errors");
    assert!(reasons[1].contains("is not in the service, and only known records are sent"), "{reasons:?}");
}

#[test]
fn only_new_records_are_created() {
    let (place, served) = desk(&[]);
    let upload = ["upload", "new.csv", "-t", "items", "--only", "new", "--json"];
    let told = summary(&served.sheetport(&place, upload).exits(0));
    assert_eq!(accounting(&told), "3: sent 2, skipped 1");
    assert_eq!(prices(&served), "A-12=2.50 A-1=1 A-2=2 A-3=3");
}

#[test]
fn a_plan_has_only_the_chosen_records() {
    let (place, served) = desk(&[]);
    for (only, counts) in [("known", [0, 1]), ("new", [2, 0])] {
        // The flag of `upload` is the same command.
        let words = ["upload", "new.csv", "-t", "items", "--plan", "--only", only, "--json"];
        let told = served.sheetport(&place, words).exits(0).json();
        let found = ["new", "changed"].map(|count| told["changes"][count].as_u64().unwrap());
        assert_eq!((found, &told["command"]), (counts, &json!("plan")), "{told}");
        assert_eq!(told["changes"]["fields"].as_array().unwrap().len(), usize::from(only == "known"), "{told}");
    }
    assert_eq!(prices(&served), "A-1=1 A-2=2");
    let told = summary(&served.sheetport(&place, ["apply", "2", "--json"]).exits(0));
    assert_eq!(accounting(&told), "3: sent 1, skipped 2");
    assert_eq!(prices(&served), "A-1=1.50 A-2=2");
}

#[test]
fn a_template_or_a_job_can_say_it() {
    let (place, served) = desk(&[]);
    let template = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/items.toml")).unwrap();
    place.write("known.toml", template.replacen("record = \"item\"", "record = \"item\"\nonly = \"known\"", 1));
    let told = summary(&served.sheetport(&place, ["upload", "new.csv", "-t", "known.toml", "--json"]).exits(0));
    assert_eq!(accounting(&told), "3: sent 1, skipped 2");
    // The flag counts more.
    let upload = ["upload", "new.csv", "-t", "known.toml", "--only", "new", "--json"];
    assert_eq!(accounting(&summary(&served.sheetport(&place, upload).exits(0))), "3: sent 2, skipped 1");
    place.write(
        "job.toml",
        "[[step]]\nupload = \"more.csv\"\ntemplate = \"items\"\nonly = \"known\"\nsettle = \"0s\"\n",
    );
    place.write("more.csv", "SKU,Name,Price\nA-1,Bolt,7\nA-99,Bolt,7\n");
    let ran = served.sheetport(&place, ["job", "run", "job.toml", "--json"]).run();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(prices(&served), "A-12=2.50 A-1=7 A-2=2 A-3=3");
}

#[test]
fn what_the_service_does_not_say_is_refused() {
    // Its list has no external ids.
    let (place, served) = desk(&["--literal"]);
    let refused = served.sheetport(&place, ["upload", "new.csv", "-t", "items", "--only", "known"]).run();
    assert_ne!(refused.code, Some(0));
    refused.says(&["does not show by which number a record was uploaded", "leave out --only known"]);
    assert_eq!(prices(&served), "A-1=1 A-2=2");
    // All of these are known by the ids that it answered.
    place.write("known.csv", BEFORE.replace(",2", ",2.20"));
    let upload = ["upload", "known.csv", "-t", "items", "--only", "known", "--json"];
    assert_eq!(accounting(&summary(&served.sheetport(&place, upload).exits(0))), "2: sent 2");
    for (template, only, words) in [
        ("invoices", "known", "invoices are created, and never changed"),
        ("orders", "new", "orders are changed, and never created"),
    ] {
        place.write("x.csv", "Order no.,Customer no.,Item no.,Quantity\n1,2,3,4\n");
        let refused = served.sheetport(&place, ["upload", "x.csv", "-t", template, "--only", only]).exits(2);
        refused.says(&[&format!("--only {only} is not possible: {words}")]);
    }
}

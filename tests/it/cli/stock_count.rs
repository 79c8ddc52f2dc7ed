//! A stock count becomes one transaction for the difference from the stock in the service, so that the service has what was counted.

use serde_json::{Value, json};

use super::process::{Place, Sheetport};
use super::service::Served;
use super::{accounting, column, summary, table};

const INVENTORIES: &str = "id,inventory_id,external_id,name,available,committed,total_inventory\n\
                           i1,1,KOL/A,Bolts,120,5,125\ni2,2,KOL/B,Nuts,12,0,12\ni3,3,KOL/C,Pins,7,0,7\ni4,4,VEJ/A,Bolts,40,0,40\n\
                           i5,5,VEJ/B,Nuts,,,\n";
const COUNT: &str = "Location,SKU,Expected,Counted,Counted on\nKOL,A,120,118,2026-09-29\nKOL,B,12,12,2026-09-29\n\
                     KOL,C,9,8,2026-09-29\nVEJ,A,40,,2026-09-29\n";

struct Store {
    place: Place,
    served: Served,
}

impl Store {
    /// A service with [`INVENTORIES`], and the file `count.csv` with [`COUNT`].
    fn with(words: &[&str]) -> Store {
        let place = Place::new();
        place.write("inventories.csv", INVENTORIES);
        place.sheetport(["serve", "load", "--data", "service", "--workspace", "shop", "inventories.csv"]).exits(0);
        place.write("count.csv", COUNT);
        let served = Served::start_with(&place, 0, words);
        Store { place, served }
    }

    fn sheetport(&self, args: &[&str]) -> Sheetport {
        self.served.sheetport(&self.place, args.iter().copied())
    }

    fn upload(&self, code: i32) -> Value {
        summary(&self.sheetport(&["upload", "count.csv", "-t", "stock-count", "--json"]).exits(code))
    }

    /// Somebody else books units of an inventory.
    fn books(&self, name: &str, units: i64) {
        let body = json!({"transactionType": "in", "inventoryExternalId": name, "transactionAmount": units,
                          "inventoryType": "available"});
        self.served.post("/v1/public/inventory-transactions", &body.to_string());
    }

    /// Returns what is available of the inventories A, B and C in KOL.
    fn stock(&self) -> [i64; 3] {
        ["A", "B", "C"].map(|name| {
            let path = format!("/v1/public/inventories/0?external_id=KOL%2F{name}");
            self.served.get(&path)["available"].as_i64().unwrap()
        })
    }

    fn transactions(&self) -> Vec<Value> {
        let show = ["serve", "show", "transactions", "--data", "service", "--limit", "all", "--json"];
        let shown = self.place.sheetport(show).exits(0).json();
        shown["records"].as_array().unwrap().iter().map(|shown| shown["record"].clone()).collect()
    }
}

#[test]
fn a_plan_shows_the_differences_and_apply_sends_them() {
    for words in [&[][..], &["--literal"]] {
        let store = Store::with(words);
        let planned = store.sheetport(&["plan", "count.csv", "-t", "stock-count", "-o", "changes.csv"]).exits(0);
        planned
            .shows(&["2  changed", "1  same", "KOL/A  120 → 118 (-2)", "KOL/C  7 → 8 (+1)"])
            .shows(&["expected '9' is expected, and the service has 7"]);
        let rows = table(&store.place.path("changes.csv"));
        assert_eq!(column(&rows, "change"), ["changed", "unchanged", "changed", "left out"]);
        assert_eq!(column(&rows, "now"), ["120", "", "7", ""]);
        assert_eq!(column(&rows, "planned"), ["118", "", "8", ""]);
        assert_eq!(
            column(&rows, "remark")[..3],
            ["difference -2", "is as counted: the service has 12", "difference +1; is expected, and the service has 7"]
        );
        assert_eq!(store.stock(), [120, 12, 7], "nothing is sent by a plan");
        let applied = summary(&store.sheetport(&["apply", "1", "--json"]).exits(0));
        assert_eq!(accounting(&applied), "4: sent 2, unchanged 1, skipped 1", "{applied}");
        assert_eq!(store.stock(), [118, 12, 8]);
        let sent = store.transactions();
        assert_eq!(sent.len(), 2);
        let amounts: Vec<&Value> = sent.iter().map(|sent| &sent["transaction_amount"]).collect();
        assert!(amounts.contains(&&json!(-2)) && amounts.contains(&&json!(1)), "{amounts:?}");
        assert!(
            sent.iter().all(|sent| sent["transaction_date"].as_str().unwrap().starts_with("2026-09-29")),
            "{sent:?}"
        );
        store.sheetport(&["report", "1", "-o", "report.csv"]).exits(0);
        let report = std::fs::read_to_string(store.place.path("report.csv")).unwrap();
        assert!(report.contains("is expected, and the service has 7"), "{report}");
    }
}

#[test]
fn a_stock_that_has_changed_since_the_plan_has_moved_on() {
    let store = Store::with(&[]);
    store.sheetport(&["plan", "count.csv", "-t", "stock-count", "-q"]).exits(0);
    store.books("KOL/A", 5);
    // Somebody has booked the difference of C already.
    store.books("KOL/C", 1);
    let applied = store.sheetport(&["apply", "1"]).exits(3);
    applied.shows(&[
        "was '120' in the service when it was planned and is '125' now, so '118' is not sent",
        "and is '8' now",
    ]);
    assert_eq!(store.stock(), [125, 12, 8]);
    let again = store.upload(0);
    assert_eq!(accounting(&again), "4: sent 1, unchanged 2, skipped 1", "{again}");
    assert_eq!(store.stock(), [118, 12, 8]);
}

#[test]
fn the_same_count_is_sent_once_and_a_corrected_one_sends_the_rest() {
    let store = Store::with(&[]);
    assert_eq!(accounting(&store.upload(0)), "4: sent 2, unchanged 1, skipped 1");
    assert_eq!(store.stock(), [118, 12, 8]);
    let again = store.upload(0);
    assert_eq!(accounting(&again), "4: unchanged 3, skipped 1", "{again}");
    // What was sold since the count is no mistake of the count, of a difference or of none.
    store.books("KOL/A", -8);
    store.books("KOL/B", -2);
    let later = store.upload(0);
    assert_eq!(accounting(&later), "4: unchanged 3, skipped 1", "{later}");
    assert_eq!(store.stock(), [110, 10, 8]);
    store.books("KOL/A", 8);
    store.books("KOL/B", 2);
    store.place.write("count.csv", COUNT.replace("118", "117"));
    let corrected = store.upload(0);
    assert_eq!(accounting(&corrected), "4: sent 1, unchanged 2, skipped 1", "{corrected}");
    assert_eq!(store.stock(), [117, 12, 8]);
    // The next count has another date.
    store.place.write("count.csv", COUNT.replace("2026-09-29", "2026-10-29"));
    let next = store.upload(0);
    assert_eq!(accounting(&next), "4: sent 1, unchanged 2, skipped 1", "{next}");
    assert_eq!(store.stock(), [118, 12, 8]);
}

#[test]
fn an_undo_brings_the_stock_back() {
    let store = Store::with(&[]);
    store.upload(0);
    store.books("KOL/A", -8);
    let undone = store.sheetport(&["undo", "1", "--yes", "--json"]).exits(0).json();
    assert_eq!(undone["undo"]["returned"], json!(2), "{undone}");
    assert_eq!(store.stock(), [112, 12, 7], "what was sold since stays sold");
    store.books("KOL/A", 8);
    let again = store.upload(0);
    assert_eq!(
        accounting(&again),
        "4: sent 2, unchanged 1, skipped 1",
        "what was taken back is counted again: {again}"
    );
    assert_eq!(store.stock(), [118, 12, 8]);
}

#[test]
fn a_resumed_run_keeps_the_differences_of_its_count() {
    let place = Place::new();
    let fault = "[[fault]]\nmethod = \"POST\"\npath = \"/v1/public/inventory-transactions\"\ncall = \"2..3\"\nanswer = { status = 401 }\n";
    place.write("plan.toml", fault);
    let path = place.path("plan.toml");
    let store = Store::with(&["--plan", path.to_str().unwrap()]);
    store.sheetport(&["upload", "count.csv", "-t", "stock-count", "-q", "--concurrency", "1"]).exits(5);
    assert_eq!(store.stock(), [118, 12, 7]);
    store.books("KOL/C", 20);
    store.sheetport(&["resume", "1", "-q"]).exits(0);
    assert_eq!(store.stock(), [118, 12, 28], "one more than before, and 20 booked since");
}

#[test]
fn counts_that_can_not_be_compared_are_refused() {
    let store = Store::with(&[]);
    store
        .place
        .write("count.csv", "Location,SKU,Counted\nKOL,A,118\nKOL,Z,1\nKOL,B,-1\nKOL,C,1.5\nVEJ,B,3\nVEJ,A,41\n");
    let sent = store.upload(3);
    assert_eq!(accounting(&sent), "6: sent 2, rejected 4", "{sent}");
    assert_eq!(store.stock(), [118, 12, 7]);
    store.sheetport(&["report", "1", "-o", "report.csv"]).exits(0);
    let rows = table(&store.place.path("report.csv"));
    let errors = rows.iter().map(|row| row.join(" ")).collect::<Vec<_>>().join("\n");
    for words in ["is no inventory that the service knows", "the service does not show available of this inventory"] {
        assert!(errors.contains(words), "{errors}");
    }
    let checked = |file: &str, code: i32| {
        store.place.write("other.csv", file);
        store.sheetport(&["check", "other.csv", "-t", "stock-count"]).exits(code)
    };
    checked("Location,SKU,Counted\nKOL,A,118\nKOL,A,2\n", 3).shows(&["appears more than once"]);
    checked("Location,SKU,Counted\nKOL,A,118\nKOL,B,two\n", 3).shows(&["is not a number"]);
    // Two figures of one inventory.
    let figures = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/stock-count.toml")).unwrap();
    let figures =
        figures.replace("[fields.inventoryType]\nvalue = \"available\"", "[fields.inventoryType]\ncolumn = \"Figure\"");
    let (figures, _) = figures.split_once("# Examples").unwrap();
    store.place.write("figures.toml", figures);
    store.place.write("figures.csv", "Location,SKU,Figure,Counted\nKOL,A,available,118\nKOL,A,committed,3\n");
    let sent = summary(&store.sheetport(&["upload", "figures.csv", "-t", "figures.toml", "--json", "-y"]).exits(0));
    assert_eq!(accounting(&sent), "2: sent 1, unchanged 1", "{sent}");
    // The same inventory by two names.
    store.place.write(
        "ids.toml",
        "record = \"stock-count\"\n[fields.transactionType]\nvalue = \"adjust\"\n[fields.inventoryId]\ncolumn = \"Id\"\n\
         [fields.counted]\ncolumn = \"Counted\"\non_blank = \"error\"\n",
    );
    store.place.write("ids.csv", "Id,Counted\ni3,8\n3,9\ni4,50\n");
    let refused = store.sheetport(&["upload", "ids.csv", "-t", "ids.toml", "-y"]).exits(3);
    refused.shows(&["is not the only count of this inventory"]);
    assert_eq!(store.stock(), [118, 12, 7]);
}

#[test]
fn a_template_counts_or_has_differences() {
    let place = Place::new();
    let check = |text: &str, code: i32| {
        let rest = "[fields.transactionType]\nvalue = \"adjust\"\n[fields.inventoryId]\ncolumn = \"Id\"\n";
        place.write("mine.toml", format!("record = \"stock-count\"\n{text}{rest}"));
        place.sheetport(["template", "check", "mine.toml"]).exits(code)
    };
    check("[fields.counted]\ncolumn = \"Counted\"\non_blank = \"error\"\n", 0);
    check("", 2).says(&["stock-count needs the field counted"]);
    let amount =
        "[fields.counted]\ncolumn = \"Counted\"\non_blank = \"error\"\n[fields.transactionAmount]\ncolumn = \"D\"\n";
    check(amount, 2).says(&["transactionAmount"]);
    check("only = \"new\"\n[fields.counted]\ncolumn = \"Counted\"\non_blank = \"error\"\n", 2)
        .says(&["neither new nor known"]);
}

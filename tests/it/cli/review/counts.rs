//! Stock counts, and records that a file lacks, on the page: what a person sees is what arrives.

use serde_json::{Value, json};

use super::super::process::Place;
use super::super::service::Served;
use super::page::ReviewPage;

const INVENTORIES: &str = "id,inventory_id,external_id,name,available,committed,total_inventory\n\
                           i1,1,KOL/A,Bolts,120,5,125\ni2,2,KOL/B,Nuts,12,0,12\ni3,3,KOL/C,Pins,7,0,7\n";
const COUNT: &str = "Location,SKU,Expected,Counted,Counted on\nKOL,A,120,118,2026-09-29\nKOL,B,12,12,2026-09-29\n\
                     KOL,C,7,8,2026-09-29\n";

fn counting() -> (Place, Served) {
    let place = Place::new();
    place.write("inventories.csv", INVENTORIES);
    place.sheetport(["serve", "load", "--data", "service", "--workspace", "shop", "inventories.csv"]).exits(0);
    place.write("count.csv", COUNT);
    let served = Served::start(&place);
    (place, served)
}

fn opened(place: &Place, served: &Served) -> ReviewPage {
    let page = ReviewPage::open(place, served, "count.csv");
    page.post("/template", &json!({"text": include_str!("../../../../templates/stock-count.toml")}));
    page.post("/check", &json!({"full": true}));
    page
}

/// Returns a row of the changes: its record, its kind, and the counted stock if it is another one.
fn shown(row: &Value) -> String {
    let (name, kind) = (row["name"].as_str().unwrap(), row["kind"].as_str().unwrap());
    let counted = row["fields"].as_object().unwrap().values().next();
    let counted =
        counted.map(|field| format!(" {} → {}", field["old"].as_str().unwrap(), field["new"].as_str().unwrap()));
    format!("{name}: {kind}{}", counted.unwrap_or_default())
}

fn stock(served: &Served) -> Vec<i64> {
    let of = |name: &str| served.get(&format!("/v1/public/inventories/0?external_id=KOL%2F{name}"));
    ["A", "B", "C"].map(|name| of(name)["available"].as_i64().unwrap()).to_vec()
}

#[test]
fn a_count_is_looked_at_and_sent() {
    let (place, served) = counting();
    let page = opened(&place, &served);
    page.post("/changes", &json!({}));
    let review = page.ended();
    assert_eq!(review["status"]["phase"], "looked", "{review}");
    let look = &review["look"];
    let rows = page.get("/changes/rows?count=100")["rows"].clone();
    let shown: Vec<String> = rows.as_array().unwrap().iter().map(shown).collect();
    assert_eq!(shown, ["KOL/A: changed 120 → 118", "KOL/C: changed 7 → 8", "KOL/B: unchanged"]);
    assert_eq!(stock(&served), [120, 12, 7], "a look changes nothing");
    page.post("/send", &json!({"plan": {"run": look["run"], "version": look["version"]}}));
    let status = page.ended()["status"].clone();
    assert_eq!((status["phase"].as_str(), stock(&served)), (Some("ended"), vec![118, 12, 8]), "{status}");
}

#[test]
fn a_count_is_sent_without_a_look_of_a_person() {
    let (place, served) = counting();
    let page = opened(&place, &served);
    page.post("/send", &json!({}));
    let status = page.ended()["status"].clone();
    assert_eq!((status["phase"].as_str(), stock(&served)), (Some("ended"), vec![118, 12, 8]), "{status}");
}

#[test]
fn records_that_the_file_lacks_stay_on_the_page() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("old.csv", "SKU,Name,Price\nA-1,Bolt,1.50\nA-2,Nut,2.50\n");
    served.sheetport(&place, ["upload", "old.csv", "-t", "items", "-q"]).exits(0);
    let missing = "[missing]\nset = { status = \"inactive\" }\nwhere = 'externalId'\nat_most = \"100%\"\n";
    place.write("items.csv", "SKU,Name,Price\nA-1,Bolt,1.75\n");
    let page = ReviewPage::open(&place, &served, "items.csv");
    page.post("/template", &json!({"text": format!("{}{missing}", include_str!("../../../../templates/items.toml"))}));
    page.post("/check", &json!({"full": true}));
    page.post("/changes", &json!({}));
    let review = page.ended();
    assert_eq!(review["status"]["phase"], "looked", "{review}");
    let notes = review["look"]["notes"].to_string();
    assert!(notes.contains("records that the file lacks stay as they are"), "{notes}");
    page.post("/send", &json!({"plan": {"run": review["look"]["run"], "version": review["look"]["version"]}}));
    assert_eq!(page.ended()["status"]["phase"], "ended");
    let list = served.get("/v1/public/items?limit=100");
    let inactive = |item: &&Value| item["status"] == "inactive";
    assert_eq!(list["data"].as_array().unwrap().iter().filter(inactive).count(), 0, "{list}");
}

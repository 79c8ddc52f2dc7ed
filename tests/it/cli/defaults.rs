//! Time zone, currency and number style of a company: from flags, templates, jobs and profiles.

use std::fs;

use serde_json::{Value, json};

use super::jobs::INBOX;
use super::process::Place;
use super::review::page::ReviewPage;
use super::service::Served;
use super::{accounting, summary};

const ORDERS: &str = "Order no,Order date\nSO-1,2026-11-28 10:00\n";
const PRICES: &str = "SKU,Name,Price\nA-1,Bolt,1.50\nA-2,Nut,\n";

/// Returns a place with a file of orders, a price list and a profile.
fn place(profile: &str) -> Place {
    let place = Place::new();
    place.write("orders.csv", ORDERS);
    place.write("prices.csv", PRICES);
    fs::create_dir(place.path("home")).unwrap();
    set_profile(&place, profile);
    place
}

fn set_profile(place: &Place, lines: &str) {
    place.write("home/sheetport.toml", format!("profile = \"acme\"\n[profiles.acme]\n{lines}\n"));
}

/// Starts a service that has the order SO-1.
fn served(place: &Place) -> Served {
    place.write("o.csv", "id,order_id,external_id\no1,5001,SO-1\n");
    place
        .sheetport(["serve", "load", "--data", "service", "--workspace", "shop", "--kind", "orders", "o.csv"])
        .exits(0);
    Served::start(place)
}

fn order_at(served: &Served) -> Value {
    served.get("/v1/public/orders/o1")["order_at"].clone()
}

/// Returns identifier and currency of each item.
fn currencies(served: &Served) -> Vec<String> {
    let list = served.get("/v1/public/items?limit=100");
    let item = |item: &Value| {
        let currency = item["currency"].as_str().unwrap_or("-");
        format!("{} {currency}", item["external_id"].as_str().unwrap())
    };
    let mut items: Vec<String> = list["data"].as_array().unwrap().iter().map(item).collect();
    items.sort();
    items
}

#[test]
fn a_time_without_a_zone_names_the_flag_that_helps_and_is_sent_with_it() {
    let place = place("");
    let served = served(&place);
    let told = served.sheetport(&place, ["upload", "orders.csv", "-t", "orders", "--report", "r.csv"]).exits(3);
    told.shows(&["has a time of day but no time zone", "--time-zone Europe/Berlin"]);
    let checked = place.sheetport(["check", "orders.csv", "-t", "orders", "--json"]).exits(3).json();
    let remedy = checked["problems"][0]["remedy"].as_str().unwrap();
    assert!(
        remedy.contains("--time-zone Europe/Berlin") && remedy.contains("time_zone = \"Europe/Berlin\""),
        "{remedy}"
    );
    // The report of the refused row is sent with the flag that it names.
    served.sheetport(&place, ["retry", "r.csv", "--time-zone", "europe/berlin"]).exits(0);
    assert_eq!(order_at(&served), "2026-11-28T09:00:00.000Z");
    let wrong = served.sheetport(&place, ["upload", "orders.csv", "--time-zone", "Berlin"]).exits(2);
    wrong.says(&["it is not a time zone; did you mean Europe/Berlin?"]);
}

#[test]
fn the_profile_is_named_and_its_zone_stays_with_the_run() {
    let place = place("time_zone = \"Europe/Berlin\"\ncurrency = \"EUR\"");
    let served = served(&place);
    let check = place.sheetport(["check", "orders.csv"]).exits(0);
    let check = check.says(&["template orders", "time zone Europe/Berlin, from the profile acme"]);
    assert!(!check.stderr.contains("currency"), "orders have none: {}", check.stderr);
    let check = place.sheetport(["check", "orders.csv", "--json"]).exits(0).json();
    assert_eq!(check["defaults"], json!({"time_zone": "Europe/Berlin"}));
    let planned = served.sheetport(&place, ["plan", "orders.csv", "-t", "orders"]).exits(0);
    planned.says(&["time zone Europe/Berlin, from the profile acme"]);
    set_profile(&place, "time_zone = \"Asia/Tokyo\"");
    served.sheetport(&place, ["resume"]).exits(0);
    assert_eq!(order_at(&served), "2026-11-28T09:00:00.000Z");
}

#[test]
fn a_flag_beats_the_template_which_beats_the_profile() {
    let place = place("time_zone = \"Asia/Tokyo\"\nlocale = \"en\"");
    let template = |sheet: &str, field: &str| {
        let fields = "[fields.externalId]\ncolumn = \"Order no\"\n[fields.orderAt]\ncolumn = \"Order date\"\n";
        place.write(
            "t.toml",
            format!("record = \"order\"\n[sheet]\n{sheet}\n[group]\nby = \"Order no\"\n{fields}{field}\n"),
        );
    };
    for (sheet, field, flag, expected) in [
        ("", "", None, "2026-11-28T01:00:00Z"),
        ("time_zone = \"UTC\"", "", None, "2026-11-28T10:00:00Z"),
        ("", "", Some("Europe/Berlin"), "2026-11-28T09:00:00Z"),
        ("time_zone = \"UTC\"", "", Some("Europe/Berlin"), "2026-11-28T09:00:00Z"),
        ("", "time_zone = \"America/New_York\"", Some("Europe/Berlin"), "2026-11-28T15:00:00Z"),
    ] {
        template(sheet, field);
        let explain = ["explain", "orders.csv", "-t", "t.toml", "--row", "2", "--json"].into_iter();
        let explain = explain.chain(flag.map(|_| "--time-zone")).chain(flag);
        let explained = place.sheetport(explain).exits(0).json();
        assert_eq!(explained["request"]["body"]["order"]["orderAt"], expected, "{sheet} {field} {flag:?}");
    }
}

#[test]
fn a_currency_is_sent_with_prices_of_which_the_sheet_says_none() {
    let place = place("currency = \"eur\"\nrate = 300");
    let served = served(&place);
    let upload = served.sheetport(&place, ["upload", "prices.csv", "-t", "items"]).exits(0);
    upload.says(&["currency EUR where the sheet says none, from the profile acme"]);
    assert_eq!(currencies(&served), ["A-1 EUR", "A-2 -"], "an item without a price keeps what it has");
    for (text, flag, expected) in [
        ("SKU,Price,Currency\nB-1,2,CHF\nB-2,2,\n", None, ["B-1 CHF", "B-2 -"]),
        ("SKU,Price (USD)\nB-1,2\nB-2,3\n", None, ["B-1 USD", "B-2 USD"]),
        ("SKU,Price\nB-1,$ 2.00\nB-2,3.00\n", Some("AUD"), ["B-1 AUD", "B-2 AUD"]),
    ] {
        place.write("b.csv", text);
        let command = ["upload", "b.csv", "-t", "items", "--rate", "300", "-q"].into_iter();
        let command = command.chain(flag.map(|_| "--currency")).chain(flag);
        served.sheetport(&place, command).exits(0);
        assert_eq!(currencies(&served)[2..], expected, "{text}");
    }
    let orders = served.sheetport(&place, ["upload", "orders.csv", "-t", "orders", "--currency", "EUR"]).exits(2);
    orders.says(&["the currency EUR can't be sent, because orders have none"]);
    let own =
        served.sheetport(&place, ["check", "prices.csv", "-t", "german-price-list", "--currency", "USD"]).exits(2);
    own.says(&["sets the currency by itself"]);
    place.sheetport(["check", "prices.csv", "-t", "items", "--currency", "Euro"]).exits(2).says(&["ISO 4217"]);
}

#[test]
fn a_trusted_template_stays_trusted_when_the_profile_changes() {
    let place = place("");
    let served = served(&place);
    let fields =
        "[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n[fields.price]\ncolumn = \"Price\"\n";
    place.write("mine.toml", format!("record = \"item\"\n{fields}"));
    place.sheetport(["template", "trust", "mine.toml"]).exits(0);
    set_profile(&place, "currency = \"SEK\"\naccept_recognized = true");
    served.sheetport(&place, ["upload", "prices.csv", "-q"]).exits(0);
    assert_eq!(currencies(&served), ["A-1 SEK", "A-2 -"]);
}

#[test]
fn a_job_has_keys_of_its_own() {
    let place = place("currency = \"EUR\"");
    let served = served(&place);
    fs::create_dir(place.path("inbox")).unwrap();
    place.write("inbox/prices.csv", PRICES);
    place.write("nightly.toml", format!("{}currency = \"SEK\"\nrate = 300\n", INBOX));
    let ran = served.sheetport(&place, ["job", "run", "nightly.toml", "--json"]).exits(0).json();
    assert_eq!(currencies(&served), ["A-1 SEK", "A-2 -"], "{ran}");
    place.write("nightly.toml", format!("{}time_zone = \"Berlin\"\n", INBOX));
    place.sheetport(["job", "check", "nightly.toml"]).exits(2).says(&["nightly.toml:5", "did you mean Europe/Berlin?"]);
}

#[test]
fn times_for_people_are_in_the_zone_of_the_profile() {
    let place = place("time_zone = \"Asia/Kathmandu\"");
    let served = served(&place);
    let upload = ["upload", "prices.csv", "-t", "items", "--report", "r.html", "--json"];
    let told = summary(&served.sheetport(&place, upload).exits(0));
    assert_eq!(accounting(&told), "2: sent 2");
    let shown = place.sheetport(["runs", "show", "1", "--json"]).exits(0).json();
    let began: jiff::Timestamp = shown["begun"].as_str().unwrap().parse().unwrap();
    let local = began.in_tz("Asia/Kathmandu").unwrap();
    place.sheetport(["runs"]).exits(0).shows(&[&local.strftime("%Y-%m-%d %H:%M:%S").to_string()]);
    served.sheetport(&place, ["whoami"]).exits(0).shows(&["expires"]);
    let page = fs::read_to_string(place.path("r.html")).unwrap();
    assert!(page.contains(&local.strftime("%-d %b %Y, %H:%M UTC+05:45").to_string()), "the time in the report");
    served.sheetport(&place, ["export", "items", "-o", "items-{date}.csv"]).exits(0);
    let today = jiff::Zoned::now().in_tz("Asia/Kathmandu").unwrap().date();
    let names = [today, today.yesterday().unwrap()].map(|day| place.path(&format!("items-{day}.csv")).exists());
    assert!(names.contains(&true), "{:?}", place.names());
}

#[test]
fn the_page_takes_the_flags_of_a_sheet() {
    let place = place("time_zone = \"Asia/Tokyo\"");
    let served = served(&place);
    let words = ["review", "orders.csv", "--time-zone", "Europe/Berlin", "--no-open", "--json"];
    let page = ReviewPage::start(served.sheetport(&place, words));
    page.post("/check", &json!({"full": true}));
    page.post("/send", &json!({}));
    let review = page.ended();
    assert_eq!(order_at(&served), "2026-11-28T09:00:00.000Z", "{review}");
}

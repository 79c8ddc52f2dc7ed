//! Several people who edit the same file, each on a page of their own.

use serde_json::{Value, json};

use super::super::process::{Place, Sheetport, until};
use super::super::service::Served;
use super::page::ReviewPage;
use crate::postgres::Cluster;

const SHEET: &str =
    "SKU,Name,Price\nA-1,Bolt,one\nA-2,Nut,two\nA-3,Pin,1.50\nA-4,Rivet,2.50\nA-5,Screw,3.50\nA-6,Hook,4.50\n";

/// Returns the text of a cell as a page shows it.
fn cell(page: &ReviewPage, row: u64, column: usize) -> Value {
    let rows = page.get("/rows?from=0&count=10")["rows"].clone();
    let row = rows.as_array().unwrap().iter().find(|it| it["n"] == row).unwrap();
    row["c"][column].clone()
}

/// Asserts what two people see of each other's edits. `of` returns the command of one of them.
fn see_each_other(place: &Place, of: impl Fn(&str, Sheetport) -> Sheetport) {
    place.write("items.csv", SHEET);
    let open = |who: &str| {
        let page = ReviewPage::start(of(who, place.sheetport(["review", "--no-open", "--json", "items.csv"])));
        page.post("/check", &json!({"full": true}));
        page
    };
    let (anna, ben) = (open("anna"), open("ben"));
    let write = |page: &ReviewPage, row: u64, text: &str| {
        page.post("/edits", &json!({"edits": [{"row": row, "column": 2, "text": text}]}));
    };
    // An open page is told, as long as it listens.
    let _both_listen = (anna.listen(), ben.listen());
    write(&anna, 2, "1.50");
    until("anna's edit", || (cell(&ben, 2, 2) == "1.50").then_some(()));
    let seen = ben.review();
    assert_eq!((&seen["edits"]["of_others"], &seen["edits"]["last_other"]), (&1.into(), &"anna".into()));
    assert_eq!(seen["check"]["to_send"], 5, "the row is judged at once: {seen}");
    assert_eq!(seen["edits"]["can_undo"], false, "nobody takes back what others have done");

    // Ben corrects Anna's cell. Undoing takes back only what is left of her own step.
    write(&ben, 2, "1.75");
    write(&ben, 3, "2.50");
    // Without waiting until she is told.
    write(&anna, 3, "2.75");
    anna.post("/undo", &json!({}));
    assert_eq!((cell(&anna, 2, 2), cell(&anna, 3, 2)), ("1.75".into(), "2.50".into()));
    anna.post("/undo", &json!({}));
    assert_eq!((cell(&anna, 2, 2), cell(&anna, 3, 2)), ("1.75".into(), "2.50".into()));
    assert_eq!(anna.review()["edits"]["can_undo"], false);
    // Ben has just written into Anna's cell, and her page does not know yet.
    write(&anna, 4, "9.00");
    write(&anna, 5, "9.50");
    write(&ben, 5, "8.50");
    anna.post("/undo", &json!({}));
    assert_eq!((cell(&anna, 4, 2), cell(&anna, 5, 2)), ("1.50".into(), "8.50".into()), "her step before is taken back");
    // Opened again, the order is the same.
    let again = open("anna");
    again.post("/redo", &json!({}));
    assert_eq!((cell(&again, 4, 2), cell(&again, 5, 2)), ("9.00".into(), "8.50".into()));
}

#[test]
fn two_people_see_each_others_edits() {
    let place = Place::new();
    let served = Served::start(&place);
    see_each_other(&place, |who, command| {
        let (access, refresh) = served.tokens();
        command
            .env("USER", who)
            .without("LOGNAME")
            .without("SUDO_USER")
            .env("SHEETPORT_BASE_URL", &served.url())
            .secret("SHEETPORT_ACCESS_TOKEN", &access)
            .secret("SHEETPORT_REFRESH_TOKEN", &refresh)
    });
}

#[test]
fn two_people_on_two_machines_see_each_others_edits() {
    let Some(server) = Cluster::start() else { return };
    let ledger = server.database("ledger");
    let place = Place::new();
    see_each_other(&place, |who, command| {
        let home = place.path(who);
        let command = command.env("USER", who).without("LOGNAME").without("SUDO_USER");
        command.env("SHEETPORT_LEDGER", &ledger).env("SHEETPORT_HOME", home.to_str().unwrap())
    });
}

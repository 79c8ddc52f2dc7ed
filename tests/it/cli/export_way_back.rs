//! The way back of exported orders and transactions, and of lists that nothing can write.

use std::fs;

use serde_json::Value;

use super::process::{Place, name};
use super::service::Served;
use super::{accounting, column, office, sample, summary, table};

/// Replaces the first cell with this text below a header of a CSV file, and returns the id in its row.
fn edit(place: &Place, file: &str, header: &str, from: &str, to: &str) -> String {
    let mut rows = table(&place.path(file));
    let place_of = |name: &str| rows[0].iter().position(|known| known == name).unwrap();
    let (cell, id) = (place_of(header), place_of("id"));
    let row = rows.iter_mut().skip(1).find(|row| row[cell] == from).unwrap();
    row[cell] = to.to_owned();
    let id = row[id].clone();
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().for_each(|row| writer.write_record(row).unwrap());
    place.write(file, writer.into_inner().unwrap());
    id
}

#[test]
fn untouched_orders_are_not_sent_and_an_edited_cell_is() {
    let place = Place::new();
    let served = Served::demo(&place);
    let upload = |file: &str| {
        let ended = served.sheetport(&place, ["upload", file, "--changed-only", "--yes", "--json"]).exits(0);
        let ended = summary(&ended);
        assert_eq!(ended["template"], "exported-orders", "{file}");
        accounting(&ended)
    };
    for file in ["orders.csv", "orders.xlsx", "orders.tsv.gz"] {
        served.sheetport(&place, ["export", "orders", "-o", file, "-q"]).exits(0);
        assert_eq!(upload(file), "30: unchanged 30", "{file}");
    }
    if office::is_there() {
        let saved = office::save_again(&place, &place.path("orders.xlsx"), "xlsx").join("orders.xlsx");
        fs::copy(saved, place.path("saved.xlsx")).unwrap();
        assert_eq!(upload("saved.xlsx"), "30: unchanged 30");
    }
    // Without --changed-only, every order is sent and keeps its values.
    let list = || served.get("/v1/public/orders?page=1&limit=100");
    let before = list();
    let all = served.sheetport(&place, ["upload", "orders.csv", "-t", "exported-orders", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&all)), "30: sent 30");
    assert_eq!(list()["data"], before["data"]);

    let id = edit(&place, "orders.csv", "delivery_status", "shipped", "returned");
    assert_eq!(upload("orders.csv"), "30: sent 1, unchanged 29");
    let order = served.get(&format!("/v1/public/orders/{id}"));
    assert_eq!(order["delivery_status"], "returned");
    assert_eq!(list()["total"], 30);
    // What the service does not accept is named, and never sent.
    edit(&place, "orders.csv", "total_price", "155.88", "1");
    let told = served.sheetport(&place, ["check", "orders.csv", "-t", "exported-orders"]).exits(0);
    assert!(told.stdout.contains("not used:") && told.stdout.contains("total_price"), "{told:?}");
    assert_eq!(upload("orders.csv"), "30: unchanged 30");
}

#[test]
fn transactions_are_changed_by_their_id_and_never_created() {
    let place = Place::new();
    let served = Served::demo(&place);
    fs::copy(sample("transactions.csv"), place.path("in.csv")).unwrap();
    served.sheetport(&place, ["upload", "in.csv", "-t", "transactions", "-q", "--report", "sent.csv"]).exits(0);
    let export = |file: &str| {
        let args =
            ["export", "transactions", "--ids", "sent.csv", "--column", "sheetport_service_id", "-o", file, "-q"];
        served.sheetport(&place, args).exits(0);
    };
    let figures = || -> Vec<Value> {
        let list = served.get("/v1/public/inventories?page=1&limit=100");
        let figures = |entry: &Value| entry["available"].clone();
        list.as_array().unwrap().iter().map(figures).collect()
    };
    let before = figures();
    for file in ["t.csv", "t.xlsx"] {
        export(file);
        let sent = served.sheetport(&place, ["upload", file, "--yes", "--json"]).exits(0);
        let sent = summary(&sent);
        assert_eq!((accounting(&sent).as_str(), &sent["template"]), ("40: sent 40", &"exported-transactions".into()));
        assert_eq!(figures(), before, "{file}: nothing has moved");
    }
    // Untouched ones are not sent again: they are requested first.
    let changed_only = |file: &str| {
        let words = ["upload", file, "-t", "exported-transactions", "--changed-only", "--yes", "--json"];
        // With a ledger that does not know what was sent.
        let home = place.path(&format!("home-of-{}", file.replace('.', "-")));
        let ended = served.sheetport(&place, words).env("SHEETPORT_HOME", name(&home)).exits(0);
        accounting(&summary(&ended))
    };
    for file in ["t.csv", "t.xlsx", "t.tsv.gz"] {
        export(file);
        let before = table(&place.path("t.csv"));
        assert_eq!(changed_only(file), "40: unchanged 40", "{file}");
        export("t.csv");
        assert_eq!(column(&table(&place.path("t.csv")), "updated_at"), column(&before, "updated_at"));
    }
    if office::is_there() {
        for (file, to) in [("t.xlsx", "xlsx"), ("t.csv", office::CSV)] {
            let saved = office::save_again(&place, &place.path(file), to).join(file);
            fs::copy(saved, place.path(&format!("saved-{file}"))).unwrap();
            assert_eq!(changed_only(&format!("saved-{file}")), "40: unchanged 40", "{file}");
        }
    }
    let id = edit(&place, "t.csv", "transaction_amount", "8", "9");
    assert_eq!(changed_only("t.csv"), "40: sent 1, unchanged 39");
    assert_eq!(served.get(&format!("/v1/public/inventory-transactions/{id}"))["transaction_amount"], 9);
    // A row without an id would be a new transaction.
    edit(&place, "t.csv", "transaction_id", &id, "");
    let refused = served.sheetport(&place, ["upload", "t.csv", "-t", "exported-transactions", "--json"]).exits(3);
    assert_eq!(accounting(&summary(&refused)), "40: sent 39, rejected 1");
    export("after.csv");
    assert_eq!(column(&table(&place.path("after.csv")), "id").len(), 40);
}

#[test]
fn lists_that_nothing_can_write_are_refused() {
    let place = Place::new();
    let served = Served::demo(&place);
    for (kind, advice) in [
        ("companies", "no request that creates or changes companies"),
        ("contacts", "no request that creates or changes contacts"),
        ("inventories", "send transactions, which change their figures"),
    ] {
        for file in [format!("{kind}.csv"), format!("{kind}.xlsx")] {
            served.sheetport(&place, ["export", kind, "-o", &file, "-q"]).exits(0);
            for args in [&["--yes"][..], &["-t", "items"], &["-t", "exported-items"], &["-t", "transactions"]] {
                let refused = served.sheetport(&place, ["upload", &file].iter().chain(args).copied()).run();
                assert_eq!(refused.code, Some(2), "{file} {args:?}: {refused:?}");
            }
            let refused = served.sheetport(&place, ["check", &file]).exits(2);
            refused.says(&[&format!("{file} is an export of {kind}, which can't be uploaded"), advice]);
        }
    }
    // The manifest tells it where columns were removed or moved.
    let rows = table(&place.path("companies.csv"));
    let lines = rows.iter().map(|row| format!("{},\"{}\"\r\n", row[1], row[2]));
    place.write("companies.csv", lines.collect::<String>());
    place.sheetport(["check", "companies.csv"]).exits(2).says(&["is an export of companies"]);
    place.sheetport(["check", "companies.csv", "-t", "items"]).exits(2).says(&["is an export of companies"]);
    assert_eq!(served.total(), 40, "no items were made of them");
    // A template of one's own may make other records of them.
    let toml = "record = \"item\"\n[fields.externalId]\ncolumn = \"external_id\"\n[fields.name]\ncolumn = \"name\"\n";
    place.write("own.toml", toml);
    place.sheetport(["check", name(&place.path("companies.csv")), "-t", "own.toml"]).exits(0);
}

//! Exports of single records by the IDs in a spreadsheet.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::Value;

use super::process::Place;
use super::service::Served;
use super::{column, count, table};
use crate::faults::server::{Server, answer};

fn served_with_orders(place: &Place) -> Served {
    place.write("inventories.csv", "id,inventory_id,external_id,name\ni1,1,BOLTS,Bolts\ni2,2,NUTS/7,Nuts\n");
    place.write("orders.csv", "id,order_id,external_id,total_price\no1,1001,A-1,19.90\no2,1002,A 2,5\n");
    let load = ["serve", "load", "--data", "service", "--workspace", "shop", "inventories.csv", "orders.csv"];
    place.sheetport(load).exits(0);
    Served::start(place)
}

#[test]
fn orders_and_inventories_are_exported_by_id_or_external_id() {
    let place = Place::new();
    let served = served_with_orders(&place);
    place.write("ids.csv", "Shop,Order\nx,o2\ny,o1\nz,o2\nw,o9\nv,..\n");
    let args = ["export", "orders", "-o", "o.csv", "--ids", "ids.csv", "--column", "Order", "--json"];
    let exported = served.sheetport(&place, args).exits(3).json();
    assert_eq!(
        (count(&exported, "count"), count(&exported, "not_found"), &exported["complete"]),
        (2, 2, &true.into()),
        "{exported}"
    );
    let rows = table(&place.path("o.csv"));
    assert_eq!(column(&rows, "id"), ["o2", "o1"], "in the order of the file, without duplicates");
    assert_eq!(column(&rows, "total_price"), ["5", "19.90"]);
    assert_eq!(exported["not_found_file"], "o.csv.not-found.csv");
    let missing = table(&place.path("o.csv.not-found.csv"));
    assert_eq!(missing[1..], [["o9", "5", "not found"], ["..", "6", "not a valid ID"]]);

    place.write("external.csv", "A-1\nA 2\n");
    let args = ["export", "orders", "-o", "o.csv", "--ids", "external.csv", "--external", "--language", "de"];
    served.sheetport(&place, args).exits(0).shows(&["2 orders in o.csv", "every ID was requested"]);
    assert_eq!(column(&table(&place.path("o.csv")), "id"), ["o1", "o2"]);
    assert!(!place.path("o.csv.not-found.csv").exists(), "the list of the earlier export is removed");

    place.write("external.csv", "NUTS/7\n");
    let args = ["export", "inventories", "-o", "i.ndjson", "--ids", "external.csv", "--external"];
    served.sheetport(&place, args).exits(0);
    let line: Value = serde_json::from_str(&fs::read_to_string(place.path("i.ndjson")).unwrap()).unwrap();
    assert_eq!(line["name"], "Nuts");
}

#[test]
fn transactions_are_exported_only_by_id() {
    let place = Place::new();
    let served = served_with_orders(&place);
    let mut ids = Vec::new();
    for amount in [5, -2] {
        let body =
            format!(r#"{{"transactionType": "adjust", "inventoryId": "i1", "amount": {amount}, "price": 1.10}}"#);
        let created: Value = serde_json::from_str(&served.post("/v1/public/inventory-transactions", &body)).unwrap();
        ids.push(created["transaction_id"].as_str().unwrap().to_owned());
    }
    place.write("ids.tsv", format!("transaction_id\n{}\n{}\nnone\n", ids[0], ids[1]));
    let args = ["export", "transactions", "-o", "t.csv", "--ids", "ids.tsv"];
    let exported = served.sheetport(&place, args).exits(3);
    exported.shows(&["2 transactions in t.csv", "1 not found, listed in t.csv.not-found.csv"]);
    let rows = table(&place.path("t.csv"));
    assert_eq!(
        (column(&rows, "id"), column(&rows, "amount")),
        (ids.iter().map(String::as_str).collect(), vec!["5", "-2"])
    );
    assert_eq!(rows[0][..4], ["created_at", "updated_at", "id", "transaction_id"]);
    for (records, flags, message) in [
        ("transactions", &["--ids", "ids.tsv", "--external"][..], "no external ids"),
        ("items", &["--ids", "ids.tsv"], "can't be exported by id"),
        ("orders", &["--ids", "orders.csv"], "--column"),
        ("orders", &["--ids", "orders.csv", "--column", "nr"], "no column 'nr'"),
    ] {
        let first = ["export", records, "-o", "x.csv"];
        served.sheetport(&place, first.iter().chain(flags).copied()).exits(2).says(&[message]);
    }
    served.sheetport(&place, ["export", "orders", "-o", "x.csv", "--ids", "none.csv"]).exits(7);
}

#[test]
fn the_language_is_sent_to_the_service() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let request = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.extend(byte);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 11\r\nconnection: close\r\n\r\n{\"id\":\"42\"}").unwrap();
        String::from_utf8(head).unwrap()
    });
    let place = Place::new();
    place.write("ids.csv", "a/b\n");
    let args = ["export", "inventories", "-o", "i.csv", "--ids", "ids.csv", "--external", "--language", "de-AT"];
    let export = place.sheetport(args).env("SHEETPORT_BASE_URL", &address);
    export.secret("SHEETPORT_ACCESS_TOKEN", "a-token-of-no-use").exits(0);
    let head = request.join().unwrap();
    assert!(head.starts_with("GET /v1/public/inventories/a%2Fb?external_id=a%2Fb HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains("\r\naccept-language: de-at\r\n"), "{head}");
}

/// A record that was not asked for is none of the export, and the export does not call itself complete.
#[tokio::test(flavor = "multi_thread")]
async fn answers_with_another_record_are_missing() {
    for (answered, external, reasons) in [
        (r#"{"id": "OTHER-999", "order_id": 7}"#, false, ["answered the record OTHER-999 instead"; 2]),
        (r#"{"data": [{"id": "o1"}, {"id": "o2"}], "total": 2}"#, false, ["has no ID"; 2]),
        (r#"{"status": "ok"}"#, true, ["has no ID"; 2]),
        (r#"{"id": "OTHER-999"}"#, true, ["", "OTHER-999, as for another ID"]),
    ] {
        let place = Place::new();
        place.write("ids.csv", "id\no1\no2\n");
        let server = Server::with_probes(move |_| answer(200, "", answered)).await;
        let external: &[&str] = if external { &["--external"] } else { &[] };
        let export = place.sheetport(["export", "orders", "-o", "o.csv", "--ids", "ids.csv", "--json"]).args(external);
        let export = export.env("SHEETPORT_BASE_URL", &server.address).secret("SHEETPORT_ACCESS_TOKEN", "a-token");
        let seen = tokio::task::spawn_blocking(move || export.exits(8)).await.unwrap().json();
        let missing = reasons.iter().filter(|reason| !reason.is_empty()).count();
        assert_eq!(seen["not_found"], missing, "{seen}");
        let listed = table(&place.path(seen["not_found_file"].as_str().unwrap()));
        for (row, reason) in listed[1..].iter().zip(reasons.iter().filter(|reason| !reason.is_empty())) {
            assert!(row[2].contains(reason), "{row:?}");
        }
        assert_eq!(listed.len() - 1, missing);
    }
}

//! Successful upserts and lists of items.

use std::collections::HashSet;

use futures_util::future::join_all;
use serde_json::Value;
use sheetport_records::token::Access;

use super::{ITEMS, Running, answer, folder, start};

async fn entries(service: &Running) -> Vec<Value> {
    service.get(ITEMS).await.json()["data"].as_array().unwrap().clone()
}

async fn updated_at(service: &Running) -> String {
    entries(service).await[0]["updated_at"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_upsert_creates_then_updates_an_item() {
    let data = folder();
    let service = start(data.path()).await;
    let sent = r#"{"externalId":"0042","name":"Bolt M8","description":"Zinc","currency":"EUR","price":1234.50,
        "purchasePrice":900,"tax":19,"status":"active"}"#;
    let created = service.upsert(sent).await;
    assert_eq!(created["ok"], true);
    assert_eq!(created["status"], "created");
    assert_eq!(created["external_id"], "0042");
    assert!(!created["ctx_id"].as_str().unwrap().is_empty());
    let id = created["item_id"].as_str().unwrap();

    let updated = service.upsert(r#"{"externalId":"0042","price":2}"#).await;
    assert_eq!((updated["status"].as_str(), updated["item_id"].as_str()), (Some("updated"), Some(id)));

    let list = service.get(ITEMS).await;
    assert_eq!(list.header("content-type"), "application/json");
    let list = list.json();
    let entry = &list["data"][0];
    let when = entry["updated_at"].as_str().unwrap();
    assert!(when.len() == 24 && when.ends_with('Z') && when.as_bytes()[19] == b'.', "{when}");
    let expected = format!(
        r#"{{"id":"{id}","name":"Bolt M8","price":2,"currency":"EUR","status":"active","updated_at":"{when}","external_id":"0042","description":"Zinc","purchase_price":900,"tax":19}}"#
    );
    assert_eq!(*entry, serde_json::from_str::<Value>(&expected).unwrap());
    assert_eq!((&list["page"], &list["count"], &list["total"]), (&1.into(), &100.into(), &1.into()));
    assert!(list["message"].is_string() && list["ctx_id"].is_string());
    service.stop().await;
}

#[tokio::test]
async fn absent_fields_stay_and_null_clears() {
    let data = folder();
    let service = start(data.path()).await;
    service.upsert(r#"{"externalId":"A","name":"Bolt","price":1,"currency":"EUR","status":"active"}"#).await;
    service.upsert(r#"{"externalId":"A","name":null,"price":null}"#).await;
    let entry = &entries(&service).await[0];
    assert!(entry["name"].is_null() && entry["price"].is_null(), "{entry}");
    assert_eq!((entry["currency"].as_str(), entry["status"].as_str()), (Some("EUR"), Some("active")));
    service.stop().await;
}

#[tokio::test]
async fn numbers_keep_their_digits() {
    let data = folder();
    let service = start(data.path()).await;
    let prices = ["1234.50", "0.10", "-3.000", "12345678901234567890.12345678", "79228162514264337593543950335", "0"];
    for (n, price) in prices.iter().enumerate() {
        service.upsert(format!(r#"{{"externalId":"{n}","price":{price}}}"#)).await;
    }
    service.upsert(r#"{"externalId":"exponent","price":1.5E3}"#).await;
    let text = service.get(ITEMS).await.text;
    for price in prices.iter().chain([&"1500"]) {
        assert!(text.contains(&format!(r#""price":{price},"#)), "{price} in {text}");
    }
    // Smaller than any decimal of 28 digits, such as 0.1 + 0.2 - 0.3 as doubles.
    service.upsert(r#"{"externalId":"small","price":5.551115123125783e-17,"tax":5e-324}"#).await;
    let text = service.get(ITEMS).await.text;
    assert!(text.contains(r#""price":0.00000000000000005551115123125783,"#), "{text}");
    assert!(text.contains(&format!(r#""tax":0.{}5"#, "0".repeat(323))), "{text}");
    service.stop().await;
}

#[tokio::test]
async fn updated_at_advances_only_with_changes() {
    let data = folder();
    let service = start(data.path()).await;
    service.upsert(r#"{"externalId":"A","name":"Bolt","price":1.0}"#).await;
    let created = updated_at(&service).await;
    let again = service.upsert(r#"{"externalId":"A","name":"Bolt","description":null}"#).await;
    assert_eq!(again["status"], "updated");
    assert_eq!(updated_at(&service).await, created);

    service.upsert(r#"{"externalId":"A","name":"Nut"}"#).await;
    let renamed = updated_at(&service).await;
    assert!(renamed > created, "{renamed} after {created}");
    // A field beyond those of the contract's list.
    service.upsert(r#"{"externalId":"A","tax":7}"#).await;
    assert!(updated_at(&service).await > renamed);
    service.stop().await;
}

#[tokio::test]
async fn text_is_returned_unchanged() {
    let data = folder();
    let service = start(data.path()).await;
    let name = "Größe \"L\" \\ 🚀\u{1}\n\u{202e}";
    let escaped = r#"Größe \"L\" \\ \ud83d\ude80\u0001\n\u202e"#;
    service.upsert(format!(r#"{{"externalId":" ü ","name":"{escaped}","unknown":{{"a":[1e999]}}}}"#)).await;
    service.post(ITEMS, r#"{"externalId":"not this","externalId":" ü "}"#).await.refused(400);
    let again = service.upsert(r#"{"externalId":" ü "}"#).await;
    assert_eq!((again["status"].as_str(), again["external_id"].as_str()), (Some("updated"), Some(" ü ")));
    assert_eq!(entries(&service).await[0]["name"], name);
    service.stop().await;
}

#[tokio::test]
async fn pages_contain_every_item_once() {
    let data = folder();
    let service = start(data.path()).await;
    let mut created = Vec::new();
    for n in 0..25 {
        created.push(service.upsert(format!(r#"{{"externalId":"{n}"}}"#)).await["item_id"].clone());
    }
    // Changes do not affect the order.
    service.upsert(r#"{"externalId":"3","name":"changed"}"#).await;

    let mut listed = Vec::new();
    for page in 1.. {
        let list = service.get(&format!("{ITEMS}?page={page}&limit=10")).await.json();
        assert_eq!((&list["page"], &list["count"], &list["total"]), (&page.into(), &10.into(), &25.into()));
        listed.extend(list["data"].as_array().unwrap().iter().map(|entry| entry["id"].clone()));
        if page * 10 >= 25 {
            break;
        }
    }
    assert_eq!(listed, created);

    for beyond in ["4", "9223372036854775807", "18446744073709551615"] {
        let list = service.get(&format!("{ITEMS}?page={beyond}&limit=10")).await.json();
        assert_eq!((list["data"].as_array().unwrap().len(), &list["total"]), (0, &25.into()));
    }
    service.stop().await;
}

#[tokio::test]
async fn large_limits_are_reduced_to_the_maximum() {
    let data = folder();
    let service = start(data.path()).await;
    let capped = service.get(&format!("{ITEMS}?limit=5000")).await.json();
    assert_eq!((&capped["count"], &capped["total"]), (&1000.into(), &0.into()));
    let most = service.get(&format!("{ITEMS}?limit=1000&sort=name")).await.json();
    assert_eq!(most["count"], 1000);
    service.stop().await;
}

#[tokio::test]
async fn workspaces_are_isolated() {
    let data = folder();
    let service = start(data.path()).await;
    let ours = service.upsert(r#"{"externalId":"A","name":"ours"}"#).await;
    let other = service.tokens("other", Access::Full).await.access;
    let request = service.request(reqwest::Method::POST, ITEMS).bearer_auth(&other);
    let request = request.header("content-type", "application/json").body(r#"{"externalId":"A","name":"theirs"}"#);
    let theirs = answer(request).await.json();
    assert_eq!(theirs["status"], "created");
    assert_ne!(theirs["item_id"], ours["item_id"]);

    let list = answer(service.request(reqwest::Method::GET, ITEMS).bearer_auth(&other)).await.json();
    assert_eq!((&list["total"], &list["data"][0]["name"]), (&1.into(), &"theirs".into()));
    let list = service.get(ITEMS).await.json();
    assert_eq!((&list["total"], &list["data"][0]["name"]), (&1.into(), &"ours".into()));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_upserts_create_each_item_once() {
    let data = folder();
    let service = start(data.path()).await;
    let bodies = (0..200).map(|n| {
        let key = if n % 4 == 0 { "same".to_owned() } else { format!("{n}") };
        format!(r#"{{"externalId":"{key}","name":"{n}"}}"#)
    });
    let results = join_all(bodies.map(|body| service.upsert(body))).await;
    let created = results.iter().filter(|result| result["status"] == "created").count();
    assert_eq!(created, 151, "150 keys of their own and one that 50 share");
    let ids: HashSet<_> = results.iter().map(|result| result["item_id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 151);
    let list = service.get(&format!("{ITEMS}?limit=1000")).await.json();
    let listed: HashSet<_> = list["data"].as_array().unwrap().iter().map(|e| e["id"].as_str().unwrap()).collect();
    assert_eq!((listed, &list["total"]), (ids, &151.into()));
    service.stop().await;
}

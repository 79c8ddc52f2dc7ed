//! Opening and stopping a service, and durability.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use sheetport_records::token::Access;
use sheetport_service::{Config, Error, Service, issue_tokens};

use super::{ITEMS, answer, folder, start, start_with};

#[tokio::test]
async fn a_second_service_on_the_same_data_fails_but_tokens_are_issued() {
    let data = folder();
    let service = start(data.path()).await;
    let error = Service::open(Config::new(data.path())).await.err().unwrap();
    assert!(matches!(error, Error::InUse { .. }), "{error}");
    assert!(error.to_string().contains(&data.path().display().to_string()));
    assert!(error.hint().contains("data folder"));

    let token = issue_tokens(&Config::new(data.path()), "acme", Access::Regular).await.unwrap().access;
    assert_eq!(answer(service.request(reqwest::Method::GET, ITEMS).bearer_auth(token)).await.status, 200);
    service.stop().await;
    drop(Service::open(Config::new(data.path())).await.unwrap());
}

#[tokio::test]
async fn tokens_issued_before_the_first_start_are_valid() {
    let data = folder();
    let config = Config::new(data.path().join("new/folder"));
    let early = issue_tokens(&config, "acme", Access::Regular).await.unwrap().access;
    let opened = Service::open(config.clone()).await.unwrap();
    let own = opened.issue_tokens("acme", Access::Full).unwrap().access;
    drop(opened);
    let service = start_with(config).await;
    for token in [early, own] {
        assert_eq!(answer(service.request(reqwest::Method::GET, ITEMS).bearer_auth(token)).await.status, 200);
    }
    service.stop().await;
}

#[tokio::test]
async fn acknowledged_writes_and_tokens_survive_a_crash() {
    let data = folder();
    let service = start(data.path()).await;
    let token = service.token.clone();
    let first = service.upsert(r#"{"externalId":"A","name":"Bolt"}"#).await;
    service.kill().await;

    let service = start(data.path()).await;
    let list = answer(service.request(reqwest::Method::GET, ITEMS).bearer_auth(&token)).await.json();
    assert_eq!((&list["data"][0]["id"], &list["data"][0]["name"]), (&first["item_id"], &"Bolt".into()));
    let again = service.upsert(r#"{"externalId":"A"}"#).await;
    assert_eq!((&again["status"], &again["item_id"]), (&"updated".into(), &first["item_id"]));
    service.stop().await;
}

#[tokio::test]
async fn a_stop_leaves_a_single_database_file() {
    let data = folder();
    let service = start(data.path()).await;
    service.upsert(r#"{"externalId":"A"}"#).await;
    service.get(ITEMS).await;
    service.stop().await;
    let mut names: Vec<_> = std::fs::read_dir(data.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["service.db", "service.lock", "signing.key"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_finishes_requests_in_flight() {
    let data = folder();
    let service = start(data.path()).await;
    let address = service.base.trim_start_matches("http://").to_owned();
    let body = r#"{"externalId":"last"}"#;
    let head = format!(
        "POST {ITEMS} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         expect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        service.token,
        body.len()
    );
    let mut stream = tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        // The interim response shows that the handler is waiting for the body.
        let mut interim = [0; 25];
        stream.read_exact(&mut interim).unwrap();
        assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
        stream
    })
    .await
    .unwrap();

    let stopped = tokio::spawn(service.stop());
    let text = tokio::task::spawn_blocking(move || {
        stream.write_all(body.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    })
    .await
    .unwrap();
    assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
    stopped.await.unwrap();

    let service = start(data.path()).await;
    assert_eq!(service.get(ITEMS).await.json()["total"], 1);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_reads_nothing_is_disconnected() {
    let data = folder();
    let config = Config { write_timeout: Duration::from_millis(300), ..Config::new(data.path()) };
    let service = start_with(config).await;
    let address = service.base.trim_start_matches("http://").to_owned();
    let request = format!("GET /openapi.json HTTP/1.1\r\nhost: {address}\r\n\r\n");
    tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
        // More answers than the buffers of both sides take. The service stops reading, then it closes the connection.
        let error = loop {
            if let Err(error) = stream.write_all(request.as_bytes()) {
                break error;
            }
        };
        assert!(!matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
    })
    .await
    .unwrap();
    service.stop().await;
}

#[tokio::test]
async fn an_invalid_database_is_an_error_with_its_path() {
    let data = folder();
    let path = data.path().join("service.db");
    std::fs::write(&path, "this is a text file and long enough not to be taken for an empty database").unwrap();
    let error = Service::open(Config::new(data.path())).await.err().unwrap();
    assert!(error.to_string().contains("service.db"), "{error}");
    assert!(error.hint().contains("backup"), "{}", error.hint());
}

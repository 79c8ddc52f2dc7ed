//! Error responses: status and errors of invalid requests, and never a 500.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::TcpStream;

use futures_util::stream;
use http_body_util::StreamBody;
use hyper::body::{Bytes, Frame};
use reqwest::Method;

use super::{ITEMS, REFRESH, answer, folder, start};

#[tokio::test]
async fn bodies_without_a_json_object_are_a_400() {
    let data = folder();
    let service = start(data.path()).await;
    let deep = format!(r#"{{"externalId":"A","x":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let bodies: [&[u8]; 12] = [
        b"",
        b"{",
        b"nonsense",
        b"[]",
        b"\"text\"",
        b"null",
        br#"{"externalId":"A"} {}"#,
        b"{\"externalId\":\"\xff\"}",
        b"\xef\xbb\xbf{\"externalId\":\"A\"}",
        br#"{"externalId":"\ud800"}"#,
        br#"{"externalId":"A","unknown":"\udc00"}"#,
        deep.as_bytes(),
    ];
    for body in bodies {
        service.post(ITEMS, body.to_vec()).await.refused(400);
    }
    assert_eq!(service.get(ITEMS).await.json()["total"], 0);
    service.stop().await;
}

#[tokio::test]
async fn invalid_items_are_a_422_with_all_errors() {
    let data = folder();
    let service = start(data.path()).await;
    let cases = [
        (r#"{}"#, r#"{"externalId":["is required"]}"#),
        (r#"{"externalId":null}"#, r#"{"externalId":["must be a string, not null"]}"#),
        (r#"{"externalId":""}"#, r#"{"externalId":["must not be blank"]}"#),
        (r#"{"externalId":" \u00a0\t"}"#, r#"{"externalId":["must not be blank"]}"#),
        (
            r#"{"externalId":"A\u0000","name":"\u0000","status":"\u0000"}"#,
            r#"{"externalId":["must not contain NUL"],"name":["must not contain NUL"],
                "status":["must not contain NUL"]}"#,
        ),
        (
            r#"{"name":5,"description":[],"currency":true,"price":"1","purchasePrice":{},"tax":"","status":1}"#,
            r#"{"externalId":["is required"],"name":["must be a string or null, not a number"],
                "description":["must be a string or null, not an array"],
                "currency":["must be a string or null, not a boolean"],
                "price":["must be a number or null, not a string"],
                "purchasePrice":["must be a number or null, not an object"],
                "tax":["must be a number or null, not a string"],
                "status":["must be a string or null, not a number"]}"#,
        ),
        (
            r#"{"externalId":"A","price":1e400,"purchasePrice":1e-401,
                "tax":79228162514264337593543950336}"#,
            r#"{"price":["has more than 28 digits"],"purchasePrice":["has more than 400 decimals"],
                "tax":["has more than 28 digits"]}"#,
        ),
    ];
    for (body, errors) in cases {
        service.post(ITEMS, body).await.invalid(errors);
    }
    for currency in ["", "eur", "EURO", "EU", "E R", "ÄÖÜ", "€"] {
        let refused = service.post(ITEMS, format!(r#"{{"externalId":"A","currency":"{currency}"}}"#)).await;
        refused.invalid(r#"{"currency":["must be a three-letter code such as EUR"]}"#);
    }
    for (field, longest) in [("externalId", 255), ("name", 500), ("description", 10_000), ("status", 50)] {
        let key = if field == "externalId" { "" } else { r#""externalId":"A","# };
        let body = |length: usize| format!(r#"{{{key}"{field}":"{}"}}"#, "ä".repeat(length));
        let errors = format!(r#"{{"{field}":["must not be longer than {longest} characters"]}}"#);
        service.post(ITEMS, body(longest + 1)).await.invalid(&errors);
        service.upsert(body(longest)).await;
    }
    let long = format!(r#"{{"externalId":"A","price":{}}}"#, "9".repeat(500_000));
    service.post(ITEMS, long).await.invalid(r#"{"price":["has more than 28 digits"]}"#);
    service.stop().await;
}

#[tokio::test]
async fn invalid_page_parameters_are_a_422() {
    let data = folder();
    let service = start(data.path()).await;
    for bad in ["0", "-1", "two", "1.5", "", "%00", "%ff"] {
        let refused = service.get(&format!("{ITEMS}?page={bad}")).await;
        refused.invalid(r#"{"page":["must be a whole number of at least 1"]}"#);
    }
    let refused = service.get(&format!("{ITEMS}?page=0&limit=99999999999999999999")).await;
    refused.invalid(r#"{"page":["must be a whole number of at least 1"],"limit":["is too large"]}"#);
    service.stop().await;
}

#[tokio::test]
async fn an_oversized_body_is_a_413_and_the_client_sees_it() {
    let data = folder();
    let service = start(data.path()).await;
    let body = |bytes: usize| {
        let frame = r#"{"externalId":"A","x":""}"#.len();
        format!(r#"{{"externalId":"A","x":"{}"}}"#, "x".repeat(bytes - frame))
    };
    let limit = 1024 * 1024;
    service.upsert(body(limit)).await;
    for bytes in [limit + 1, 10 * limit] {
        service.post(ITEMS, body(bytes)).await.refused(413);
    }

    let chunked = |chunks: usize| {
        let chunks = (0..chunks).map(|_| Ok::<_, Infallible>(Frame::data(Bytes::from(vec![b' '; 64 * 1024]))));
        let last = Ok(Frame::data(Bytes::from_static(br#"{"externalId":"chunked"}"#)));
        reqwest::Body::wrap(StreamBody::new(stream::iter(chunks.chain([last]).collect::<Vec<_>>())))
    };
    assert_eq!(service.upsert(chunked(3)).await["external_id"], "chunked");
    for chunks in [16, 160] {
        service.post(ITEMS, chunked(chunks)).await.refused(413);
    }
    service.stop().await;
}

/// A client that sends the whole request before reading, as is common.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_oversized_body_is_read_before_the_response() {
    let data = folder();
    let service = start(data.path()).await;
    let address = service.base.trim_start_matches("http://").to_owned();
    let body = vec![b' '; 10 * 1024 * 1024];
    let head = format!(
        "POST {ITEMS} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n",
        service.token,
        body.len()
    );
    let text = tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&body).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    });
    let text = text.await.unwrap();
    assert!(text.starts_with("HTTP/1.1 413 "), "{text}");
    service.stop().await;
}

#[tokio::test]
async fn other_content_types_are_a_415() {
    let data = folder();
    let service = start(data.path()).await;
    let post = |content_type: Option<&'static str>| {
        let request = service.request(Method::POST, ITEMS).bearer_auth(&service.token).body(r#"{"externalId":"A"}"#);
        answer(content_type.into_iter().fold(request, |request, value| request.header("content-type", value)))
    };
    for refused in [None, Some("text/plain"), Some("application/jsonl"), Some("application/x-www-form-urlencoded")] {
        post(refused).await.refused(415);
    }
    for good in ["application/json", "application/json; charset=utf-8", "Application/JSON ;charset=UTF-8"] {
        assert_eq!(post(Some(good)).await.status, 200);
    }
    let gzip = service.request(Method::POST, ITEMS).bearer_auth(&service.token).header("content-encoding", "gzip");
    answer(gzip.header("content-type", "application/json").body("x")).await.refused(415);
    service.stop().await;
}

#[tokio::test]
async fn unknown_paths_and_methods_have_error_bodies() {
    let data = folder();
    let service = start(data.path()).await;
    for path in ["/v1/public/nothing", "/v1/public/items/", "/v1/public/items/1", "/%ff", "//"] {
        answer(service.request(Method::GET, path)).await.refused(404);
    }
    for (path, methods) in [(ITEMS, "GET,HEAD,POST"), (REFRESH, "POST"), ("/healthz", "GET,HEAD")] {
        let refused = answer(service.request(Method::DELETE, path).bearer_auth(&service.token)).await;
        refused.refused(405);
        assert_eq!(refused.header("allow"), methods);
    }
    let health = answer(service.request(Method::GET, "/healthz")).await;
    assert_eq!((health.status.as_u16(), health.text.as_str()), (200, r#"{"ok":true}"#));
    service.stop().await;
}

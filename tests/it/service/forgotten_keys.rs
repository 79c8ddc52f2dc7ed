//! How long the service knows an `Idempotency-Key`.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use super::idempotency::{INVOICE, demo, invoice};
use super::{folder, start};

/// Lets the stored responses become older, while the service is stopped.
async fn age(data: &std::path::Path, minutes: i64) {
    let options = SqliteConnectOptions::new().filename(data.join("service.db"));
    let mut database = options.connect().await.unwrap();
    let update = "UPDATE idempotency_keys SET created_at = created_at - $1";
    sqlx::query(update).bind(minutes * 60_000).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
}

#[tokio::test]
async fn keys_are_forgotten_after_a_day() {
    let data = folder();
    let service = demo(data.path()).await;
    let first = invoice(&service, "k-1", INVOICE).await.ok();
    service.stop().await;

    age(data.path(), 24 * 60 - 5).await;
    let service = start(data.path()).await;
    assert_eq!(invoice(&service, "k-1", INVOICE).await.ok(), first, "not a day old");
    let second = invoice(&service, "k-2", INVOICE).await.ok();
    service.stop().await;

    age(data.path(), 10).await;
    let service = start(data.path()).await;
    assert_eq!(invoice(&service, "k-2", INVOICE).await.ok(), second, "ten minutes old");
    let again = invoice(&service, "k-1", INVOICE).await;
    assert!(again.headers.get("idempotency-replayed").is_none());
    let again = again.ok();
    assert_ne!(again["id"], first["id"]);
    assert_eq!(invoice(&service, "k-1", INVOICE).await.ok(), again, "the key is used for the new request");
    // Another body is no longer refused, either.
    service.stop().await;
    age(data.path(), 24 * 60).await;
    let service = start(data.path()).await;
    invoice(&service, "k-2", &INVOICE.replace("10", "11")).await.ok();
    service.stop().await;

    let mut database = SqliteConnectOptions::new().filename(data.path().join("service.db")).connect().await.unwrap();
    let kept: Vec<String> =
        sqlx::query_scalar("SELECT idempotency_key FROM idempotency_keys").fetch_all(&mut database).await.unwrap();
    assert_eq!(kept, ["k-2"], "responses are deleted when they are forgotten");
    database.close().await.unwrap();
}

//! Tokens over plain HTTP to other machines.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_not_sent_unencrypted_to_other_machines() {
    // The proxy would see every request.
    let proxy = Server::with_probes(|_| Reply::Accept).await;
    let place = with_items();
    place.write("home.toml", "");
    for base_url in ["http://records.example", "http://192.0.2.1:8080/below", "HTTP://records.example"] {
        for args in [
            &UPLOAD[..],
            &["upload", "items.csv", "-t", "items", "--changed-only"],
            &["export", "items", "-o", "out.csv"],
            &["whoami"],
            &["login"],
        ] {
            let command = at(&place, base_url, args).env("HTTP_PROXY", &proxy.address).fed("access-1\nrefresh-1\n");
            command.exits(2).says(&["would travel unencrypted to http://", "--insecure-http", "https://"]);
        }
    }
    assert_eq!(proxy.log().len(), 0);
    assert!(!place.path("home/ledger.db").exists() && !place.path("out.csv").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn unencrypted_connections_are_allowed_by_name_and_remembered_by_the_run() {
    let is_ready = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let ready = std::sync::Arc::clone(&is_ready);
    let proxy = Server::start(move |_| match ready.load(std::sync::atomic::Ordering::Relaxed) {
        true => Reply::Accept,
        false => answer(407, "", ""),
    })
    .await;
    let place = with_items();
    let run = |args: &[&str]| at(&place, "http://records.example", args).env("HTTP_PROXY", &proxy.address);
    let upload = run(&UPLOAD).arg("--insecure-http").exits(9);
    assert_eq!(summary(&upload)["next"], "sheetport continue 1 --insecure-http");
    is_ready.store(true, std::sync::atomic::Ordering::Relaxed);
    let resume = run(&["resume", "1", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&resume)), "5: sent 5");
    // Another run does not remember it.
    run(&["whoami"]).exits(2);
    run(&["whoami"]).env("SHEETPORT_INSECURE_HTTP", "0").exits(2);
    run(&["whoami"]).env("SHEETPORT_INSECURE_HTTP", "1").exits(0);
    place.write("home/sheetport.toml", "[profiles.default]\ninsecure_http = true\n");
    run(&["whoami"]).exits(0);
}

//! Certificates of services and clients, and SOCKS proxies.

use std::fs;

use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::certificates::{Authority, Identity};
use super::relays::{Socks, TlsRelay};
use super::*;
use crate::cli::service::Served;

#[tokio::test(flavor = "multi_thread")]
async fn certificates_in_the_ca_file_are_trusted() {
    let server = Server::start(|seen| match seen.body.is_empty() {
        true => answer(200, "", r#"{"data": [{"id": "1"}], "total": 1}"#),
        false => Reply::Accept,
    })
    .await;
    let ca = Authority::new("Test CA");
    let relay = TlsRelay::start(&server, &ca.server(&["127.0.0.1"])).await;
    let place = with_items();
    // Others may stand in the same file.
    let file = place.write("ca.pem", format!("# two CAs\n{}{}", Authority::new("Other CA").pem(), ca.pem()));
    let upload = at(&place, &relay.address(), &UPLOAD).args(["--ca-file", "ca.pem"]).exits(0);
    assert_eq!(accounting(&summary(&upload)), "5: sent 5");
    at(&place, &relay.address(), &["whoami"]).env("SHEETPORT_CA_FILE", name(&file)).exits(0);
    at(&place, &relay.address(), &["export", "items", "-o", "out.csv", "--ca-file", "ca.pem"]).exits(0);
    // Paths in the settings file are relative to it.
    fs::copy(&file, place.path("home/of-profile.pem")).unwrap();
    place.write("home/sheetport.toml", "[profiles.own]\nca_file = \"of-profile.pem\"\n");
    at(&place, &relay.address(), &["whoami", "--profile", "own"]).exits(0);

    let sent = server.log().len();
    let upload = at(&place, &relay.address(), &UPLOAD);
    is_stopped(upload.run(), &["unknown issuer", "CN=Test CA", "--ca-file", "SHEETPORT_CA_FILE"]);
    at(&place, &relay.address(), &["whoami"]).exits(9).says(&["unknown issuer", "--ca-file"]);
    assert_eq!(server.log().len(), sent, "no request without trust");
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_certificates_are_explained_at_once() {
    let server = Server::with_probes(|_| Reply::Accept).await;
    let ca = Authority::new("Test CA");
    for (identity, words) in [
        (ca.server_between(2020, 2021), &["the certificate of 127.0.0.1 expired on 2021-01-01", "clock"][..]),
        (ca.server_between(2090, 2091), &["not valid before 2090-01-01", "clock"]),
        (
            ca.server(&["records.example", "*.shop.example"]),
            &["for another host: for records.example, *.shop.example, not for 127.0.0.1", "base address"],
        ),
        (Identity::self_signed(), &["is self-signed", "--ca-file"]),
        (Authority::new("\u{1b}[31mOther \u{202e}CA").server(&["127.0.0.1"]), &["unknown issuer", "Other ?CA"]),
    ] {
        let relay = TlsRelay::start(&server, &identity).await;
        let place = with_items();
        place.write("ca.pem", ca.pem());
        let upload = at(&place, &relay.address(), &UPLOAD).args(["--ca-file", "ca.pem"]).run();
        assert!(!upload.stderr.contains("can't be reached") && !upload.stderr.contains('\u{1b}'), "{upload:?}");
        is_stopped(upload, words);
        // Reads stop as well.
        let export = at(&place, &relay.address(), &["export", "items", "-o", "out.csv", "--ca-file", "ca.pem"]);
        export.exits(9).says(&words[..1]);
    }
    assert_eq!(server.log().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn self_signed_certificates_in_the_ca_file_are_trusted_for_their_host_while_they_are_valid() {
    let server = Server::start(|_| Reply::Accept).await;
    for (own, refusal) in [
        (Identity::self_signed(), None),
        (Identity::self_signed_ca(&["127.0.0.1"], 2090), None),
        (Identity::self_signed_ca(&["127.0.0.1"], 2021), Some("expired on 2021-01-01")),
        (Identity::self_signed_ca(&["records.example"], 2090), Some("for records.example, not for 127.0.0.1")),
    ] {
        let relay = TlsRelay::start(&server, &own).await;
        let place = with_items();
        place.write("own.pem", &own.cert);
        place.write("other.pem", Identity::self_signed_ca(&["127.0.0.1"], 2090).cert);
        let upload = |ca_file| at(&place, &relay.address(), &UPLOAD).args(["--ca-file", ca_file]).run();
        if refusal.is_none() {
            is_stopped(upload("other.pem"), &["is self-signed", "--ca-file"]);
        }
        match refusal {
            None => assert_eq!(accounting(&summary(&upload("own.pem").exits(0))), "5: sent 5"),
            Some(words) => is_stopped(upload("own.pem"), &[words]),
        }
    }
}

/// Creates must not be repeated, so that nothing of them may be unknown.
#[tokio::test(flavor = "multi_thread")]
async fn records_that_must_not_be_sent_twice_stay_pending_without_trust() {
    let server = Server::with_probes(|_| Reply::Accept).await;
    let (ca, clients) = (Authority::new("Test CA"), Authority::new("Clients"));
    let identity = ca.server(&["127.0.0.1"]);
    let relay = TlsRelay::start(&server, &identity).await;
    let closed = TlsRelay::for_clients_of(&clients, &server, &identity, &TLS13).await;
    for (address, words) in [
        (relay.address(), "unknown issuer"),
        (relay.address().replace("https://", "http://"), "speaks HTTPS"),
        (closed.address(), "requires a client certificate"),
    ] {
        let place = with_items();
        place.write("ca.pem", ca.pem());
        place.write("invoices.toml", "record = \"invoice\"\n[fields.cid]\ncolumn = \"SKU\"\n[fields.currency]\nvalue = \"EUR\"\n[lines.id]\ncolumn = \"Name\"\n[lines.amount]\ncolumn = \"Price\"\n");
        let upload = at(&place, &address, &["upload", "items.csv", "-t", "./invoices.toml", "--json"]);
        let upload = if words == "unknown issuer" { upload } else { upload.args(["--ca-file", "ca.pem"]) };
        is_stopped(upload.run(), &[words]);
    }
    assert_eq!(server.log().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn client_certificates_are_presented_to_services_that_require_them() {
    let server = Server::start(|_| Reply::Accept).await;
    let (ca, clients) = (Authority::new("Test CA"), Authority::new("Clients"));
    let client = clients.client();
    for version in [&TLS13, &TLS12] {
        let relay = TlsRelay::for_clients_of(&clients, &server, &ca.server(&["127.0.0.1"]), version).await;
        let place = with_items();
        place.write("ca.pem", ca.pem());
        place.write("client.pem", &client.cert);
        let upload = |args: &[&str]| at(&place, &relay.address(), &UPLOAD).args(["--ca-file", "ca.pem"]).args(args);
        is_stopped(upload(&[]).run(), &["requires a client certificate", "--client-cert", "SHEETPORT_CLIENT_KEY"]);
        let foreign = Authority::new("Other clients").client();
        private(&place, "foreign.pem", &format!("{}{}", foreign.cert, foreign.key));
        let refused = upload(&["--client-cert", "foreign.pem"]).run();
        is_stopped(refused, &["does not accept the client certificate", "--client-cert"]);

        private(&place, "both.pem", &format!("{}{}", client.key, client.cert));
        private(&place, "key.pem", &client.key);
        upload(&["--client-cert", "both.pem"]).exits(0);
        upload(&["--client-cert", "client.pem", "--client-key", "key.pem"]).exits(0);
        let by_environment = upload(&[]).env("SHEETPORT_CLIENT_CERT", "client.pem");
        by_environment.env("SHEETPORT_CLIENT_KEY", "key.pem").exits(0);
    }
}

fn private(place: &Place, file: &str, content: &str) {
    let path = place.write(file, content);
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    #[cfg(not(unix))]
    let _ = path;
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_files_are_named_before_anything_is_sent() {
    let server = Server::with_probes(|_| Reply::Accept).await;
    let ca = Authority::new("Test CA");
    let client = ca.client();
    let place = with_items();
    place.write("ca.der", ca.der());
    place.write("client.pem", &client.cert);
    private(&place, "other-key.pem", &ca.client().key);
    private(&place, "locked.pem", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
    let open = place.write("open-key.pem", &client.key);
    #[cfg(unix)]
    fs::set_permissions(open, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    for (args, words) in [
        (&["--ca-file", "none.pem"][..], &["the CA file none.pem can't be used", "check the path"][..]),
        (&["--ca-file", "items.csv"], &["contains no certificate", "BEGIN CERTIFICATE"]),
        (&["--ca-file", "ca.der"], &["binary form (DER)", "openssl x509"]),
        (&["--client-key", "other-key.pem"], &["without a client certificate", "--client-cert"]),
        (&["--client-cert", "client.pem"], &["contains no private key", "--client-key"]),
        (&["--client-cert", "client.pem", "--client-key", "other-key.pem"], &["client certificate", "--client-key"]),
        (&["--client-cert", "client.pem", "--client-key", "locked.pem"], &["protected by a password", "openssl pkey"]),
        #[cfg(unix)]
        (
            &["--client-cert", "client.pem", "--client-key", "open-key.pem"],
            &["other users", "chmod 600 'open-key.pem'"],
        ),
        (&["--proxy", "ftp://proxy.example"], &["'ftp://proxy.example' is not the address of a proxy", "socks5h://"]),
        (&["--proxy", "http://user:hidden@proxy.example"], &["other users", "SHEETPORT_PROXY"]),
    ] {
        let ended = at(&place, &server.address, &UPLOAD).args(args).exits(2).says(words);
        assert!(!format!("{ended:?}").contains("hidden"), "{ended:?}");
    }
    assert_eq!(server.log().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_with_the_files_that_it_began_with() {
    let is_ready = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let ready = std::sync::Arc::clone(&is_ready);
    let server = Server::start(move |_| match ready.load(std::sync::atomic::Ordering::Relaxed) {
        true => Reply::Accept,
        false => answer(407, "", ""),
    })
    .await;
    let (ca, clients) = (Authority::new("Test CA"), Authority::new("Clients"));
    let relay = TlsRelay::for_clients_of(&clients, &server, &ca.server(&["records.example"]), &TLS13).await;
    let socks = Socks::start(relay.port, None).await;
    let place = with_items();
    place.write("ca.pem", ca.pem());
    let client = clients.client();
    private(&place, "both.pem", &format!("{}{}", client.cert, client.key));
    let proxy = format!("socks5h://{}", socks.address);
    let flags = ["--ca-file", "ca.pem", "--client-cert", "both.pem", "--proxy", &proxy];
    let upload = at(&place, "https://records.example", &UPLOAD).args(flags).exits(9);
    let next = summary(&upload)["next"].as_str().unwrap().to_owned();
    assert_eq!(next, format!("sheetport continue 1 {}", flags.join(" ")));
    is_ready.store(true, std::sync::atomic::Ordering::Relaxed);
    // From another folder, because the run remembers absolute paths.
    fs::create_dir(place.path("elsewhere")).unwrap();
    let script = format!("cd elsewhere && exec {} resume 1 --json", env!("CARGO_BIN_EXE_sheetport"));
    let resume = place.command("sh", ["-c", &script]).env("SHEETPORT_BASE_URL", "https://records.example");
    let resume = resume.secret("SHEETPORT_ACCESS_TOKEN", TOKEN).exits(0);
    assert_eq!(accounting(&summary(&resume)), "5: sent 5");
}

#[tokio::test(flavor = "multi_thread")]
async fn socks_proxies_carry_uploads() {
    let server = Server::start(|_| Reply::Accept).await;
    let ca = Authority::new("Test CA");
    let relay = TlsRelay::start(&server, &ca.server(&["records.example"])).await;
    let open = Socks::start(relay.port, None).await;
    let locked = Socks::start(relay.port, Some(("worker", "hidden"))).await;
    let (open_url, locked_url) = (format!("socks5h://{}", open.address), format!("worker:hidden@{}", locked.address));
    for (variable, url, socks) in [
        ("ALL_PROXY", open_url.clone(), &open),
        ("https_proxy", open_url.clone(), &open),
        ("SHEETPORT_PROXY", open_url.clone(), &open),
        ("SHEETPORT_PROXY", format!("socks5h://{locked_url}"), &locked),
        ("HTTPS_PROXY", format!("socks5h://{locked_url}"), &locked),
    ] {
        let place = with_items();
        place.write("ca.pem", ca.pem());
        let before = (server.log().len(), socks.wanted().len());
        let upload = at(&place, "https://records.example", &UPLOAD).args(["--ca-file", "ca.pem"]).env(variable, &url);
        let upload = upload.exits(0);
        assert_eq!(accounting(&summary(&upload)), "5: sent 5", "{variable}");
        assert!(!format!("{upload:?}").contains("hidden"));
        assert_eq!(server.log().len(), before.0 + 5);
        let wanted = &socks.wanted()[before.1..];
        assert!(!wanted.is_empty() && wanted.iter().all(|target| target == "records.example:443"), "{wanted:?}");
    }
    // As a flag, and with names resolved on this machine.
    let place = with_items();
    place.write("ca.pem", Authority::new("Test CA").pem());
    let plain = Socks::start(server.address.rsplit_once(':').unwrap().1.parse().unwrap(), None).await;
    let flag = format!("socks5://{}", plain.address);
    at(&place, "http://localhost:9", &UPLOAD).args(["--proxy", &flag]).exits(0);
    assert!(plain.wanted().iter().all(|target| target == "127.0.0.1:9"), "{:?}", plain.wanted());
    // A proxy of the environment is not used beside it.
    for (url, words) in [
        (format!("socks5h://worker:wrong@{}", locked.address), "the proxy requires credentials"),
        (format!("socks5h://{}", locked.address), "the proxy requires credentials"),
        ("socks5h://127.0.0.1:9".to_owned(), "can't be reached"),
    ] {
        let place = with_items();
        let upload = at(&place, "https://records.example", &UPLOAD).env("SHEETPORT_PROXY", &url);
        let upload = upload.env("ALL_PROXY", &open_url).run();
        assert!(!format!("{upload:?}").contains("wrong"));
        is_stopped(upload, &[words]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mixed_up_schemes_are_recognised() {
    let server = Server::with_probes(|_| Reply::Accept).await;
    let relay = TlsRelay::start(&server, &Authority::new("Test CA").server(&["127.0.0.1"])).await;
    let place = with_items();
    let service = Served::start(&place);
    let plain = service.url().replace("http://", "https://");
    is_stopped(at(&place, &plain, &UPLOAD).run(), &["does not speak TLS", "speaks plain HTTP", "--insecure-http"]);
    let encrypted = relay.address().replace("https://", "http://");
    is_stopped(at(&place, &encrypted, &UPLOAD).run(), &["speaks HTTPS", "write https://"]);
    // Web servers say so themselves.
    let nginx = Server::with_probes(|_| {
        answer(400, "content-type: text/html\r\n", "<center>The plain HTTP request was sent to HTTPS port</center>")
    })
    .await;
    is_stopped(at(&place, &nginx.address, &UPLOAD).run(), &["speaks HTTPS", "write https://"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn services_with_old_versions_of_tls_are_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            // The fatal alert protocol_version, in TLS 1.0.
            let _ = stream.write_all(&[21, 3, 1, 0, 2, 2, 70]).await;
        }
    });
    is_stopped(at(&with_items(), &address, &UPLOAD).run(), &["no version of TLS that is still secure", "TLS 1.2"]);
}

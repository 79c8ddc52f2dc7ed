//! Exports from a service that can't be trusted: whole under the name asked for, or not there under that name.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use sheetport::api::{Client, Pace};
use sheetport::export::{self, Clock, Error, Exported, Job, Output, Since, What};
use sheetport::records::item::LIST;
use sheetport::sheet::write::{Shape, Style};

use super::client;
use super::server::{Reply, Seen, Server, answer};

/// An export of all items into `items.csv` of a folder.
pub fn job(folder: &Path) -> Job {
    let path = folder.join("items.csv");
    Job {
        what: What::List(&LIST),
        output: Output::File { pattern: path.to_str().unwrap().to_owned(), shape: Shape::of(&path).unwrap() },
        style: Style::default(),
        template: None,
        explode: None,
        since: Since::Ever,
        verify: false,
        fresh: false,
        keep: None,
        min_ratio: None,
        concurrency: 4,
        home: folder.join("home"),
        base_url: "http://service".to_owned(),
        workspace: "shop".to_owned(),
        language: None,
        clock: Clock {
            started: "2026-11-21T02:00:00Z".parse().unwrap(),
            today: "2026-11-21".parse().unwrap(),
            now: SystemTime::now,
        },
    }
}

async fn export(client: Arc<Client>, folder: &Path) -> Result<Exported, Error> {
    export_as(client, &job(folder)).await
}

pub async fn export_as(client: Arc<Client>, job: &Job) -> Result<Exported, Error> {
    export::export(client, Arc::new(Pace::new(None, Instant::now())), job, &|_, _| {}).await
}

const BY_TOTAL: &str = "as many different records as the service says there are";
const TO_THE_END: &str = "read until a page was empty; the service names no total";

/// A page of a list of 1000 items, 100 to a page.
fn page(seen: &Seen, total: &str) -> Reply {
    let page = number(seen);
    let ids = if page <= 10 { (page - 1) * 100..page * 100 } else { 0..0 };
    let data: Vec<String> = ids.map(|id| format!(r#"{{"id": "{id}", "name": "n"}}"#)).collect();
    answer(200, "", &format!(r#"{{"data": [{}], "total": {total}}}"#, data.join(",")))
}

pub fn number(seen: &Seen) -> usize {
    let (_, query) = seen.path.split_once("?page=").unwrap();
    query.split('&').next().unwrap().parse().unwrap()
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).unwrap().lines().count()
}

#[tokio::test]
async fn a_list_is_whole_whatever_breaks_on_the_way() {
    let server = Server::start(|seen| match (seen.number, number(seen)) {
        (1, _) => Reply::Reset,
        (2, _) => answer(502, "", "<html>"),
        (3, _) => answer(200, "", "{\"data\": [{\"id\": \"1\""),
        (4, _) => Reply::Cut("HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{\"data\"".into()),
        _ => page(seen, "1000"),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let exported = export(client(&server, 4), folder.path()).await.unwrap();
    let manifest = &exported.manifest;
    assert_eq!((manifest.complete, manifest.how.as_str()), (true, BY_TOTAL));
    assert_eq!((manifest.count, manifest.pages), (1000, 10));
    assert_eq!(exported.path, Some(folder.path().join("items.csv")));
    assert_eq!(lines(&folder.path().join("items.csv")), 1001);
}

#[tokio::test]
async fn a_list_that_cannot_be_shown_to_be_whole_does_not_get_the_name() {
    let server = Server::start(|seen| page(seen, "1001")).await;
    let folder = tempfile::tempdir().unwrap();
    let exported = export(client(&server, 4), folder.path()).await.unwrap();
    assert!(!exported.manifest.complete);
    assert_eq!(exported.path, Some(folder.path().join("items.csv.incomplete")));
    assert_eq!(lines(&folder.path().join("items.csv.incomplete")), 1001);
    assert!(!folder.path().join("items.csv").exists());
}

#[tokio::test]
async fn a_list_whose_pages_end_in_not_found_has_ended() {
    let server = Server::start(|seen| match number(seen) {
        11.. => answer(404, "", r#"{"detail": "Invalid page."}"#),
        _ => page(seen, "null"),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let exported = export(client(&server, 4), folder.path()).await.unwrap();
    let manifest = exported.manifest;
    assert_eq!((manifest.complete, manifest.how.as_str(), manifest.count), (true, TO_THE_END, 1000));
}

#[tokio::test]
async fn a_page_that_never_comes_leaves_no_file() {
    let server = Server::start(|seen| match number(seen) {
        4 => answer(403, "", r#"{"message": "no"}"#),
        _ => page(seen, "1000"),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let error = export(client(&server, 4), folder.path()).await.unwrap_err();
    assert_eq!(error.to_string(), "the service answered 403: no");
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["home"]);
}

#[tokio::test]
async fn no_page_is_asked_for_while_the_service_asked_to_wait() {
    let server = Server::start(|seen| match seen.number {
        3 => answer(429, "retry-after: 1\r\n", ""),
        _ => Reply::Late(Duration::from_millis(10), Box::new(page(seen, "1000"))),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let exported = export(client(&server, 4), folder.path()).await.unwrap();
    assert_eq!(exported.manifest.count, 1000);
    let log = server.log();
    let asked = log[3].left.unwrap();
    let next = log.iter().map(|seen| seen.came).filter(|came| *came > asked + Duration::from_millis(50)).min().unwrap();
    assert!(next - asked >= Duration::from_millis(995), "{:?}", next - asked);
}

//! Tokens of two workspaces: nothing goes to the other one.

use crate::cli::process::Place;
use crate::cli::service::Served;
use crate::faults::server::{Server, answer};

fn token(place: &Place, workspace: &str, name: &str) -> String {
    let args = ["serve", "token", "--data", "service", "--workspace", workspace, "--json"];
    place.sheetport(args).exits(0).json()[name].as_str().unwrap().to_owned()
}

#[test]
fn a_pair_of_tokens_of_two_workspaces_is_refused() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", "SKU,Name\nA-1,Bolt\n");
    for words in [&["export", "items", "-o", "x.csv"][..], &["upload", "items.csv", "-t", "items"]] {
        let run = place.sheetport(words.iter().copied()).env("SHEETPORT_BASE_URL", &served.url());
        let run = run.secret("SHEETPORT_ACCESS_TOKEN", &token(&place, "shop", "access"));
        let run = run.secret("SHEETPORT_REFRESH_TOKEN", &token(&place, "other", "refresh"));
        run.exits(2).says(&[
            "the access token is for the workspace 'shop', and the refresh token for 'other', so nothing was sent",
            "issued together",
        ]);
    }
    assert_eq!(served.total(), 0);
}

/// A refresh token does not always say what it is for.
#[tokio::test(flavor = "multi_thread")]
async fn renewed_tokens_for_another_workspace_are_not_used() {
    let place = Place::new();
    let renewed = format!(r#"{{"access": "{}"}}"#, token(&place, "other", "access"));
    let server = Server::with_probes(move |seen| match seen.path.starts_with("/api/token/refresh") {
        true => answer(200, "", &renewed),
        false => answer(401, "", r#"{"message": "expired"}"#),
    })
    .await;
    let export = place.sheetport(["export", "items", "-o", "x.csv"]).env("SHEETPORT_BASE_URL", &server.address);
    let export = export.secret("SHEETPORT_ACCESS_TOKEN", &token(&place, "shop", "access"));
    let ended = export.secret("SHEETPORT_REFRESH_TOKEN", "opaque-refresh-token").exits(5);
    ended.says(&["the renewed tokens are for the workspace 'other', and those before were for 'shop'"]);
    let requests: Vec<String> = server.log().iter().map(|seen| seen.path.clone()).collect();
    assert_eq!(requests.len(), 2, "{requests:?}");
}

//! `init`: from nothing to the next command, at a terminal and without one.

use std::process::Command;

use super::items;
use super::process::{Place, name, until};
use super::service::{Served, tokens};
use crate::environment::has_program;

#[test]
fn init_stores_tokens_that_work_and_finds_a_spreadsheet() {
    let place = Place::new();
    let served = Served::start(&place);
    let pair = tokens(&place, "full");
    let init = |input: &str| place.sheetport(["init", "--base-url", &served.url(), "--json"]).fed(input);
    init("wrong\n\n").exits(5);
    assert!(!place.path("home/credentials/default.json").exists());
    // Without a spreadsheet, there is one to try.
    let done = init(&format!("{}\n{}\n", pair.access, pair.refresh)).exits(0).json();
    assert_eq!((&done["sample"], &done["template"]), (&"sheetport-sample.csv".into(), &"items".into()), "{done}");
    assert_eq!(done["workspace"], "shop");
    // The second time, nothing is asked. A file of one's own comes first, and the printed command works as it stands.
    place.write("my prices.csv", items(3));
    let done = place.sheetport(["init", "--json"]).exits(0).json();
    let next = done["next"].as_str().unwrap();
    assert_eq!(next, "sheetport check 'my prices.csv' -t items");
    let line = next.replacen("sheetport", env!("CARGO_BIN_EXE_sheetport"), 1);
    place.command("sh", ["-c", &line]).exits(0);
    // A list that no template fits.
    let other = Place::new();
    other.write("a.csv", "Foo;Bar\n1;2\n");
    let words = ["init", "--base-url", &served.url()];
    let input = format!("{}\n{}\n", pair.access, pair.refresh);
    other.sheetport(words).fed(input).exits(0).shows(&["fits no template", "sheetport template infer a.csv"]);
}

/// Types into a terminal as a person does, and reads the screen.
#[test]
fn a_person_is_asked_and_may_correct() {
    if !has_program("tmux") {
        return;
    }
    let place = Place::new();
    let served = Served::start(&place);
    let pair = tokens(&place, "full");
    place.write("prices.csv", items(3));
    let socket = place.path("tmux");
    let tmux = |words: &[&str]| {
        let output = Command::new("tmux").args(["-S", name(&socket)]).args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let folder = place.path("");
    let line = format!(
        "SHEETPORT_HOME='{}' '{}' init; sleep 1000",
        name(&place.path("home")),
        env!("CARGO_BIN_EXE_sheetport")
    );
    tmux(&["new-session", "-d", "-x", "200", "-y", "50", "-c", name(&folder), &line]);
    let shows = |words: &str| {
        until(words, || Some(tmux(&["capture-pane", "-p", "-J"])).filter(|screen| screen.contains(words)))
    };
    let types = |text: &str| {
        tmux(&["send-keys", "-l", text]);
        tmux(&["send-keys", "Enter"]);
    };
    shows("Address of the service");
    types("no address");
    shows("is not a base address");
    types(&served.url());
    shows("Access token (hidden)");
    types("wrong");
    shows("Refresh token (hidden)");
    types("wrong");
    shows("error");
    until("the second prompt", || {
        (tmux(&["capture-pane", "-p"]).matches("Access token (hidden)").count() == 2).then_some(())
    });
    types(&pair.access);
    until("the second prompt", || {
        (tmux(&["capture-pane", "-p"]).matches("Refresh token (hidden)").count() == 2).then_some(())
    });
    types(&pair.refresh);
    let screen = shows("Next    sheetport check prices.csv -t items");
    tmux(&["kill-server"]);
    assert!(screen.contains("accepts the tokens, workspace shop, access full"), "{screen}");
    assert!(!screen.contains(&pair.access) && !screen.contains(&pair.refresh), "{screen}");
}

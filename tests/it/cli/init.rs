//! `init`: from nothing to the next command, at a terminal and without one.

use super::items;
use super::process::Place;
use super::service::{Served, tokens};
#[cfg(unix)]
use super::tmux::Terminal;

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

#[cfg(unix)]
#[test]
fn a_person_at_a_terminal_corrects_the_address_and_the_tokens() {
    let place = Place::new();
    let served = Served::start(&place);
    let pair = tokens(&place, "full");
    place.write("prices.csv", items(3));
    let Some(terminal) = Terminal::open(&place, 100, &[], "init") else { return };
    terminal.wait_for("Address of the service", 1);
    terminal.enter("not an address");
    terminal.wait_for("Address of the service", 2);
    terminal.enter(&served.url());
    terminal.wait_for("Access token", 1);
    terminal.enter("wrong");
    terminal.wait_for("Refresh token", 1);
    terminal.enter("");
    terminal.wait_for("Access token", 2);
    terminal.enter(&pair.access);
    terminal.wait_for("Refresh token", 2);
    terminal.enter(&pair.refresh);
    let screen = terminal.lines_at_end().join("\n");
    assert!(!screen.contains(&pair.access) && !screen.contains(&pair.refresh), "{screen}");
    let accepted = format!("The service at {} accepts the tokens", served.url());
    for shown in [&accepted, "prices.csv fits the template items", "sheetport check prices.csv -t items"] {
        assert!(screen.contains(shown), "{shown:?} in\n{screen}");
    }
    // The printed command works as it stands, with the stored address and tokens.
    place.sheetport(["check", "prices.csv", "-t", "items", "--online"]).exits(0);
}

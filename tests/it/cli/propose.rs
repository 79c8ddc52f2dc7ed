//! `upload` of a file that no template fits, on a terminal: a template is proposed, and what is open is asked.

use super::process::Place;
use super::service::Served;
use super::tmux::Terminal;

const TOOLS: &str = "Code;Product;Barcode;Sell;Buy;Weight\n\
    A-1;Hammer;4006381333931;12,50;7,10;300\n\
    A-2;Pliers;4006381333948;9,90;5,00;180\n\
    A-3;Screws;4006381333955;4,20;1,90;900\n\
    A-4;Drill;4006381333962;3,10;1,20;40\n";

/// Opens a terminal in which a file is uploaded.
fn upload(place: &Place, served: &Served, words: &str) -> Option<Terminal> {
    let ((access, refresh), url) = (served.tokens(), served.url());
    let variables = [
        ("SHEETPORT_BASE_URL", url.as_str()),
        ("SHEETPORT_ACCESS_TOKEN", &access),
        ("SHEETPORT_REFRESH_TOKEN", &refresh),
    ];
    Terminal::open(place, 80, &variables, &format!("upload {words}"))
}

fn items(served: &Served) -> Vec<String> {
    let list = served.get("/v1/public/items?page=1&limit=100");
    let item = |item: &serde_json::Value| format!("{} {} {}", item["external_id"], item["name"], item["price"]);
    list["data"].as_array().unwrap().iter().map(item).collect()
}

#[test]
fn a_template_is_proposed_asked_about_written_and_used() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("tools.csv", TOOLS);
    let Some(terminal) = upload(&place, &served, "tools.csv") else { return };
    terminal.wait_for("Are the rows items? [Y, or what they are]", 1);
    terminal.enter("no idea");
    terminal.wait_for("type y, q to stop, or one of: items, orders", 1);
    terminal.enter("");
    // What it is about is to be seen.
    terminal.wait_for("Where is externalId?", 1);
    terminal.wait_for("  1  Code     A-1; A-2; A-3", 1);
    terminal.wait_for("  2  Barcode  4006381333931; 4006381333948; 4006381333955", 1);
    terminal.enter("Colour");
    terminal.wait_for("there is no such column", 1);
    terminal.enter("2");
    terminal.wait_for("Where is price?", 1);
    terminal.enter("");
    terminal.wait_for("Where is purchasePrice?", 1);
    terminal.enter("-");
    terminal.wait_for("wrote the template tools.toml", 1);
    terminal.wait_for("Send 4 records? [y/N]", 1);
    assert!(items(&served).is_empty());
    terminal.enter("y");
    terminal.wait_for("4  sent       accepted by the service", 1);
    let sent = items(&served);
    assert_eq!(sent.len(), 4);
    assert!(sent.contains(&r#""4006381333931" "Hammer" 12.50"#.to_owned()), "{sent:?}");
    let template = std::fs::read_to_string(place.path("tools.toml")).unwrap();
    assert!(!template.contains("guess = true") && !template.contains("[fields.purchasePrice]"), "{template}");
    place.sheetport(["template", "check", "tools.toml"]).exits(0);
    // The next file like this one is known.
    place.write("tools.csv", TOOLS.replace("12,50", "13,50"));
    served.sheetport(&place, ["upload", "tools.csv", "--yes"]).exits(0);
    assert!(items(&served).contains(&r#""4006381333931" "Hammer" 13.50"#.to_owned()));
}

#[test]
fn another_kind_and_a_required_column_are_asked_for() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("moves.csv", "Ware;Bewegung;Menge\nAa;Eingang;5\nBb;Ausgang;2\nCc;Eingang;7\n");
    let Some(terminal) = upload(&place, &served, "moves.csv") else { return };
    terminal.wait_for("Are the rows inventory transactions? [Y, or what they are]", 1);
    terminal.enter("Stock movements");
    terminal.wait_for("Where is inventoryExternalId?", 1);
    terminal.enter("q");
    let lines = terminal.lines_at_end();
    assert!(lines.iter().any(|line| line.contains("nothing was sent")), "{lines:?}");
    assert!(!place.path("moves.toml").exists());
}

#[test]
fn nobody_is_asked_without_a_terminal_or_with_yes() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("tools.csv", TOOLS);
    for flags in [&["upload", "tools.csv"][..], &["upload", "tools.csv", "--yes"]] {
        served
            .sheetport(&place, flags.iter().copied())
            .exits(2)
            .says(&["no template fits tools.csv", "template infer tools.csv"]);
    }
    let Some(terminal) = upload(&place, &served, "tools.csv --yes") else { return };
    assert!(terminal.lines_at_end().iter().any(|line| line.contains("no template fits tools.csv")));
    assert!(!place.path("tools.toml").exists());
}

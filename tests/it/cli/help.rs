//! `help`: commands, and the codes of problems.

use super::process::Place;

#[test]
fn help_explains_commands_and_codes() {
    let place = Place::new();
    // Wrong settings do not matter.
    place.write("sheetport.toml", "no settings");
    let command = place.sheetport(["help", "serve", "load"]).exits(0);
    command.shows(&["Usage: sheetport serve load", "--workspace"]);
    place.sheetport(["help"]).exits(0).shows(&["Usage: sheetport", "Exit codes", "doctor"]);
    let code = place.sheetport(["help", "damaged-identifier"]).exits(0);
    code.shows(&["damaged-identifier", "Cause", "4.00638E+12", "Remedy", "'damaged = \"accept\"'"]);
    place.sheetport(["help", "codes"]).exits(0).shows(&["sent-before", "The service has answered", "Next"]);
    let json = place.sheetport(["help", "not-a-number", "--json"]).exits(0).json();
    assert_eq!((&json["command"], &json["codes"][0]["code"]), (&"help".into(), &"not-a-number".into()));
    assert!(json["codes"][0]["remedy"].as_str().is_some_and(|remedy| remedy.contains("map")));
    place.sheetport(["help", "damaged-identifer"]).exits(2).says(&["'damaged-identifer'", "help damaged-identifier"]);
    place.sheetport(["help", "serve", "laod"]).exits(2).says(&["'laod'", "help load"]);
}

#[test]
fn help_explains_keys_states_and_exit_codes() {
    let place = Place::new();
    let key = place.sheetport(["help", "skip_where"]).exits(0);
    key.shows(&["[sheet]", "rows to leave out", "skip_where = { column = \"Status\", matches = \"^inactive$\" }"]);
    place.sheetport(["help", "lines.scale"]).exits(0).shows(&["[lines.NAME]", "Default  1", "scale = 0.01"]);
    place.sheetport(["help", "currency"]).exits(0).shows(&["a code of problems", "[sheet]", "currency = \"EUR\""]);
    place.sheetport(["help", "unknown"]).exits(0).shows(&["may or may not have been applied"]);
    place.sheetport(["help", "3"]).exits(0).shows(&["some rows need fixing"]);
    place.sheetport(["help", "130"]).exits(0).shows(&["stopped by a signal"]);
    place.sheetport(["help", "keys"]).exits(0).shows(&["sheet.fill_down", "fields.NAME.on_blank", "group.by"]);
    place.sheetport(["help", "fill_dwn"]).exits(2).says(&["help fill_down"]);
    // A command explains itself, and the key of the same name is found by its table.
    place.sheetport(["help", "check"]).exits(0).shows(&["Usage: sheetport check"]);
    place.sheetport(["help", "fields.check"]).exits(0).shows(&["check = \"gtin\""]);
    let json = place.sheetport(["help", "3", "--json"]).exits(0).json();
    assert_eq!((&json["exit"]["code"], &json["keys"]), (&3.into(), &serde_json::json!([])));
    place.sheetport(["--lang", "de", "help", "fill_down"]).exits(0).shows(&["Bedeutung", "Zeile"]);
}

#[test]
fn a_check_names_the_help_of_its_problems() {
    let place = Place::new();
    place.write("items.csv", "SKU,Price\nA,1.50\nB,on request\n");
    let checked = place.sheetport(["check", "items.csv", "-t", "items"]).exits(3);
    checked.shows(&["sheetport help not-a-number"]);
    // A program reads the codes in JSON.
    let json = place.sheetport(["check", "items.csv", "-t", "items", "--json"]).exits(3).json();
    assert_eq!(json["problems"][0]["code"], "not-a-number");
}

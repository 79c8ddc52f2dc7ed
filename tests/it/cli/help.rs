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
fn a_check_names_the_help_of_its_problems() {
    let place = Place::new();
    place.write("items.csv", "SKU,Price\nA,1.50\nB,on request\n");
    let checked = place.sheetport(["check", "items.csv", "-t", "items"]).exits(3);
    checked.shows(&["sheetport help not-a-number"]);
    // A program reads the codes in JSON.
    let json = place.sheetport(["check", "items.csv", "-t", "items", "--json"]).exits(3).json();
    assert_eq!(json["problems"][0]["code"], "not-a-number");
}

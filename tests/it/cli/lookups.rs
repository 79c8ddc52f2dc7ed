//! Lookup tables next to a template: found relative to its folder, or refused with the position in the template.

use super::accounting;
use super::process::Place;

const TEMPLATE: &str = "\
record = \"item\"
[fields.externalId]
column = \"SKU\"
[fields.currency]
column = \"Cur\"
lookup = { file = \"tables/cur.csv\", from = \"Word\", to = \"Code\" }
";

fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.path("mine/tables")).unwrap();
    place.write("items.csv", "SKU,Cur\n1,Euro\n2,dollar\n3,Yenn\n");
    place.write("mine/t.toml", TEMPLATE);
    place
}

#[test]
fn a_value_is_looked_up_in_a_table_beside_the_template() {
    let place = place();
    place.write("mine/tables/cur.csv", "Currencies of ours\n\nWord,Code\nEuro,EUR\nDollar,USD\nYen,JPY\n");
    let refused = place.sheetport(["check", "items.csv", "-t", "mine/t.toml"]).exits(2);
    refused.says(&["tables/cur.csv", "no column 'Word'"]);
    place.write("mine/tables/cur.csv", "\nWord;Code\nEuro;EUR\nDollar;USD\nYen;JPY\n");
    let checked = place.sheetport(["check", "items.csv", "-t", "mine/t.toml", "--json"]).exits(3).json();
    assert_eq!(accounting(&checked), "3: rejected 1, pending 2");
    assert_eq!(checked["problems"][0]["value"], "Yenn");
    assert!(checked["problems"][0]["remedy"].as_str().unwrap().contains("did you mean 'Yen'?"));
    let sent = place.sheetport(["explain", "items.csv", "-t", "mine/t.toml", "--row", "3", "--json"]).exits(0).json();
    assert_eq!(sent["request"]["body"]["currency"], "USD", "lookups ignore case");
}

#[test]
fn an_unusable_table_is_reported_with_its_position_in_the_template() {
    let place = place();
    let check = || place.sheetport(["check", "items.csv", "-t", "mine/t.toml"]).exits(2);
    check().says(&["can't be read", "cur.csv", "t.toml:6:19", "relative to the template's folder"]);
    place.write("mine/tables/cur.csv", "Word,Kode\nEuro,EUR\n");
    check().says(&["no column 'Code'; did you mean 'Kode'?", "t.toml:6:57"]);
    place.write("mine/tables/cur.csv", "Word,Code\nEuro,EUR\nEuro,EURO\n");
    check().says(&["'Euro' has two values", "in row 2", "in row 3", "keep one of them"]);
}

//! Templates that extend another, and parameters of templates.

use std::fs;

use serde_json::json;

use super::process::Place;
use super::service::Served;
use super::{own_titles, table};

/// Explains the first row of the file.
#[track_caller]
fn body(place: &Place, file: &str, template: &str, more: &[&str]) -> serde_json::Value {
    let said = place.sheetport(["explain", file, "-t", template, "--row", "2", "--json"]).args(more).run();
    assert_eq!(said.code, Some(0), "{said:?}");
    said.json()["request"]["body"].clone()
}

#[test]
fn single_fields_of_a_built_in_template_can_be_changed() {
    let place = Place::new();
    place.write("list.csv", "SKU,Name,Price,Netto,Status\n1,Bolt,9.50,8.00,active\n");
    place.write(
        "mine.toml",
        "sheetport = 1\nextends = \"items\"\n[fields]\nname = false\n[fields.price]\ncolumn = \"Netto\"\n[fields.currency]\nvalue = \"CHF\"\n\
         [fields.status]\nmap = { active = \"on\" }\n",
    );
    let expected = json!({"externalId": "1", "price": 8.00, "currency": "CHF", "status": "on"});
    let sent = body(&place, "list.csv", "mine.toml", &[]);
    assert_eq!(sent["price"].to_string(), "8.00");
    for (name, value) in expected.as_object().unwrap().iter().filter(|(name, _)| *name != "price") {
        assert_eq!(&sent[name], value, "{sent}");
    }
    assert_eq!(sent.get("name"), None, "{sent}");
}

#[test]
fn files_beside_a_template_are_extended_and_lookups_stay_in_their_folder() {
    let place = Place::new();
    fs::create_dir_all(place.path("base")).unwrap();
    place.write("base/cur.csv", "Word,Code\nEuro,EUR\n");
    place.write(
        "base/shop.toml",
        "record = \"item\"\n[fields.externalId]\ncolumn = \"No\"\n[fields.currency]\ncolumn = \"Cur\"\n\
         lookup = { file = \"cur.csv\", from = \"Word\", to = \"Code\" }\n[[examples]]\nrow = { No = \"1\" }\nsends = { externalId = \"1\" }\n",
    );
    place.write("mine.toml", "extends = \"base/shop.toml\"\n[fields.externalId]\ncolumn = \"SKU\"\n");
    place.write("list.csv", "SKU,Cur\n1,euro\n");
    assert_eq!(body(&place, "list.csv", "mine.toml", &[]), json!({"externalId": "1", "currency": "EUR"}));
    let checked = place.sheetport(["template", "check", "mine.toml", "--json"]).exits(0).json();
    assert_eq!(checked["examples"], 0, "the examples have the columns of the other template");
    // Mistakes name the file that has them, the template itself first.
    place.write("base/shop.toml", "record = \"item\"\n[fields.externalId]\ncolumn = \"No\"\ntrimm = true\n");
    place.write("mine.toml", "extends = \"base/shop.toml\"\n[fields.externalId]\ncolum = \"SKU\"\n");
    let said = place.sheetport(["template", "check", "mine.toml"]).exits(2).stderr;
    let (own, other) = (said.find("mine.toml:3:1").unwrap(), said.find("base/shop.toml:4:1").unwrap());
    assert!(own < other, "{said}");
    assert!(said.contains("did you mean column?") && said.contains("did you mean trim?"), "{said}");
}

#[test]
fn cycles_and_unknown_templates_are_refused() {
    let place = Place::new();
    let check = |text: &str| {
        place.write("mine.toml", text);
        place.sheetport(["template", "check", "mine.toml"]).exits(2)
    };
    place.write("other.toml", "extends = \"mine.toml\"\n");
    check("extends = \"other.toml\"\n").says(&["other.toml:1:11", "mine.toml → other.toml → mine.toml"]);
    check("extends = \"mine.toml\"\n").says(&["this template extends itself"]);
    check("extends = \"itms\"\n").says(&["mine.toml:1:11", "did you mean items?"]);
    check("extends = \"away.toml\"\n").says(&["can't be read", "relative to this one's folder"]);
    check("extends = 5\n").says(&["extends must be text in quotes"]);
    place.write("other.toml", "sheetport = 2\n");
    check("extends = \"other.toml\"\n").says(&["other.toml:1:13", "version 2"]);
}

const WITH_PARAMETERS: &str = r#"record = "item"
[parameters]
shop = { description = "name of the shop" }
factor = { default = 1 }
[fields.externalId]
text = "{{ param('shop') }}-{{ SKU }}"
[fields.description]
value = { parameter = "shop" }
[fields.price]
column = "Price"
scale = { parameter = "factor" }
"#;

#[test]
fn parameters_are_set_by_flags_or_have_defaults() {
    let place = Place::new();
    place.write("list.csv", "SKU,Price\n1,10\n");
    place.write("mine.toml", WITH_PARAMETERS);
    let sent = body(&place, "list.csv", "mine.toml", &["--set", "shop=W1", "--set", "factor=0.5"]);
    assert_eq!((&sent["externalId"], &sent["description"]), (&json!("W1-1"), &json!("W1")));
    assert_eq!(sent["price"].to_string(), "5");
    assert_eq!(body(&place, "list.csv", "mine.toml", &["--set=shop=a=b"])["description"], "a=b");
    let check = |more: &[&str]| place.sheetport(["template", "check", "mine.toml"]).args(more).exits(2);
    check(&[]).says(&["the parameter shop has no value: name of the shop", "--set shop=…", "mine.toml:3:1"]);
    check(&["--set", "shop=x", "--set", "shp=W1"]).says(&["no parameter 'shp'", "did you mean shop?"]);
    check(&["--set", "shop=x", "--set", "factor=two"]).says(&["'two' for the parameter factor"]);
    check(&["--set", "shop"]).says(&["warehouse=W1"]);
    for (right, wrong) in [("param('shop')", "param('shp')"), ("{ parameter = \"shop\" }", "{ parameter = \"shp\" }")] {
        place.write("mine.toml", WITH_PARAMETERS.replace(right, wrong));
        check(&["--set", "shop=x"]).says(&["there is no parameter 'shp'", "did you mean shop?"]);
    }
}

#[test]
fn a_retry_uses_the_resolved_template_of_the_run() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("base.toml", WITH_PARAMETERS);
    place.write("mine.toml", "extends = \"base.toml\"\n[fields.name]\ncolumn = \"Name\"\n");
    place.write("list.csv", "SKU,Price,Name\n1,10,Bolt\n2,x,Nut\n");
    let args = ["upload", "list.csv", "-t", "mine.toml", "--set", "shop=W1", "--report", "r.csv", "-q"];
    served.sheetport(&place, args).exits(3);
    fs::remove_file(place.path("base.toml")).unwrap();
    fs::remove_file(place.path("mine.toml")).unwrap();
    let report = fs::read_to_string(place.path("r.csv")).unwrap();
    place.write("r.csv", report.replace("2,x,Nut", "2,7,Nut"));
    served.sheetport(&place, ["retry", "r.csv", "-q"]).exits(0);
    let items = served.get("/v1/public/items");
    assert_eq!(served.total(), 2);
    assert_eq!(items.to_string().matches(":\"W1\"").count(), 2, "{items}");
}

#[test]
fn sheets_without_a_header_are_read_by_letters_and_numbers() {
    let place = Place::new();
    let template = "record = \"item\"\n[sheet]\nheader = \"none\"\n[fields.externalId]\ncolumn = \"A\"\n\
                    [fields.name]\ncolumn = 2\n[[examples]]\nrow = { A = \"7\", 2 = \"Nut\" }\nsends = { externalId = \"7\", name = \"Nut\" }\n";
    place.write("mine.toml", template);
    place.sheetport(["template", "check", "mine.toml"]).exits(0);
    place.write("list.csv", "1,Bolt\n2,Nut\nx3,Nail\n");
    let served = Served::start(&place);
    served
        .sheetport(&place, ["upload", "list.csv", "-t", "mine.toml", "--report", "r.csv"])
        .exits(0)
        .shows(&["no header"]);
    assert_eq!(served.total(), 3, "the first row is data");
    assert_eq!(own_titles(&table(&place.path("r.csv"))), ["A", "B"]);
    place.write("mine.toml", template.replace("column = \"A\"", "column = \"Article no\""));
    let refused = place.sheetport(["template", "check", "mine.toml"]).exits(2);
    refused.says(&["externalId has the column 'Article no', but the sheet has no header", "name columns by letters"]);
    place.write("mine.toml", template.replace("column = 2", "column = \"F\""));
    place
        .sheetport(["check", "list.csv", "-t", "mine.toml"])
        .exits(2)
        .says(&["name needs the column 'F'", "its columns are A, B"]);
}

#[test]
fn cells_of_several_header_rows_are_joined() {
    let place = Place::new();
    let template = "record = \"item\"\n[sheet]\nheader = [2, 3]\n[fields.externalId]\ncolumn = \"SKU\"\n\
                    [fields.price]\ncolumn = \"Sale EUR\"\n[fields.purchasePrice]\ncolumn = \"Purchase EUR\"\n\
                    [fields.description]\ncolumn = \"Note\"\n";
    place.write("mine.toml", template);
    place.write("list.csv", "Prices,,,,,\nSKU,Purchase,,Sale,,Note\n,USD,EUR,USD,EUR,\nA1,1,2,3,4,hello\n");
    let said = place.sheetport(["explain", "list.csv", "-t", "mine.toml", "--row", "4", "--json"]).exits(0).json();
    let expected = json!({"externalId": "A1", "description": "hello", "price": 4, "purchasePrice": 2});
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(said["request"]["body"][name].to_string(), value.to_string(), "{said}");
    }
    for wrong in ["[2, 1]", "[]", "[0]", "\"first\""] {
        place.write("mine.toml", template.replace("[2, 3]", wrong));
        place.sheetport(["template", "check", "mine.toml"]).exits(2).says(&["mine.toml:3:10", "header must be"]);
    }
}

#[test]
fn check_digits_are_checked_and_the_right_one_is_shown() {
    let place = Place::new();
    let template = "record = \"item\"\n[fields.externalId]\ncolumn = \"EAN\"\ncheck = \"ean13\"\n";
    place.write("mine.toml", template);
    place.write("list.csv", "EAN\n4006381333931\n4006381333932\n");
    let said = place.sheetport(["check", "list.csv", "-t", "mine.toml", "--json"]).exits(3).json();
    assert_eq!(said["problems"][0]["code"], "check-digit", "{said}");
    assert_eq!(said["problems"][0]["message"], "is not an EAN-13: its check digit should be 1, not 2");
    for (wrong, words) in [("ean12", "'ean12' is not a value of check"), ("gtn", "did you mean gtin?")] {
        place.write("mine.toml", template.replace("ean13", wrong));
        place.sheetport(["template", "check", "mine.toml"]).exits(2).says(&[words]);
    }
}

#[test]
fn repeated_values_of_a_unique_field_are_rejected_once_each() {
    let place = Place::new();
    let template = "record = \"item\"\n[fields.externalId]\ncolumn = \"No\"\n[fields.name]\ncolumn = \"Name\"\nunique = true\ndamaged = \"accept\"\n\
                    [fields.description]\ncolumn = \"Text\"\nunique = true\n";
    place.write("mine.toml", template);
    place.write("list.csv", "No,Name,Text\n1,Bolt,a\n2,Nut,a\n3,Nut,b\n3,Nail,c\n4,Screw,d\n5,,e\n6,,f\n");
    let said = place.sheetport(["check", "list.csv", "-t", "mine.toml", "--json"]).exits(3).json();
    assert_eq!(super::accounting(&said), "7: rejected 4, pending 3", "{said}");
    let refused = place.sheetport(["explain", "list.csv", "-t", "mine.toml", "--row", "2", "--json"]).exits(3).json();
    assert_eq!(refused["problems"][0]["field"], "description", "{refused}");
    assert!(refused["problems"][0]["remedy"].as_str().unwrap().ends_with("the other is in row 3"), "{refused}");
}

#[test]
fn repeated_values_of_a_unique_line_field_reject_their_record_alone() {
    let place = Place::new();
    let template = "record = \"order\"\n[group]\nby = \"No\"\n[fields.externalId]\ncolumn = \"No\"\n\
                    [lines.itemExternalId]\ncolumn = \"SKU\"\nunique = true\n[lines.quantity]\ncolumn = \"Qty\"\nunique = true\n";
    place.write("mine.toml", template);
    place.write("list.csv", "No,SKU,Qty\n1,a,1\n1,b,2\n2,a,1\n3,c,1.0\n2,b,2\n3,d,1.00\n4,,3\n4,,4\n1,a,5\n");
    let said = place.sheetport(["check", "list.csv", "-t", "mine.toml", "--json"]).exits(3).json();
    assert_eq!(super::accounting(&said), "4: rejected 2, pending 2", "{said}");
    let shown = |problem: &serde_json::Value| {
        let text = |key: &str| problem[key].as_str().unwrap_or_default().to_owned();
        (text("column"), text("value"), text("message"), text("remedy"), problem["rows"][0].as_u64())
    };
    let message = "appears in more than one line of the record";
    let remedy = |row| format!("make one line of both, or remove unique from the template; the other is in row {row}");
    let mut problems: Vec<_> = said["problems"].as_array().unwrap().iter().map(shown).collect();
    problems.sort();
    let expected = [("B", "a", remedy(2), 10), ("C", "1.00", remedy(5), 7)];
    for (problem, (column, value, remedy, row)) in problems.iter().zip(expected) {
        let expected = (column.to_owned(), value.to_owned(), message.to_owned(), remedy, Some(row));
        assert_eq!(*problem, expected, "{said}");
    }
}

#[test]
fn fmt_writes_templates_and_check_only_reports_them() {
    let place = Place::new();
    place.write("mine.toml", "record='item'\n[fields.externalId]\n# The SKU.\ncolumn='SKU'\n");
    let checked = place.sheetport(["template", "fmt", "--check", "mine.toml"]).exits(3);
    checked.shows(&["mine.toml: not formatted"]);
    place.sheetport(["template", "fmt", "mine.toml"]).exits(0).shows(&["mine.toml: formatted"]);
    let formatted = fs::read_to_string(place.path("mine.toml")).unwrap();
    assert_eq!(formatted, "sheetport = 1\nrecord = \"item\"\n\n[fields.externalId]\n# The SKU.\ncolumn = \"SKU\"\n");
    place.sheetport(["template", "fmt", "--check", "mine.toml"]).exits(0);
    place.write("mine.toml", "record = \n");
    place.sheetport(["template", "fmt", "mine.toml"]).exits(2).says(&["mine.toml:1:", "fix the syntax first"]);
    place.sheetport(["template", "fmt", "away.toml"]).exits(2).says(&["away.toml can't be read"]);
}

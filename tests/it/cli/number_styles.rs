//! How ambiguous numbers such as 1.299 are decided: by other columns, by the currency, by the options of the command line.

use serde_json::Value;

use super::accounting;
use super::process::Place;

/// Checks a CSV with the built-in template for items. Returns the highest price, or the code of the first problem.
#[track_caller]
fn price(place: &Place, template: &str, text: &str, flags: &[&str]) -> String {
    place.write("prices.csv", text);
    let check = ["check", "prices.csv", "-t", template, "--json"];
    let check = check.iter().chain(flags).copied();
    let checked = place.sheetport(check).run().json();
    match checked["problems"].as_array().and_then(|problems| problems.first()) {
        Some(problem) => problem["code"].as_str().expect("a code").to_owned(),
        None => {
            let fields = checked["profile"]["fields"].as_array().expect("a profile");
            let price = fields.iter().find(|field| field["field"] == "price").expect("prices");
            price["range"]["highest"].to_string().trim_matches('"').to_owned()
        }
    }
}

const AMBIGUOUS: &str = "ambiguous-number";

#[test]
fn decimals_without_a_zero_are_doubtful_beside_commas() {
    let place = Place::new();
    for (first, second, expected) in
        [(".500", "12.75", "12.75"), (".500", "12,75", AMBIGUOUS), (".5", "12,75", "12.75"), ("1.500", "12,75", "1500")]
    {
        let text = format!("SKU;Name;Price\nA1;Bolt;{first}\nA2;Nut;{second}\n");
        assert_eq!(price(&place, "items", &text, &[]), expected, "{first} {second}");
    }
}

#[test]
fn unused_columns_of_amounts_are_evidence_for_ambiguous_prices() {
    let place = Place::new();
    for (header, cell, expected) in [
        ("Weight (kg)", "1,5", "1299"),
        ("Nettogewicht", "0,25", "1299"),
        ("Weight", "1.5", "1.299"),
        ("Weight", "7", AMBIGUOUS),
        // Codes, versions and dates have points in every language.
        ("HS code", "8481.80", AMBIGUOUS),
        ("Version", "2.1", AMBIGUOUS),
        ("Date", "31.12", AMBIGUOUS),
    ] {
        let text = format!("SKU;Name;Price;{header}\nA1;Bolt;1.299;{cell}\nA2;Nut;1.100;{cell}\n");
        assert_eq!(price(&place, "items", &text, &[]), expected, "{header} {cell}");
    }
    let contradicted = "SKU;Name;Price;Purchase price;Weight\nA1;Bolt;1.299;1,10;1.5\nA2;Nut;1.100;1.20;1.5\n";
    assert_eq!(
        price(&place, "items", contradicted, &[]),
        AMBIGUOUS,
        "used columns come first, and contradict each other"
    );
}

#[test]
fn the_decimals_of_the_currency_are_evidence_for_ambiguous_prices() {
    let place = Place::new();
    for (currency, cells, expected) in [
        ("JPY", ["1.299", "850"], "1299"),
        ("JPY", ["1,299", "850"], "1299"),
        ("KWD", ["1.299", "0.850"], "1.299"),
        ("KWD", ["1,299", "1,100"], "1.299"),
        ("KWD", ["1,299", "850"], AMBIGUOUS),
        ("EUR", ["1.299", "850"], AMBIGUOUS),
    ] {
        let [first, second] = cells;
        let in_column = format!("SKU;Name;Price;Currency\nA1;Bolt;{first};{currency}\nA2;Nut;{second};{currency}\n");
        assert_eq!(price(&place, "items", &in_column, &[]), expected, "{currency} {cells:?}");
    }
    let several = "SKU;Name;Price;Currency\nA1;Bolt;1.299;JPY\nA2;Nut;1.100;EUR\n";
    assert_eq!(price(&place, "items", several, &[]), AMBIGUOUS);
    place.write(
        "yen.toml",
        "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.price]\ncolumn = \"Price (JPY)\"\n",
    );
    assert_eq!(price(&place, "yen.toml", "SKU;Price (JPY)\nA1;1.299\nA2;850\n", &[]), "1299");
}

#[test]
fn numbers_of_an_export_have_no_groups() {
    let place = Place::new();
    let header = "id;name;price;currency;status;updated_at;external_id\n";
    let row = |id: u8, price: &str| format!("{id};Bolt;{price};EUR;active;2026-01-02T03:04:05.000Z;A{id}\n");
    for (first, second, expected) in [
        ("1.299", "2.500", "2.500"),
        // As saved by a spreadsheet program with a decimal comma.
        ("1,299", "2,500", "2.500"),
        ("1,299", "2.500", AMBIGUOUS),
    ] {
        let text = format!("{header}{}{}", row(1, first), row(2, second));
        assert_eq!(price(&place, "exported-items", &text, &[]), expected, "{first} {second}");
    }
}

const TEMPLATE: &str = "record = \"item\"\n[parameters]\nfactor = { default = 2 }\n[sheet]\nkeep_where = 'Price > 1'\n\
                        [fields.externalId]\ncolumn = \"SKU\"\n[fields.price]\ntext = '{{ Price * param(\"factor\") }}'\n";

#[test]
fn ambiguous_numbers_in_expressions_have_a_remedy_that_works() {
    let place = Place::new();
    let text = "SKU;Price\nA1;1.299\nA2;1.100\n";
    place.write("t.toml", TEMPLATE);
    place.write("prices.csv", text);
    let checked = place.sheetport(["check", "prices.csv", "-t", "t.toml", "--json"]).run().json();
    assert_eq!(accounting(&checked), "2: rejected 2");
    for problem in checked["problems"].as_array().expect("problems") {
        assert_eq!(problem["code"], AMBIGUOUS);
        assert_eq!(problem["count"], 2, "one problem of the column: {problem}");
        let remedy = problem["remedy"].as_str().expect("a remedy");
        assert!(
            remedy.contains("--locale") && remedy.contains("locale = \"de\" for 1299, \"en\" for 1.299"),
            "{remedy}"
        );
    }
    assert_eq!(price(&place, "t.toml", text, &["--locale", "de"]), "2598");
    assert_eq!(price(&place, "t.toml", text, &["--locale", "en"]), "2.598");
    place.write("t.toml", format!("{TEMPLATE}locale = \"de\"\n"));
    assert_eq!(price(&place, "t.toml", text, &[]), "2598", "the line of a field also holds in keep_where");
}

#[test]
fn parameters_of_the_command_line_are_plain_decimals() {
    let place = Place::new();
    let text = "SKU;Price\nA1;1.299\nA2;1.100\n";
    place.write("t.toml", TEMPLATE);
    let flags = ["--locale", "de", "--set", "factor=1.299"];
    assert_eq!(price(&place, "t.toml", text, &flags), "1687.401");
    // A parameter without a default is a text, and its value a plain decimal all the same.
    let untyped = TEMPLATE.replace("{ default = 2 }", "{ description = \"factor\" }");
    for expression in ["Price * param(\"factor\")", "param(\"factor\") * Price"] {
        place.write("t.toml", untyped.replace("Price * param(\"factor\")", expression));
        assert_eq!(price(&place, "t.toml", text, &flags), "1687.401", "{expression}");
    }
    place.write("t.toml", untyped.replace("Price * param(\"factor\")", "param(\"factor\") if Price else 0"));
    assert_eq!(price(&place, "t.toml", text, &flags), "1.299");
    place.sheetport(["check", "prices.csv", "-t", "t.toml", "--set", "factor=1.299,00"]).exits(3);
}

#[test]
fn a_parameter_that_is_a_text_stays_one() {
    let place = Place::new();
    place.write("prices.csv", "SKU;Store\nA1;007\nA2;7\n");
    place.write(
        "t.toml",
        "record = \"item\"\n[parameters]\nstore = { default = \"x\" }\n[sheet]\nkeep_where = 'Store == param(\"store\")'\n\
         [fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ntext = '{{ param(\"store\") }}'\n",
    );
    let check = ["check", "prices.csv", "-t", "t.toml", "--set", "store=007", "--json"];
    let checked: Value = place.sheetport(check).exits(0).json();
    assert_eq!(accounting(&checked), "2: skipped 1, pending 1");
    assert!(checked["profile"].to_string().contains("007"), "{checked}");
}

#[test]
fn identifiers_whose_longer_numbers_have_separators_are_a_warning() {
    let place = Place::new();
    for (text, expected) in [
        // As the number format "R-"#,##0 shows them in German.
        ("SKU;Price\nR-998;1,50\nR-999;2,50\nR-1.000;3,50\nR-1.001;4,50\n", Some(4)),
        ("SKU;Price\n998 Stk;1,50\n1 000 Stk;2,50\n", Some(3)),
        ("SKU;Name\nR-998;Bolt\nR-1.000;Nut\n", Some(3)),
        // Versions, and numbers that are written without separators.
        ("SKU;Price\nA-1.007;1,50\nA-1.008;2,50\n", None),
        ("SKU;Price\nR-998;1,50\nR-1000;2,50\nR-1.001;3,50\n", None),
        ("SKU;Price\nR-998;1,50\nS-1.001;3,50\n", None),
        ("SKU,Price\nR-2,1.50\nR-1.250,2.50\n", None),
        ("SKU;Price\nR-998;1,50\nR-1.01;2,50\nR-1.001.2;3,50\n", None),
    ] {
        place.write("items.csv", text);
        let seen = place.sheetport(["check", "items.csv", "-t", "items", "--json"]).exits(0).json();
        let warnings = seen["warnings"].as_array().unwrap().iter();
        let rows: Vec<_> = warnings.map(|warning| (warning["code"].as_str().unwrap(), &warning["rows"][0])).collect();
        let expected = expected.map(Value::from);
        assert_eq!(rows, expected.iter().map(|row| ("may-be-grouped", row)).collect::<Vec<_>>(), "{text}: {seen}");
    }
}

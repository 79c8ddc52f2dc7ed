//! `template infer`: templates for unknown sheets.

use std::fs;

use rust_xlsxwriter::Workbook;
use serde_json::Value;

use super::process::{Place, name};
use super::service::Served;
use super::{accounting, column, summary, table};

const PRICES: &str = "Artikel-Nr.;Bezeichnung;VK-Preis (EUR);MwSt;Aktiv;Lieferant\n\
                      0042;Bolzen;1.234,50;19%;ja;Nord\n0043;Mutter;0,50;7%;nein;Nord\n";

/// Returns `field=column` for each field of the output, with `==` for constants.
fn fields(answer: &Value) -> Vec<String> {
    let pair = |it: &Value| match it["value"].as_str() {
        Some(value) => format!("{}=={value}", it["field"].as_str().unwrap()),
        None => format!("{}={}", it["field"].as_str().unwrap(), it["column"].as_str().unwrap()),
    };
    answer["fields"].as_array().unwrap().iter().map(pair).collect()
}

#[test]
fn inferred_template_uploads_its_sheet() {
    let place = Place::new();
    place.write("prices.csv", PRICES);
    let ended = place.sheetport(["template", "infer", "prices.csv", "--record", "item", "-o", "prices.toml"]).exits(0);
    let ended = ended.says(&["Artikel-Nr.", "externalId", "sure", "by its name", "not used: Lieferant"]);
    let ended = ended.says(&["sheetport check prices.csv -t prices.toml"]);
    assert_eq!(ended.stdout, "");
    assert!(!place.path("home").exists(), "no ledger is made");
    place.sheetport(["template", "check", "prices.toml"]).exits(0);
    let served = Served::start(&place);
    let uploaded = served.sheetport(&place, ["upload", "prices.csv", "-t", "prices.toml", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&uploaded)), "2: sent 2");
    served.sheetport(&place, ["export", "items", "-o", "sent.csv", "-q"]).exits(0);
    let sent = table(&place.path("sent.csv"));
    let mut items: Vec<_> = column(&sent, "price").into_iter().zip(column(&sent, "status")).collect();
    items.sort_unstable();
    assert_eq!(items, [("0.50", "archived"), ("1234.50", "active")]);
    assert_eq!(column(&sent, "currency"), ["EUR", "EUR"]);
}

#[test]
fn without_output_the_template_goes_to_stdout_and_the_rest_to_stderr() {
    let place = Place::new();
    place.write("prices.csv", PRICES);
    let ended = place.sheetport(["template", "infer", "prices.csv", "--record", "item"]).exits(0);
    let ended = ended.shows(&["record = \"item\"", "[[examples]]", "percent = \"whole\"", "value = \"EUR\""]);
    let ended =
        ended.shows(&["map = { \"ja\" = \"active\", \"nein\" = \"archived\" }", "# Columns not used: Lieferant"]);
    place.write("saved.toml", &ended.stdout);
    place.sheetport(["check", "prices.csv", "-t", "saved.toml"]).exits(0);
    let quiet = place.sheetport(["template", "infer", "prices.csv", "--record", "item", "-q"]).exits(0);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn json_lists_the_field_of_each_column() {
    let place = Place::new();
    place.write("prices.csv", PRICES);
    let answer = place.sheetport(["template", "infer", "prices.csv", "--record", "item", "--json"]).exits(0).json();
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["template", "record", "record_guess", "fields", "unplaced", "missing"]);
    let expected = [
        "externalId=Artikel-Nr.",
        "name=Bezeichnung",
        "currency==EUR",
        "price=VK-Preis (EUR)",
        "tax=MwSt",
        "status=Aktiv",
    ];
    assert_eq!(fields(&answer), expected);
    assert_eq!(answer["unplaced"], serde_json::json!(["Lieferant"]));
    assert_eq!(answer["missing"], serde_json::json!([]));
    assert_eq!(answer["fields"][0]["sureness"], "sure");
}

#[test]
fn missing_required_field_exits_with_3() {
    let place = Place::new();
    place.write("stock.csv", "SKU,Qty on hand\nA1,5\nA2,7\n");
    let args = ["template", "infer", "stock.csv", "--record", "inventory-transaction", "-o", "stock.toml"];
    place.sheetport(args).exits(3).says(&["required fields: transactionType", "sheetport template check stock.toml"]);
    let refused = place.sheetport(["template", "check", "stock.toml"]).exits(2);
    refused.says(&["inventory-transaction needs the field transactionType"]);
    let toml = fs::read_to_string(place.path("stock.toml")).unwrap();
    assert!(toml.contains("# NOT COMPLETE"));
    let filled =
        toml.replace("# [fields.transactionType]\n# column = \"…\"", "[fields.transactionType]\nvalue = \"adjust\"");
    place.write("stock.toml", filled);
    place.sheetport(["check", "stock.csv", "-t", "stock.toml"]).exits(0);
}

#[test]
fn existing_output_file_is_kept() {
    let place = Place::new();
    place.write("prices.csv", PRICES);
    place.write("mine.toml", "mine");
    let args = ["template", "infer", "prices.csv", "--record", "item", "-o", "mine.toml"];
    place.sheetport(args).exits(2).says(&["mine.toml"]);
    assert_eq!(fs::read_to_string(place.path("mine.toml")).unwrap(), "mine");
    assert_eq!(place.names(), ["mine.toml", "prices.csv"]);
}

#[test]
fn earlier_templates_serve_as_examples() {
    let place = Place::new();
    fs::create_dir(place.path("old")).unwrap();
    place.write("old/first.csv", "Nummer,Benennung A,Preis\n1,Bolzen,1.50\n");
    let template =
        "record = \"item\"\n[fields.externalId]\ncolumn = \"Nummer\"\n[fields.name]\ncolumn = \"Benennung A\"\n";
    place.write("old/first.toml", template);
    let served = Served::start(&place);
    served.sheetport(&place, ["upload", "old/first.csv", "-t", "old/first.toml", "-q"]).exits(0);
    place.write("second.csv", "Artikelnummer,Bezeichnung,Benennung A,Nummer\n9,x,Mutter,2\n8,y,Bolzen,3\n");
    let args = ["template", "infer", "second.csv", "--record", "item", "--json"];
    let by_run = place.sheetport(args).exits(0).json();
    assert_eq!(fields(&by_run), ["externalId=Nummer", "name=Benennung A"]);
    assert_eq!(by_run["fields"][0]["sureness"], "as in run 1");
    place.write("beside.toml", template.replace("Nummer", "Artikelnummer").replace("Benennung A", "Bezeichnung"));
    let beside = place.sheetport(args).exits(0).json();
    assert_eq!(fields(&beside)[..2], ["externalId=Artikelnummer", "name=Bezeichnung"]);
    assert_eq!(beside["fields"][0]["sureness"], "as in beside.toml");
    place.write("home/ledger.db", "no ledger at all");
    place.sheetport(args).exits(0).says(&["the ledger can't be read"]);
}

#[test]
fn best_matching_sheet_is_chosen() {
    let place = Place::new();
    let mut book = Workbook::new();
    let notes = book.add_worksheet().set_name("Notes").unwrap();
    notes.write_row(0, 0, ["About", "this file"]).unwrap();
    notes.write_row(1, 0, ["SKU", "what we call an item"]).unwrap();
    let prices = book.add_worksheet().set_name("Prices 2026").unwrap();
    prices.write_row(2, 0, ["SKU", "Product name", "List price"]).unwrap();
    for row in 3..8 {
        prices.write_row(row, 0, [format!("00{row}"), format!("Bolt {row}")]).unwrap();
        prices.write_number(row, 2, f64::from(row) + 0.5).unwrap();
    }
    book.save(place.path("prices.xlsx")).unwrap();
    let args = ["template", "infer", "prices.xlsx", "--record", "item", "-o", "prices.toml", "--json"];
    let answer = place.sheetport(args).exits(0).json();
    assert_eq!(fields(&answer), ["externalId=SKU", "name=Product name", "price=List price"]);
    assert!(answer["template"].as_str().unwrap().contains("name = \"Prices 2026\""));
    place.sheetport(["check", "prices.xlsx", "-t", "prices.toml"]).exits(0);
    let args = ["template", "infer", "prices.xlsx", "--record", "item", "--sheet", "None"];
    place.sheetport(args).exits(2).says(&["no sheet 'None'", "Prices 2026"]);
}

#[test]
fn one_of_several_like_sheets_is_not_read_silently() {
    let place = Place::new();
    let book = |sheets: &[(&str, f64, bool)]| {
        let mut book = Workbook::new();
        for (name, price, is_hidden) in sheets {
            let sheet = book.add_worksheet().set_name(*name).unwrap();
            sheet.set_hidden(*is_hidden);
            sheet.write_row(0, 0, ["SKU", "Name", "Price"]).unwrap();
            sheet.write_row(1, 0, ["A1", "Bolt"]).unwrap();
            sheet.write_number(1, 2, *price).unwrap();
        }
        book.worksheet_from_index(sheets.len() - 1).unwrap().set_active(true);
        book.save(place.path("prices.xlsx")).unwrap();
    };
    let infer = ["template", "infer", "prices.xlsx", "--record", "item", "-o", "t.toml"];
    let template = || fs::read_to_string(place.path("t.toml")).unwrap();
    let warnings = || {
        let seen = summary(&place.sheetport(["check", "prices.xlsx", "-t", "t.toml", "--json"]).exits(0));
        seen["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].clone()).collect::<Vec<_>>()
    };
    book(&[("Old", 1.5, false), ("New", 2.5, false)]);
    place.sheetport(infer).exits(0).says(&["only the sheet 'Old' is read: 'New' has the same columns"]);
    assert_eq!(warnings(), ["unread-sheet"]);
    fs::remove_file(place.path("t.toml")).unwrap();
    // Hidden sheets are neither preferred nor mentioned.
    book(&[("Old", 1.5, true), ("New", 2.5, false)]);
    place.sheetport(infer).exits(0);
    assert!(template().contains("name = \"New\""), "{}", template());
    assert!(warnings().is_empty());
    fs::remove_file(place.path("t.toml")).unwrap();
    // A chosen sheet keeps its name.
    book(&[("Old", 1.5, false), ("New", 2.5, false)]);
    place.sheetport(infer.into_iter().chain(["--sheet", "New"])).exits(0);
    assert!(template().contains("name = \"New\""), "{}", template());
}

#[test]
fn prices_that_cannot_be_read_are_rejected() {
    let place = Place::new();
    place.write("list.csv", "SKU,Name,Price\nA1,Bolt,ask\nA2,Nut,on request\nA3,Pin,2.50\n");
    place.sheetport(["template", "infer", "list.csv", "--record", "item", "-o", "t.toml"]).exits(0);
    let seen = summary(&place.sheetport(["check", "list.csv", "-t", "t.toml", "--json"]).exits(3));
    assert_eq!(seen["rejected"], 2, "{seen}");
}

#[test]
fn reading_flags_are_written_to_the_template() {
    let place = Place::new();
    place.write("odd.csv", "SKU!Name!Price\nA1!\"Bolt\"!1.50\nA2!Nut \"M8!2.50\n");
    let args =
        ["template", "infer", "odd.csv", "--record", "item", "--delimiter", "!", "--quote", "none", "-o", "odd.toml"];
    place.sheetport(args).exits(0);
    place.sheetport(["check", "odd.csv", "-t", "odd.toml"]).exits(0).shows(&["2 records"]);
}

#[test]
fn unknown_records_and_missing_files_are_refused() {
    let place = Place::new();
    let file = place.write("prices.csv", PRICES);
    place.sheetport(["template", "infer", name(&file), "--record", "itme"]).exits(2).says(&["inventory-transaction"]);
    place.sheetport(["template", "infer", "none.csv", "--record", "item"]).exits(7).says(&["none.csv"]);
    place.write("empty.csv", "");
    let args = ["template", "infer", "empty.csv", "--record", "item", "-o", "out.toml"];
    place.sheetport(args).exits(7).says(&["empty.csv"]);
    assert!(!place.path("out.toml").exists());
}

#[test]
fn a_guessed_kind_of_record_is_a_guess_until_a_person_confirms_it() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("list.csv", PRICES);
    let inferred = place.sheetport(["template", "infer", "list.csv", "-o", "t.toml"]).exits(0);
    inferred.says(&["the rows are taken for items: a guess"]);
    let ended = place.sheetport(["template", "infer", "list.csv", "--json"]).exits(0).json();
    assert_eq!((&ended["record"], &ended["record_guess"]), (&"item".into(), &true.into()));
    let template = fs::read_to_string(place.path("t.toml")).unwrap();
    let line = "record_guess = true  # delete this line if the rows are items\n";
    assert!(template.contains(&format!("record = \"item\"\n{line}")), "{template}");
    place.sheetport(["template", "check", "t.toml"]).exits(0);
    let says = &["the rows were only guessed to be items", "record_guess = true in t.toml", "--yes"];
    served.sheetport(&place, ["upload", "list.csv", "-t", "t.toml"]).exits(2).says(says);
    assert_eq!(served.total(), 0);
    // What a program has sent is no confirmation.
    served.sheetport(&place, ["upload", "list.csv", "-t", "t.toml", "--yes"]).exits(0);
    served.sheetport(&place, ["upload", "list.csv", "-t", "t.toml"]).exits(2);
    place.write("t.toml", template.replace(line, ""));
    served.sheetport(&place, ["upload", "list.csv", "-t", "t.toml"]).exits(0);
    let named = place.sheetport(["template", "infer", "list.csv", "--record", "item", "--json"]).exits(0).json();
    assert_eq!(named["record_guess"], false);
}

#[test]
fn a_list_of_orders_is_not_taken_for_items() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write(
        "orders.csv",
        "Order ID,Order date,Buyer,SKU,Item name,Quantity,Price\n7,2026-03-01,Ann,A-1,Bolt,2,1.50\n\
         7,2026-03-01,Ann,A-2,Nut,3,0.50\n8,2026-03-02,Bob,A-3,Screw,1,0.10\n",
    );
    let chosen = place.sheetport(["template", "infer", "orders.csv", "--json"]).exits(0).json();
    assert_eq!((&chosen["record"], &chosen["record_guess"]), (&"order".into(), &true.into()));
    let named = place.sheetport(["template", "infer", "orders.csv", "--record", "item", "-o", "t.toml"]).exits(0);
    named.says(&["the rows seem to be the lines of orders"]);
    let upload = served.sheetport(&place, ["upload", "orders.csv", "-t", "t.toml"]).exits(2);
    upload.says(&["the rows were only guessed to be items"]);
    assert_eq!(served.total(), 0);
}

#[test]
fn a_list_without_codes_is_told_that_its_names_can_identify_the_items() {
    let place = Place::new();
    place.write("list.csv", "Name,Price\nBolt,1.50\nNut,0.50\nScrew,0.10\n");
    let infer = |file: &str| place.sheetport(["template", "infer", file, "--record", "item"]).exits(3);
    let ended = infer("list.csv").says(&[
        "the names in 'Name' are unique and can identify the items instead",
        "add [fields.externalId] with the line column = \"Name\"",
        "each item that is renamed becomes a new one",
    ]);
    ended.shows(&["# [fields.externalId]\n# column = \"Name\""]);
    place.write("twice.csv", "Name,Price\nBolt,1.50\nBolt,0.50\nScrew,0.10\n");
    assert!(!infer("twice.csv").stderr.contains("can identify"));
}

#[test]
fn guesses_stay_guesses_until_a_person_confirms_them() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("list.csv", "Foo,Bar,Baz\nA-100,Hammer,12.50\nA-101,Nail,0.10\nA-102,Saw,22.90\nA-103,Drill,99.00\n");
    place.sheetport(["template", "infer", "list.csv", "--record", "item", "-o", "t.toml"]).exits(0);
    let template = fs::read_to_string(place.path("t.toml")).unwrap();
    assert_eq!(template.matches("guess = true").count(), 3, "{template}");
    let codes = |arguments: &[&str], code| {
        let ended = served.sheetport(&place, arguments.iter().copied().chain(["--json"])).exits(code).json();
        let warnings = ended["warnings"].as_array().unwrap().iter();
        warnings.map(|warning| format!("{} {}", warning["code"], warning["field"]).replace('"', "")).collect::<Vec<_>>()
    };
    let guessed = ["guess externalId", "guess name", "guess price"];
    assert_eq!(codes(&["check", "list.csv", "-t", "t.toml"], 0), guessed);
    assert_eq!(codes(&["upload", "list.csv", "-t", "t.toml", "--strict"], 3), guessed, "refused");
    let says =
        &["'Foo' was only guessed to be externalId", "guess = true below [fields.externalId] in t.toml", "--yes"];
    served.sheetport(&place, ["upload", "list.csv", "-t", "t.toml"]).exits(2).says(says);
    assert_eq!(codes(&["upload", "list.csv", "-t", "t.toml", "--yes"], 0), guessed, "nobody was asked");
    assert_eq!(codes(&["upload", "list.csv", "-t", "t.toml", "--yes", "--allow-repeat"], 0), guessed, "still a guess");
    // What a program has sent, and what an earlier proposal guessed, is still a guess.
    served.sheetport(&place, ["template", "infer", "list.csv", "--record", "item", "-o", "again.toml"]).exits(0);
    let again = fs::read_to_string(place.path("again.toml")).unwrap();
    assert_eq!(again.matches("guess = true").count(), 3, "{again}");
    // Another template has guesses of its own; without the line there is none.
    place.write(
        "other.toml",
        template.replace("column = \"Baz\"\nguess = true  # delete this line if it is right", "column = \"Baz\""),
    );
    assert_eq!(codes(&["check", "list.csv", "-t", "other.toml"], 0), guessed[..2]);
    place.sheetport(["template", "fmt", "--check", "t.toml"]).run();
    place.sheetport(["template", "check", "t.toml"]).exits(0);
}

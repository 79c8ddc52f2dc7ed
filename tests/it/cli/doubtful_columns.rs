//! Columns that fit the same field, prices of several pieces, and cells shifted by a decimal comma.

use serde_json::{Value, json};

use super::process::Place;
use super::service::Served;
use super::{count, summary};

/// Checks a file of items. Returns the summary.
#[track_caller]
fn check(place: &Place, text: &str, code: i32) -> Value {
    place.write("items.csv", text);
    summary(&place.sheetport(["check", "items.csv", "-t", "items", "--json"]).exits(code))
}

/// Returns the rows and codes of the problems.
fn problems(summary: &Value) -> Vec<(u64, &str)> {
    let problems = summary["problems"].as_array().unwrap().iter();
    let rows = problems.flat_map(|problem| {
        let rows = problem["rows"].as_array().unwrap().iter();
        rows.map(|row| (row.as_u64().unwrap(), problem["code"].as_str().unwrap()))
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort_unstable();
    rows
}

#[test]
fn prices_in_two_columns_are_refused_if_they_differ() {
    let place = Place::new();
    place.write("items.csv", "SKU,Name,Price,New price\nA,Bolt,10,10\nB,Nut,20,22\n");
    let refused = place.sheetport(["check", "items.csv", "-t", "items"]).exits(2);
    refused
        .says(&["price fits the columns 'Price' and 'New price' (C and D), which differ in row 3", "[fields.price]"]);
    // The template that the hint describes.
    place.write("mine.toml", "extends = \"items\"\n[fields.price]\ncolumn = \"New price\"\n");
    let sent = summary(&place.sheetport(["check", "items.csv", "-t", "mine.toml", "--json"]).exits(0));
    assert_eq!((count(&sent, "pending"), &sent["warnings"]), (2, &json!([])), "{sent}");
    // The order of the names in a template of one's own decides.
    place.write("mine.toml", "extends = \"items\"\n[fields.price]\ncolumn = [\"New price\", \"Price\"]\n");
    place.sheetport(["check", "items.csv", "-t", "mine.toml"]).exits(0);
}

#[test]
fn equal_prices_and_texts_in_two_columns_are_warnings() {
    let place = Place::new();
    for (text, column, field) in [
        ("SKU,Name,Price,New price\nA,Bolt,10,10\nB,Nut,20,\n", "D", "price"),
        ("SKU,Product,Title,Price\nA,Bolt,Bolzen,10\n", "C", "name"),
        ("SKU,Item no.,Name\nA,1,Bolt\n", "B", "externalId"),
    ] {
        let seen = check(&place, text, 0);
        let warning = &seen["warnings"][0];
        assert_eq!((&warning["code"], &warning["column"]), (&json!("several-columns"), &json!(column)), "{seen}");
        assert_eq!(warning["field"], field);
    }
    let seen = check(&place, "SKU,Name,Price,Purchase price\nA,Bolt,10,5\n", 0);
    assert_eq!(seen["warnings"], json!([]));
    // The same number in another notation, no number, and a row that is no record.
    check(&place, "SKU,Name,Price,New price\nA,Bolt,10,EUR 10.00\nB,Nut,20,-\nC,Cog,30,\n", 0);
    check(&place, "SKU,Name,Price,New price\nA-1,Bolt,10,\nA-2,Nut,20,\nTotal,,30,40\n", 3);
}

#[test]
fn rows_with_another_value_in_a_second_column_are_refused_below_the_first_rows() {
    let place = Place::new();
    let same: String = (1..=150).map(|number| format!("A-{number},Bolt,10,10\n")).collect();
    let text = format!(
        "SKU,Name,Price,New price\n{same}B-1,Nut,20,22\nB-2,Nut,,22\nB-3,Nut,20,\nB-4,Nut,20,20.00\nB-5,Nut,,\nTotal,,20,22\n"
    );
    let seen = check(&place, &text, 3);
    assert_eq!(problems(&seen), [(152, "several-columns"), (153, "several-columns"), (157, "no-record")], "{seen}");
    assert_eq!(count(&seen, "pending"), 153);
    let remedy = seen["problems"][0]["remedy"].as_str().unwrap();
    assert!(remedy.contains("[fields.price]"), "{remedy}");
    // The first row with a date may have the date of the order.
    let orders = "Order no.,Order date,Ordered on,Item no.,Quantity,Unit price,Price each\n1,2026-01-05,2026-01-05,A,1,5,5\n\
                  1,,2026-01-05,B,1,,6\n";
    place.write("orders.csv", orders);
    let seen = summary(&place.sheetport(["check", "orders.csv", "-t", "orders", "--json"]).exits(3));
    assert_eq!(problems(&seen), [(3, "several-columns")], "{seen}");
    assert_eq!(seen["problems"][0]["field"], "price");
}

#[test]
fn a_retry_does_not_send_what_a_second_column_contradicts() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("mine.toml", "extends = \"items\"\n[fields.currency]\nvalue = \"EUR\"\n");
    let same: String = (1..=150).map(|number| format!("A-{number},Bolt,10,10\n")).collect();
    place.write("items.csv", format!("SKU,Name,Price,New price\n{same}B-1,Nut,20,22\n"));
    for (template, report) in [("mine.toml", "mine.csv"), ("items", "built-in.csv")] {
        let upload = ["upload", "items.csv", "-t", template, "--report", report, "-q"];
        served.sheetport(&place, upload).exits(3);
        served.sheetport(&place, ["retry", report, "-q"]).exits(3);
        assert_eq!(served.total(), 150, "{template}");
    }
}

#[test]
fn values_of_rows_and_dates_of_documents_are_no_contradiction() {
    let place = Place::new();
    place.write(
        "t.csv",
        "Date,Posting date,Stock,Movement,Quantity,Unit cost,Value\n2026-09-30,2026-10-02,L-1,in,10,5,50\n",
    );
    let explained = place.sheetport(["explain", "t.csv", "--row", "2", "-t", "transactions"]).exits(0);
    explained.shows(&["\"price\": 5", "\"transactionDate\": \"2026-10-02\""]);
    let seen = summary(&place.sheetport(["check", "t.csv", "-t", "transactions", "--json"]).exits(0));
    assert_eq!(
        (seen["warnings"].as_array().unwrap().len(), &seen["warnings"][0]["column"]),
        (1, &json!("A")),
        "{seen}"
    );
    for (header, warnings) in [("Value", 0), ("Wert", 0), ("Cost", 1)] {
        place.write("t.csv", format!("Stock,Movement,Quantity,Unit cost,{header}\nL-1,in,1,5,5\n"));
        let seen = summary(&place.sheetport(["check", "t.csv", "-t", "transactions", "--json"]).exits(0));
        assert_eq!(seen["warnings"].as_array().unwrap().len(), warnings, "{header}: {seen}");
    }
}

#[test]
fn rates_of_tax_are_found_by_their_usual_names() {
    let place = Place::new();
    for header in
        ["MwSt-Satz", "USt-Satz", "Steuersatz", "VAT rate", "VAT %", "Taux TVA", "Taux de TVA", "IVA %", "Tipo IVA"]
    {
        place.write("items.csv", format!("SKU,Name,Price,{header}\nA,Bolt,10,19%\n"));
        let explained = place.sheetport(["explain", "items.csv", "--row", "2", "-t", "items"]).exits(0);
        explained.shows(&["\"tax\": 19"]);
    }
}

#[test]
fn second_columns_are_found_in_other_spellings() {
    let place = Place::new();
    for (header, values) in
        [("Price (EUR),New price (EUR)", "10,11"), ("Price,List-price", "10,11"), ("VAT (%),VAT", "19,1.90")]
    {
        place.write("items.csv", format!("SKU,Name,{header}\nA,Bolt,{values}\n"));
        let refused = place.sheetport(["check", "items.csv", "-t", "items"]).exits(2);
        refused.says(&["fits the columns", "which differ in row 2"]);
    }
}

#[test]
fn totals_are_no_second_column() {
    let place = Place::new();
    place.write("i.csv", "Invoice no,Customer ID,Item ID,Quantity,Amount\nN-1,c-1,i-1,2,25.00\n");
    let seen = summary(&place.sheetport(["check", "i.csv", "-t", "invoices", "--json"]).exits(0));
    assert_eq!(count(&seen, "pending"), 1, "{seen}");
    assert!(!seen["warnings"].to_string().contains("several-columns"), "{seen}");
}

#[test]
fn prices_of_several_pieces_are_refused() {
    let place = Place::new();
    let text = "Artikelnr.;Bezeichnung;Preis;PE\nA;Bolzen;10;100\nB;Mutter;10;1\nC;Ring;10;1.000\nD;Keil;10;100 Stk\nE;Rad;10;Stk\n\
                F;Rohr;;100\nG;Rad;10;je 1\nH;Rad;10;100er\n";
    let seen = check(&place, text, 3);
    let expected = [(2, "price-of-several"), (4, "price-of-several"), (5, "price-of-several"), (9, "price-of-several")];
    assert_eq!(problems(&seen), expected, "{seen}");
    assert_eq!(count(&seen, "pending"), 4);
    let text = "SKU,Name,Price,Price unit (PU)\nA,Bolt,10,C\nB,Nut,10,pcs\nC,Cog,10,M\nD,Pin,10,m\nE,Rod,10,dozen\nF,Pipe,10,m2\n";
    let seen = check(&place, text, 3);
    assert_eq!(problems(&seen), [2, 4, 6].map(|row| (row, "price-of-several")), "{seen}");
    // As the message shows.
    place.write(
        "mine.toml",
        "extends = \"items\"\n[fields.price]\ntext = \"{{ row['Preis'] | divided_by(row['PE'], 4) }}\"\n",
    );
    place.write("items.csv", "Artikelnr.;Bezeichnung;Preis;PE\nA;Bolzen;10;100\n");
    let explained = place.sheetport(["explain", "items.csv", "--row", "2", "-t", "mine.toml"]).exits(0);
    explained.shows(&["\"price\": 0.1"]);
}

#[test]
fn cells_after_a_decimal_comma_without_quotes_are_refused() {
    let place = Place::new();
    let seen = check(&place, "SKU,Name,Price,Note\nA,Bolt,1,50,\nB,Nut,2,5,\nC,Cog,4,\n", 3);
    assert_eq!(problems(&seen), [(2, "beyond-header"), (3, "beyond-header")], "{seen}");
    // Rows that only end with a delimiter.
    let seen = check(&place, "SKU,Name,Tax\nA-1,Bolt M8,19,\nA-2,Nut M10,7,\n", 0);
    assert_eq!(count(&seen, "pending"), 2);
    let seen = check(&place, "SKU,Name,Price,Note\nA,Bolt,10,50,\nB,Nut,20,x,\n", 0);
    assert_eq!(count(&seen, "pending"), 2);
}

#[test]
fn numbers_split_at_a_comma_are_found_in_all_rows() {
    let place = Place::new();
    for (text, rows) in [
        // All rows, with a text of numbers, or with decimals that begin with a zero.
        ("SKU,Name,Price,Tax,Description\nA,Bolt,12,75,19,\nB,Nut,3,20,7,\n", &[2, 3][..]),
        ("SKU,Name,Price,Stock\nA,Bolt,12,05,\nB,Nut,3,20,\n", &[2, 3]),
        ("SKU,Name,Price,Note\nA,Bolt,12,75,\nB,Nut,3,20,\n", &[2, 3]),
        // Thousands.
        ("SKU,Name,Price,Note\nA,Bolt,1,299.00,\nB,Nut,3.20,\n", &[2]),
        // The header ends with a comma, too.
        ("SKU,Name,Price,Tax,\nA,Bolt,12,75,19\nB,Nut,3.20,19,\n", &[2]),
        ("SKU,Name,Price,\nA,Bolt,12,75\nB,Nut,3,20\n", &[2, 3]),
        // Another long row.
        ("SKU,Name,Price,Note\nA,Bolt,1,50,\nB,Nut,4.10,x,\nC,Cog,4,,,,\nD,Pin,4,\nE,Rod,4,\nF,Cap,4,\n", &[2]),
    ] {
        let seen = check(&place, text, 3);
        let expected: Vec<_> = rows.iter().map(|row| (*row, "beyond-header")).collect();
        assert_eq!(problems(&seen), expected, "{text}{seen}");
        assert_eq!(seen["problems"][0]["column"], "C", "{text}");
    }
}

#[test]
fn delimiters_at_the_end_of_rows_are_no_shifted_cells() {
    let place = Place::new();
    for text in [
        "SKU,Name,Price,Stock\nA,Bolt,12,75,\nB,Nut,3,20,\n",
        "SKU,Name,Price,Stock\nA,Bolt,12,75,\nB,Nut,3,20,\nC,Pin,5,70\n",
        "SKU,Name,Price,Stock,\nA,Bolt,12,75,\nB,Nut,3,20,\n",
        "SKU,Name,Price,Tax\nA,Bolt,12.75,19,\nB,Nut,3,19,\n",
        "SKU,Name,Stock,Price\nA,Bolt,12,299.00,\nB,Nut,3,150.00,\n",
        // Notes in a column without a name.
        "SKU,Name,Price,Tax,\nA,Bolt,12,19,\nB,Nut,3.20,19,old\nC,Pin,4,19,new\n",
    ] {
        let seen = check(&place, text, 0);
        assert_eq!(seen["problems"], json!([]), "{text}");
    }
}

#[test]
fn footers_with_several_cells_are_no_items() {
    let place = Place::new();
    let items: String = (1..20).map(|number| format!("A-{number},Bolt,{number}\n")).collect();
    for (footer, column) in [("Steel,Subtotal,20.50", "B"), ("Printed by,Admin,", "A"), ("Total for A,,190", "A")] {
        let seen = check(&place, &format!("SKU,Name,Price\n{items}{footer}\n"), 3);
        assert_eq!(problems(&seen), [(21, "no-record")], "{footer}: {seen}");
        assert_eq!(seen["problems"][0]["column"], column, "{footer}");
    }
    // Brands are items, and an identifier unlike all others is asked about.
    let seen = check(&place, &format!("SKU,Name,Price\n{items}A-20,Total,5\nA-21,Sum,5\nMISC,Other,1\n"), 3);
    assert_eq!((count(&seen, "pending"), problems(&seen)), (21, vec![(23, "unlike-others")]));
    let seen = check(&place, "SKU,Name,Price\nA-1,Bolt,1\nA-2,Nut,2\nSteel,Subtotal,3\n", 3);
    assert_eq!(problems(&seen), [(4, "no-record")]);
}

#[test]
fn few_letters_that_differ_between_encodings_are_a_warning() {
    let place = Place::new();
    // "Šroub" in windows-1250 or "èroub" in cp850; "Śruba nakrętka" in windows-1250; "Größe" in windows-1252.
    // "£1.50, 5 m³, ±2" in windows-1252.
    for (bytes, is_doubtful) in [
        (&b"\x8Aroub"[..], true),
        (b"\x8Cruba nakr\xEAtka", false),
        (b"Gr\xF6\xDFe", false),
        (b"\xA31.50 5 m\xB3 \xB12", false),
        // "clé", "Écrou", "tamaño" and "città" in windows-1252.
        (b"cl\xE9", false),
        (b"\xC9crou", false),
        (b"tama\xF1o", false),
        (b"citt\xE0", false),
        // "Maß" in cp850 and in Mac Roman.
        (b"Ma\xE1", true),
        (b"Ma\xA7", true),
        // "leçon" in windows-1252, "lešon" in cp852.
        (b"le\xE7on", true),
    ] {
        place.write("items.csv", [&b"SKU,Name\n1,"[..], bytes, b"\n"].concat());
        let seen = summary(&place.sheetport(["check", "items.csv", "-t", "items", "--json"]).exits(0));
        let codes: Vec<_> =
            seen["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].as_str().unwrap()).collect();
        assert_eq!(codes.contains(&"guessed-encoding"), is_doubtful, "{bytes:?}: {seen}");
    }
}

#[test]
fn letters_of_dos_and_old_macs_are_found_by_the_letters_around_them() {
    let place = Place::new();
    for (bytes, encoding, name) in [
        (&b"Ma\xE1 Stra\xE1e"[..], "IBM850", "Maß Straße"),
        (b"Fu\xA7 L\x8Ange", "macintosh", "Fuß Länge"),
        (b"\x9Do\xBEysko p\xA2\x88ka", "IBM852", "Łożysko półka"),
    ] {
        place.write("items.csv", [&b"SKU,Name\n1,"[..], bytes, b"\n"].concat());
        let seen = summary(&place.sheetport(["check", "items.csv", "-t", "items", "--json"]).exits(0));
        let warning = &seen["warnings"][0];
        assert_eq!((&warning["code"], &warning["value"]), (&json!("guessed-encoding"), &json!(encoding)), "{seen}");
        assert!(seen.to_string().contains(name), "{seen}");
    }
}

#[test]
fn prices_in_pounds_are_read() {
    let place = Place::new();
    place.write("items.csv", &b"SKU,Name,Price\n1,Bolt,\xA31.50\n2,Nut,\xA32.50\n"[..]);
    let seen = summary(&place.sheetport(["check", "items.csv", "-t", "items", "--json"]).exits(0));
    assert_eq!((count(&seen, "pending"), &seen["warnings"]), (2, &json!([])), "{seen}");
}

#[test]
fn a_blank_makes_only_its_own_comparison_false() {
    let place = Place::new();
    let template = "extends = \"items\"\n[sheet]\nskip_where = 'Price <= 0 or Status == \"draft\"'\n";
    place.write("mine.toml", template);
    place.write("items.csv", "SKU,Name,Price,Status\nA,Bolt,5,active\nB,Nut,,draft\nC,Cog,,active\n");
    let seen = summary(&place.sheetport(["check", "items.csv", "-t", "mine.toml", "--json"]).exits(0));
    assert_eq!((count(&seen, "pending"), count(&seen, "skipped")), (2, 1), "{seen}");
    // Dates in two other notations have no order.
    place.write("mine.toml", "extends = \"items\"\n[sheet]\nkeep_where = 'Until >= \"01.01.2026\"'\n");
    place.write("items.csv", "SKU,Name,Until\nA,Bolt,31.12.2025\n");
    let seen = summary(&place.sheetport(["check", "items.csv", "-t", "mine.toml", "--json"]).exits(3));
    assert_eq!(count(&seen, "rejected"), 1, "{seen}");
}

#[test]
fn a_template_may_narrow_the_values_of_its_base() {
    let place = Place::new();
    place.write(
        "base.toml",
        "extends = \"items\"\n[fields.status]\ncolumn = \"Status\"\nmap = { yes = \"active\", no = \"archived\" }\n",
    );
    place.write("mine.toml", "extends = \"base.toml\"\n[fields.status]\nallowed = [\"active\"]\n");
    place.write("items.csv", "SKU,Name,Status\nA,Bolt,yes\nB,Nut,no\n");
    let seen = summary(&place.sheetport(["check", "items.csv", "-t", "mine.toml", "--json"]).exits(3));
    assert_eq!(problems(&seen), [(3, "unknown-value")], "{seen}");
    place.write("base.toml", "extends = \"items\"\n[fields.status]\ncolumn = \"Status\"\nmap = { no = \"archived\" }\nallowed = [\"active\"]\n");
    place.sheetport(["check", "items.csv", "-t", "base.toml"]).exits(2).says(&["is refused by its own checks"]);
}

#[test]
fn a_column_is_found_in_any_spelling() {
    let place = Place::new();
    let served = Served::start(&place);
    for (number, header) in [
        "itemNumber,itemName,unitPrice",
        "*SKU,Name*,Price (required)",
        "SKU:,Name:,Price:",
        "Item.No,Item_Name,Unit-Price",
        "#SKU,Pro\u{200b}duct name,\u{420}rice",
        "S\u{41a}U,Name\u{a0},Price [Pflichtfeld]",
    ]
    .iter()
    .enumerate()
    {
        place.write("items.csv", format!("{header}\nA-{number},Bolt {number},1.50\n"));
        let sent = served.sheetport(&place, ["upload", "items.csv", "-t", "items", "--json"]).exits(0);
        assert_eq!(count(&summary(&sent), "sent"), 1, "{header}");
    }
    let listed = served.get("/v1/public/items");
    let listed = listed["data"].as_array().unwrap();
    assert_eq!(listed.len(), 6, "{listed:?}");
    assert!(listed.iter().all(|item| item["price"].as_f64() == Some(1.5) && item["name"].is_string()), "{listed:?}");
    // The same words come before another spelling; two others are no answer.
    place.write("items.csv", "SKU,Price,Price*\nA,1.50,1.50\n");
    place.sheetport(["check", "items.csv", "-t", "items"]).exits(0);
    place.write("items.csv", "SKU,*Price,Price*\nA,1.50,2.50\n");
    place.sheetport(["check", "items.csv", "-t", "items"]).exits(2).says(&["several columns have this name (B, C)"]);
}

#[test]
fn a_column_one_letter_off_is_a_question() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", "SKU,Name,Prcie\nA,Bolt,1.50\n");
    let says = &[
        "Prcie is not sent: is it 'price', the column of price?",
        "column = \"Prcie\" below [fields.price]",
        "--accept misspelt-column",
    ];
    served.sheetport(&place, ["upload", "items.csv", "-t", "items"]).exits(3).shows(says);
    let checked = check(&place, "SKU,Name,Prcie\nA,Bolt,1.50\n", 3);
    assert_eq!(checked["warnings"][0]["code"], "misspelt-column", "{checked}");
    served.sheetport(&place, ["upload", "items.csv", "-t", "items", "--yes"]).exits(0);
    // The template that the hint describes.
    place.write("mine.toml", "extends = \"items\"\n[fields.price]\ncolumn = \"Prcie\"\n");
    served.sheetport(&place, ["upload", "items.csv", "-t", "mine.toml"]).exits(0);
    // Short words and other words are no misspellings.
    let other = check(&place, "SKU,Name,Side,Material\nA,Bolt,left,wood\n", 0);
    assert_eq!(other["warnings"], json!([]), "{other}");
}

#[test]
fn descriptions_without_names_are_a_question() {
    let place = Place::new();
    let served = Served::start(&place);
    let csv = "SKU,Description,Price\nA,Bolt,1.50\nB,Nut,0.50\n";
    place.write("items.csv", csv);
    let says = &[
        "Description is sent as the description, and no column is the name: is it the name?",
        "column = \"Description\" below [fields.name]",
        "--accept nameless",
    ];
    served.sheetport(&place, ["upload", "items.csv", "-t", "items"]).exits(3).shows(says);
    assert_eq!(check(&place, csv, 3)["warnings"][0]["code"], "nameless");
    // The template that the hint describes.
    place.write("mine.toml", "extends = \"items\"\n[fields.name]\ncolumn = \"Description\"\n");
    served.sheetport(&place, ["upload", "items.csv", "-t", "mine.toml"]).exits(0);
    // New descriptions of items that have names.
    served.sheetport(&place, ["upload", "items.csv", "-t", "items", "--accept", "nameless"]).exits(0);
    let listed = served.get("/v1/public/items");
    let listed = listed["data"].as_array().unwrap();
    assert!(listed.len() == 2 && listed.iter().all(|item| item["name"].is_string()), "{listed:?}");
}

#[test]
fn quantities_of_nothing_are_a_problem() {
    let place = Place::new();
    place.write("orders.csv", "Order no,Produkt,Quantity\n1,Bolt,3\n2,Nut,4\n");
    let checked = summary(&place.sheetport(["check", "orders.csv", "-t", "orders", "--json"]).exits(3));
    assert_eq!((&checked["rejected"], &checked["problems"][0]["code"]), (&json!(2), &json!("incomplete")), "{checked}");
    place.write("moved.csv", "When,Depot,Type,Quantity\n2026-01-02,L-1,in,5\n");
    let toml = "record = \"inventory-transaction\"\n[fields.transactionType]\ncolumn = \"Type\"\n[fields.amount]\ncolumn = \"Quantity\"\n";
    place.write("moved.toml", toml);
    let checked = summary(&place.sheetport(["check", "moved.csv", "-t", "moved.toml", "--json"]).exits(3));
    assert_eq!(checked["problems"][0]["code"], "incomplete", "{checked}");
    // A blank cell of a column that exists may be a line of its own, such as one of shipping.
    place.write("orders.csv", "Order no,SKU,Quantity\n1,A,3\n1,,1\n");
    let checked = summary(&place.sheetport(["check", "orders.csv", "-t", "orders", "--json"]).exits(0));
    assert_eq!(checked["warnings"][0]["code"], "incomplete", "{checked}");
}

#[test]
fn the_currency_of_a_cost_is_not_that_of_the_price() {
    let place = Place::new();
    let body = |header: &str| {
        place.write("items.csv", format!("SKU,Name,{header}\nA,Bolt,1.20,2.50\n"));
        let explained = place.sheetport(["explain", "items.csv", "-t", "items", "--row", "2", "--json"]).exits(0);
        explained.json()["request"]["body"].clone()
    };
    for (header, currency) in [
        ("Cost USD,Price", json!(null)),
        ("Cost USD,Price USD", json!("USD")),
        ("Cost,Price EUR", json!("EUR")),
        ("Cost USD,Weight", json!("USD")),
    ] {
        assert_eq!(body(header)["currency"], currency, "{header}");
    }
}

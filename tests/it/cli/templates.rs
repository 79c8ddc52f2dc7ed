//! The built-in templates, each with its sample file.

use std::fs;

use serde_json::{Value, json};

use super::process::Place;
use super::service::Served;
use super::{accounting, column, count, sample, summary, table};

/// Each sample with its template, the result of `check`, and the only error in the sample.
const SAMPLES: [(&str, &str, &str, &str); 19] = [
    ("items.csv", "items", "25: pending 25", ""),
    ("orders.csv", "orders", "18: pending 18", ""),
    ("transactions.csv", "transactions", "40: pending 40", ""),
    ("subscriptions.csv", "subscriptions", "16: pending 16", ""),
    ("invoices.csv", "invoices", "20: pending 20", ""),
    ("exported-items.csv", "exported-items", "43: pending 43", ""),
    ("exported-orders.csv", "exported-orders", "30: pending 30", ""),
    ("exported-transactions.csv", "exported-transactions", "40: pending 40", ""),
    ("shopify-products.csv", "shopify-products", "47: skipped 5, rejected 1, pending 41", "Variant SKU is blank"),
    ("shopify-orders.csv", "shopify-orders", "40: skipped 1, rejected 1, pending 38", "Lineitem sku is blank"),
    ("woocommerce-products.csv", "woocommerce-products", "41: skipped 6, rejected 1, pending 34", "SKU is blank"),
    ("square-catalog.csv", "square-catalog", "34: pending 34", ""),
    ("odoo-products.xlsx", "odoo-products", "31: skipped 3, rejected 1, pending 27", "Internal Reference is blank"),
    ("xero-items.csv", "xero-items", "10: rejected 1, pending 9", "*ItemCode is blank"),
    ("xero-invoices.csv", "xero-invoices", "11: skipped 3, rejected 1, pending 7", "InventoryItemCode is blank"),
    ("business-central-items.xlsx", "business-central-items", "13: pending 13", ""),
    ("german-price-list.csv", "german-price-list", "45: skipped 10, pending 35", ""),
    ("japanese-price-list.csv", "japanese-price-list", "31: skipped 1, rejected 1, pending 29", "'ＯＲ－６００３'"),
    ("stock-count.xlsx", "stock-count", "34: skipped 1, rejected 1, pending 32", "Counted '3 + 1'"),
];

#[test]
fn built_in_templates_pass_their_examples_and_have_samples() {
    let place = Place::new();
    let listed = place.sheetport(["template", "list", "--json"]).exits(0).json();
    let names: Vec<&str> =
        listed["templates"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, SAMPLES.map(|(_, template, ..)| template));
    for name in names {
        let checked = place.sheetport(["template", "check", name, "--json"]).exits(0).json();
        assert!(count(&checked, "examples") >= 2, "{checked}");
        assert_eq!(checked["failed"], json!([]));
        let source = place.sheetport(["template", "show", name]).exits(0).stdout;
        place.write("mine.toml", source);
        place.sheetport(["template", "check", "mine.toml"]).exits(0);
    }
}

#[test]
fn template_show_prints_all_keys_as_json() {
    let place = Place::new();
    let shown = place.sheetport(["template", "show", "orders", "--json"]).exits(0).json();
    assert_eq!(shown["keys"]["sheetport"], 1);
    assert_eq!(shown["keys"]["group"]["by"][0][0], "externalId");
    assert_eq!(shown["toml"], place.sheetport(["template", "show", "orders"]).exits(0).stdout);
}

#[test]
fn template_list_is_a_table() {
    let listed = Place::new().sheetport(["template", "list"]).exits(0).stdout;
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 1 + SAMPLES.len(), "{listed}");
    let kind = lines[0].find("for each").unwrap();
    let what = lines[0].find("what it reads").unwrap();
    for line in &lines {
        assert!(line.chars().count() <= 100, "{line}");
        for start in [kind, what] {
            assert!(line[..start].ends_with("  ") && !line[start..].starts_with(' '), "{line}");
        }
    }
}

#[test]
fn check_finds_the_only_error_of_each_sample() {
    let place = Place::new();
    for (file, template, expected, mistake) in SAMPLES {
        fs::copy(sample(file), place.path(file)).unwrap();
        let code = if mistake.is_empty() { 0 } else { 3 };
        let check = place.sheetport(["check", file, "-t", template, "--json"]).exits(code);
        assert_eq!(accounting(&summary(&check)), expected, "{file}");
        let said = place.sheetport(["check", file, "-t", template]).exits(code).shows(&[mistake]);
        assert!(!said.stderr.contains("has a similar name"), "{file}: {}", said.stderr);
    }
}

/// Enables the tables and settings in comments, such as a currency that the file does not have.
#[test]
fn commented_settings_of_templates_are_valid() {
    let place = Place::new();
    let mut offered = 0;
    for (_, template, ..) in SAMPLES {
        let source = place.sheetport(["template", "show", template]).exits(0).stdout;
        let mut within = false;
        let uncommented = source.lines().map(|line| {
            let bare = line.strip_prefix("# ").unwrap_or_default();
            let is_setting = ["time_zone = ", "encoding = "].iter().any(|key| bare.starts_with(key));
            within = bare.starts_with("[fields.") || within && !bare.is_empty();
            let takes = within || is_setting;
            offered += usize::from(takes);
            format!("{}\n", if takes { bare } else { line })
        });
        place.write("offered.toml", uncommented.collect::<String>());
        let ended = place.sheetport(["template", "check", "offered.toml"]).run();
        assert_eq!(ended.stderr, "", "{template}");
    }
    assert_eq!(offered, 25, "lines of tables and settings in comments");
}

#[test]
fn shopify_variants_without_sku_can_be_identified_by_their_options() {
    let place = Place::new();
    let source = place.sheetport(["template", "show", "shopify-products"]).exits(0).stdout;
    let by_options = r#"columns = ["Handle", "Option1 Value", "Option2 Value", "Option3 Value"], join = "-""#;
    assert!(source.contains(by_options), "the template has it in a comment");
    let source = source.replace(r#"column = ["Variant SKU", "SKU"]"#, &by_options.replace(", join", "\njoin"));
    place.write("mine.toml", source);
    fs::copy(sample("shopify-products.csv"), place.path("products.csv")).unwrap();
    let check = place.sheetport(["check", "products.csv", "-t", "mine.toml", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&check)), "47: skipped 5, pending 42");
}

/// Replaces the `column` of a field by the expression that the template has in a comment.
#[track_caller]
fn with_expression(place: &Place, template: &str, field: &str) {
    let source = place.sheetport(["template", "show", template]).exits(0).stdout;
    let offered = |key: &str| source.lines().find_map(|line| line.strip_prefix("# ").filter(|it| it.starts_with(key)));
    let (before, rest) = source.split_once(&format!("\n[{field}]\n")).unwrap();
    let (_, rest) = rest.split_once('\n').unwrap();
    let text = offered("text = ").unwrap();
    let locale = if text.contains("number(") { offered("locale = ").unwrap() } else { "" };
    let (rest, _) = rest.split_once("[[examples]]").unwrap();
    place.write("mine.toml", format!("{before}\n[{field}]\n{text}\n{locale}\n{rest}"));
}

#[test]
fn commented_expressions_of_templates_work() {
    let place = Place::new();
    let served = Served::start(&place);
    with_expression(&place, "square-catalog", "fields.externalId");
    place.write("square.csv", "Token,Item Name,Variation Name,SKU,Price\nT1,Tea,Cup,,2.60\nT2,Tea,Pot,0042,4.80\n");
    served.sheetport(&place, ["upload", "square.csv", "-t", "mine.toml", "-q"]).exits(0);
    assert_eq!(served.total(), 2);
    with_expression(&place, "german-price-list", "fields.price");
    place.write(
        "list.csv",
        "Artikel-Nr.;Bezeichnung 1;Bezeichnung 2;Warengruppe;PE;VK-Preis netto\n\
         0815;Schraube;;Klein;100;1.234,50 €\n0816;Tresor;;Groß;1;a. A.\n",
    );
    served.sheetport(&place, ["upload", "list.csv", "-t", "mine.toml", "-q"]).exits(0);
    served.sheetport(&place, ["export", "items", "-o", "back.csv"]).exits(0);
    let back = table(&place.path("back.csv"));
    let prices: Vec<_> = column(&back, "name").into_iter().zip(column(&back, "price")).collect();
    assert!(prices.contains(&("Schraube", "12.345")) || prices.contains(&("Schraube", "12.3450")), "{prices:?}");
    assert!(prices.contains(&("Tresor", "")), "{prices:?}");
}

#[test]
fn a_renamed_optional_column_is_reported() {
    let place = Place::new();
    place.write("list.csv", "SKU,Name,Curenci,Price list 2026\n1,Bolt,EUR,A\n");
    let said = place.sheetport(["check", "list.csv", "-t", "items"]).exits(0);
    let said = said.says(&["no column was found for the optional field currency", "'Curenci' has a similar name"]);
    assert!(!said.stderr.contains("'Price list 2026'"), "{}", said.stderr);
}

/// Uploads a sample: the rejected rows are left out, all others are sent.
#[track_caller]
fn upload(place: &Place, served: &Served, file: &str) {
    let (_, template, expected, mistake) = SAMPLES.into_iter().find(|(name, ..)| *name == file).unwrap();
    fs::copy(sample(file), place.path(file)).unwrap();
    let upload = served.sheetport(place, ["upload", file, "-t", template, "--json"]);
    let upload = upload.exits(if mistake.is_empty() { 0 } else { 3 });
    let (total, parts) = expected.split_once(": ").unwrap();
    let mut parts: Vec<String> = parts.split(", ").map(str::to_owned).collect();
    let sent = parts.pop().unwrap().replace("pending", "sent");
    parts.insert(0, sent);
    assert_eq!(accounting(&summary(&upload)), format!("{total}: {}", parts.join(", ")), "{file}");
}

#[test]
fn products_of_every_shop_export_arrive_as_items() {
    let samples: [(&str, u64, &[[&str; 4]]); 6] = [
        (
            "shopify-products.csv",
            41,
            &[
                ["Merino Crew Sweater / Navy / XL", "119.00", "", "active"],
                ["Enamel Mug", "14.50", "", "active"],
                ["Fleece Pullover (2024) / L", "49.00", "", "archived"],
            ],
        ),
        (
            "woocommerce-products.csv",
            34,
            &[["Earl Grey - 100 g, Tin", "12.90", "", "active"], ["Kettle Thermometer", "12.40", "", "draft"]],
        ),
        (
            "square-catalog.csv",
            34,
            &[["Room Hire, Whole day", "1250.00", "", "active"], ["Cake of the Day, Slice", "", "", "active"]],
        ),
        ("odoo-products.xlsx", 27, &[["Sit-stand desk 160 × 80", "799.5", "GBP", "active"]]),
        (
            "german-price-list.csv",
            35,
            &[
                ["Möbeltresor Stufe B, 120 l, ohne Versand", "1234.50", "EUR", "active"],
                ["Wertschutzschrank Grad I, 385 kg", "", "EUR", "active"],
            ],
        ),
        (
            "japanese-price-list.csv",
            29,
            &[
                ["万年筆「凪」 中字 M", "13200", "JPY", "active"],
                ["デスクチェア「髙島」 黒", "", "JPY", "on request"],
                ["ほうじ茶ティーバッグ 20包", "594", "JPY", "active"],
            ],
        ),
    ];
    for (file, total, wanted) in samples {
        let place = Place::new();
        let served = Served::start(&place);
        upload(&place, &served, file);
        assert_eq!(served.total(), total, "{file}");
        served.sheetport(&place, ["export", "items", "-o", "back.csv"]).exits(0);
        let back = table(&place.path("back.csv"));
        let columns = ["name", "price", "currency", "status"].map(|name| column(&back, name));
        for item in wanted {
            let is_there = (0..back.len() - 1).any(|row| (0..4).all(|nth| columns[nth][row] == item[nth]));
            assert!(is_there, "{file}: {item:?} is not in {back:?}");
        }
    }
}

#[test]
fn shopify_product_values_apply_to_all_variants() {
    let place = Place::new();
    let served = Served::start(&place);
    upload(&place, &served, "shopify-products.csv");
    served.sheetport(&place, ["report", "-o", "all.csv"]).exits(0);
    let report = table(&place.path("all.csv"));
    let titles: Vec<_> = column(&report, "Handle").into_iter().zip(column(&report, "Title")).collect();
    assert_eq!(titles.iter().filter(|title| **title == ("merino-crew-sweater", "Merino Crew Sweater")).count(), 8);
    assert!(titles.contains(&("trail-cap", "Trail Cap")) && !titles.contains(&("trail-cap", "Canvas Rucksack 24 L")));
}

/// Loads records into the service's workspace before it starts.
#[track_caller]
fn load(place: &Place, workspace: &str, file: &str) {
    let path = sample(&format!("service/{file}"));
    let path = path.to_str().unwrap();
    place.sheetport(["serve", "load", "--data", "service", "--workspace", workspace, path]).exits(0);
}

#[test]
fn shopify_orders_take_their_lines_from_several_rows() {
    let place = Place::new();
    load(&place, "shop", "orders.csv");
    let served = Served::start(&place);
    upload(&place, &served, "shopify-products.csv");
    upload(&place, &served, "shopify-orders.csv");
    let rows = table(&sample("shopify-orders.csv"));
    for name in ["#1001", "#1017", "#1040"] {
        let order = served.get(&format!("/v1/public/orders/0?external_id={}", name.replace('#', "%23")));
        let lines = column(&rows, "Name").into_iter().filter(|other| *other == name).count();
        assert_eq!(order["number_item"], json!(lines), "{order}");
        assert_ne!(order["order_at"], "2026-10-01T00:00:00.000Z", "{order}");
        let first = column(&rows, "Name").into_iter().position(|other| other == name).unwrap();
        let state = match column(&rows, "Fulfillment Status")[first] {
            "fulfilled" => "shipped",
            "partial" => "partially shipped",
            _ => "pending",
        };
        assert_eq!(order["delivery_status"], state, "{order}");
    }
    let refused = served.get("/v1/public/orders/0?external_id=%231026");
    assert_eq!(refused["number_item"], Value::Null, "an order with a line without an item is not sent: {refused}");
}

#[test]
fn orders_transactions_subscriptions_and_invoices_arrive() {
    let place = Place::new();
    let served = Served::demo(&place);
    let before = inventories(&served);
    for file in ["orders.csv", "transactions.csv", "subscriptions.csv", "invoices.csv"] {
        upload(&place, &served, file);
    }
    let rows = table(&sample("orders.csv"));
    let order = served.get("/v1/public/orders/0?external_id=SO-2026-0007");
    let lines = column(&rows, "Order no.").into_iter().filter(|name| *name == "SO-2026-0007").count();
    assert_eq!(order["number_item"], json!(lines), "{order}");
    let moves = table(&sample("transactions.csv"));
    let cells = ["Stock name", "Movement", "Quantity", "Figure"].map(|name| column(&moves, name));
    // Several inventories have the same name.
    for ((name, available), (_, was)) in inventories(&served).into_iter().zip(before) {
        let mine = (0..cells[0].len()).filter(|row| cells[0][*row] == name && cells[3][*row] == "available");
        let moved: i64 =
            mine.map(|row| cells[2][row].parse::<i64>().unwrap() * if cells[1][row] == "out" { -1 } else { 1 }).sum();
        assert_eq!(available - was, moved, "{name}");
    }
}

#[test]
fn a_stock_count_updates_the_inventories() {
    let place = Place::new();
    load(&place, "shop", "inventories.csv");
    let served = Served::start(&place);
    fs::copy(sample("stock-count.xlsx"), place.path("stock-count.xlsx")).unwrap();
    let counted = served.sheetport(&place, ["upload", "stock-count.xlsx", "-t", "stock-count", "--json"]).exits(3);
    assert_eq!(accounting(&summary(&counted)), "34: sent 16, unchanged 16, skipped 1, rejected 1");
    let shown = place.sheetport(["view", sample("stock-count.xlsx").to_str().unwrap(), "--sheet", "Count", "--csv"]);
    let shown = shown.exits(0).stdout;
    let mut rows = csv::ReaderBuilder::new().flexible(true).from_reader(shown.as_bytes());
    let header = rows.headers().unwrap().clone();
    let places =
        ["Location", "SKU", "Expected", "Counted"].map(|name| header.iter().position(|it| it == name).unwrap());
    let mut differ = 0;
    for row in rows.records() {
        let row = row.unwrap();
        let [location, sku, expected, counted] = places.map(|place| row.get(place).unwrap_or_default());
        // Inventories without a number are not changed.
        let held = counted.parse::<i64>().unwrap_or_else(|_| expected.parse().unwrap());
        differ += u64::from(held.to_string() != expected);
        let inventory = served.get(&format!("/v1/public/inventories/0?external_id={location}%2F{sku}"));
        assert_eq!(inventory["available"], json!(held), "{inventory}");
    }
    assert_eq!(differ, 16);
    let again = served.sheetport(&place, ["upload", "stock-count.xlsx", "-t", "stock-count"]).exits(3);
    again.says(&["left out: sent before, in run 1", "--allow-repeat"]);
    served.sheetport(&place, ["report", "-o", "errors.csv", "--only", "problems"]).exits(0);
    let errors = fs::read_to_string(place.path("errors.csv")).unwrap();
    assert!(errors.contains("3 + 1,#VALUE!"), "{errors}");
    place.write("errors.csv", errors.replace("3 + 1,#VALUE!", "4,#VALUE!"));
    let fixed = served.sheetport(&place, ["upload", "errors.csv", "-t", "stock-count", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&fixed)), "1: sent 1", "accepted rows are not sent again");
}

/// Returns the name and the available units of each inventory.
#[track_caller]
fn inventories(served: &Served) -> Vec<(String, i64)> {
    let all: Vec<Value> = served.get("/v1/public/inventories").as_array().unwrap().clone();
    all.iter().map(|one| (one["name"].as_str().unwrap().to_owned(), one["available"].as_i64().unwrap())).collect()
}

#[test]
fn fill_down_fills_blank_cells_from_above() {
    let place = Place::new();
    place.write(
        "mine.toml",
        r#"
record = "item"
[sheet]
fill_down = ["Group", "Supplier"]
skip_where = { column = ["Article", "No"], matches = "^$" }
[fields.externalId]
column = "No"
[fields.description]
columns = ["Group", "Supplier"]
[[examples]]
rows = [{ Group = "Bolts", Supplier = "Acme", No = "" }, { Group = "", Supplier = "", No = "0042" }]
sends = { externalId = "0042", description = "Bolts Acme" }
[[examples]]
row = { Group = "", No = "0042", Supplier = "" }
sends = { externalId = "0042" }
"#,
    );
    place.sheetport(["template", "check", "mine.toml"]).exits(0);
    place.write("list.csv", "Group,Supplier,No\nBolts,Acme,\n,,0042\n,Bolt & Co,0043\nNuts,,\n,,0051\n,,\n,,0051\n");
    let check = place.sheetport(["check", "list.csv", "-t", "mine.toml", "--json"]).exits(3);
    assert_eq!(accounting(&summary(&check)), "6: skipped 2, rejected 2, pending 2");
    let source = fs::read_to_string(place.path("mine.toml")).unwrap();
    for (right, wrong, says) in [
        (r#""Supplier"]"#, r#""Suplier"]"#, "fill_down has the column 'Suplier', which no field reads"),
        (r#"["Group", "Supplier"]"#, r#"{ columns = "Group", with = "No" }"#, "unknown key 'with'"),
        (r#"["Group", "Supplier"]"#, "[]", "a list of columns can't be empty"),
        (r#"sends = { externalId = "0042" }"#, "sends = {}\nclears = [\"externalId\"]", "does not match"),
        (r#"sends = { externalId = "0042" }"#, "sends = {}\nclears = [\"prize\"]", "'prize' is not a field of item"),
    ] {
        assert!(source.contains(right), "{right}");
        place.write("wrong.toml", source.replacen(right, wrong, 1));
        let ended = place.sheetport(["template", "check", "wrong.toml"]).exits(2);
        assert!(format!("{}{}", ended.stdout, ended.stderr).contains(says), "{ended:?}");
    }
}

#[test]
fn fill_down_requires_within_but_not_the_columns_to_fill() {
    let place = Place::new();
    place.write(
        "mine.toml",
        r#"
record = "item"
[sheet]
fill_down = { columns = ["Title", "Vendor"], within = "Handle" }
[fields.externalId]
column = "SKU"
[fields.name]
column = "Title"
[fields.description]
column = "Vendor"
optional = true
"#,
    );
    place.write("list.csv", "Handle,Title,SKU\ncap,Cap,1\ncap,,2\nhat,,3\n");
    let checked = place.sheetport(["check", "list.csv", "-t", "mine.toml"]).exits(0);
    assert!(!checked.stdout.contains("not used"), "the column of within counts as used: {}", checked.stdout);
    place.write("other.csv", "Title,SKU\nCap,1\n");
    let refused = place.sheetport(["check", "other.csv", "-t", "mine.toml"]).exits(2);
    refused.says(&["fill_down needs the column 'Handle'"]);
}

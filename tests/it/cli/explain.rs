//! `explain` shows the same request or the same problems as an upload: compared with the requests that a service received,
//! with the report, and with `upload --dry-run`.

use serde_json::{Value, json};

use super::process::Place;
use super::sheets::workbook;
use super::{column, table};
use crate::faults::server::{Reply, Server};

const ITEMS: &str = "record = \"item\"\nduplicates = \"error\"\n[sheet]\nskip_where = { column = \"SKU\", matches = \"^Total\" }\n\
    [fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n[fields.price]\ncolumn = \"Price\"\n";
const ORDERS: &str = "record = \"order\"\n[group]\nby = \"No\"\n[fields.externalId]\ncolumn = \"No\"\n\
    [fields.companyExternalId]\ncolumn = \"Customer\"\n[lines.itemExternalId]\ncolumn = \"SKU\"\n\
    [lines.quantity]\ncolumn = \"Qty\"\n";

#[test]
fn the_columns_of_a_group_are_shown() {
    let place = Place::new();
    place.write("o.toml", ORDERS);
    place.write("o.csv", "No,Customer,SKU,Qty\nA-1,C-1,0042,2\n");
    let said = place.sheetport(["explain", "o.csv", "-t", "o.toml", "--row", "2", "--json"]).exits(0).json();
    assert_eq!(said["group"], json!([{"column": "A", "header": "No", "cell": "A-1"}]));
    place.sheetport(["explain", "o.csv", "-t", "o.toml", "--row", "2"]).exits(0).shows(&["group  A No 'A-1'"]);
}

#[test]
fn a_currency_beside_an_amount_is_no_blank_field() {
    let place = Place::new();
    place.write("i.csv", "SKU,Name,Price\nA-1,Bolt,1.50 €\n");
    let said = place.sheetport(["explain", "i.csv", "-t", "items", "--row", "2"]).exits(0);
    said.shows(&["currency", "written beside the amounts", "→ \"EUR\""]);
    let checked = place.sheetport(["check", "i.csv", "-t", "items"]).exits(0);
    checked.shows(&["Currency: EUR in 1 record", "Blank throughout: description, purchasePrice, tax, status"]);
}

#[test]
fn what_is_known_about_a_column_is_shown() {
    let place = Place::new();
    place.write("o.toml", format!("{ORDERS}[lines.price]\ncolumn = \"Price\"\n"));
    let line = |nth: u32| {
        let (quantity, price) = (nth % 7 + 2, 1.25 + f64::from(nth) * 0.35);
        let sku = if nth == 12 { "TBD".to_owned() } else { format!("SK-{}", 100 + nth) };
        format!("A-{nth},C-1,{sku},{quantity},{price:.2},{:.2}\n", f64::from(quantity) * price)
    };
    place.write("o.csv", format!("No,Customer,SKU,Qty,Price,Total\n{}", (0..25).map(line).collect::<String>()));
    let column = |name| place.sheetport(["explain", "o.csv", "-t", "o.toml", "--column", name]);
    let shown = column("sku").exits(0);
    shown.shows(&[
        "Column C SKU  → itemExternalId",
        "25 cells filled, 0 blank",
        "24  A-9  'SK-100', row 2",
        "'TBD', row 14",
    ]);
    column("E").exits(0).shows(&["Column E Price  → price", "2 × 1.25 = 2.50 in row 2: so in 25 of 25 rows"]);
    column("Total").exits(0).shows(&["Column F Total  not used"]);
    column("Sum").exits(2).says(&["the file has no column 'Sum'; its columns are: No, Customer, SKU"]);
    let said = column("SKU").arg("--json").exits(0).json();
    assert_eq!((&said["column"], &said["shapes"][0]["cells"], &said["filled"]), (&json!("C"), &json!(24), &json!(25)));
    assert_eq!((&said["findings"][0]["row"], &said["findings"][0]["value"]), (&json!(14), &json!("TBD")), "{said}");
}

/// Uploads the file, and explains each row that its report has. Answers each row with what becomes of it: the rows of its
/// request, `skipped`, or the codes of its problems.
async fn explained(place: &Place, file: &str, template: &str, more: &[&str]) -> Vec<String> {
    let server = Server::start(|_| Reply::Accept).await;
    let upload =
        place.sheetport(["upload", file, "-t", template, "-q", "--allow-repeat", "--report", "r.csv"]).args(more);
    let upload = upload.env("SHEETPORT_BASE_URL", &server.address).secret("SHEETPORT_ACCESS_TOKEN", "access-1");
    let ended = tokio::task::spawn_blocking(move || upload.run()).await.unwrap();
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    let report = table(&place.path("r.csv"));
    std::fs::remove_file(place.path("r.csv")).unwrap();
    let sheets = if report[0].iter().any(|name| name == "sheetport_sheet") {
        column(&report, "sheetport_sheet")
    } else {
        vec![""; report.len() - 1]
    };
    let (rows, states) = (column(&report, "sheetport_row"), column(&report, "sheetport_status"));
    let errors = column(&report, "sheetport_errors");
    let log = server.log();
    let mut all = Vec::new();
    for (((row, sheet), state), errors) in rows.into_iter().zip(sheets).zip(states).zip(errors) {
        let name = if sheet.is_empty() { row.to_owned() } else { format!("{sheet}!{row}") };
        let args = ["explain", file, "-t", template, "--row", &name, "--json"];
        let ended = place.sheetport(args).args(more).run();
        let said = ended.json();
        assert_eq!((said["row"].to_string().as_str(), &said["sheet"]), (row, &json!(sheet)));
        let problems = said["problems"].as_array().unwrap();
        for problem in
            problems.iter().filter(|problem| problem["row"].as_u64() == row.parse().ok() && problem["sheet"] == sheet)
        {
            for part in ["message", "remedy"] {
                assert!(errors.contains(problem[part].as_str().unwrap()), "{name}: {problem} and {errors}");
            }
        }
        let request = &said["request"];
        let (outcome, planned, code) = if !request.is_null() {
            let body = request["body"].to_string();
            let sent: Vec<_> = log.iter().filter(|seen| seen.body == body).collect();
            assert_eq!(sent.len(), 1, "{name}: {body} and {log:#?}");
            assert_eq!(request["path"], sent[0].path, "{name}");
            (request["rows"].to_string(), "sent", 0)
        } else if said["skipped"] == true {
            ("skipped".to_owned(), "skipped", 0)
        } else {
            let codes: Vec<&str> = problems.iter().map(|problem| problem["code"].as_str().unwrap()).collect();
            assert!(!codes.is_empty(), "{said}");
            (codes.join(" "), "rejected", 3)
        };
        assert_eq!((planned, Some(code)), (state, ended.code), "{name}: {said}");
        all.push(format!("{name} {outcome}"));
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn explanation_matches_the_plan_of_single_row_records() {
    let place = Place::new();
    let rows = "SKU,Name,Price\n1,Bolt,1.50\n2,Nut,free\n1,Bolt again,2.00\nTotal,,3\n3,\"Screw\",1\n4,Pin,1,50\n5,Cog,2\n1,Third,3\n6,\"Cut";
    place.write("items.csv", rows);
    for (choice, twice) in [
        ("error", ["duplicate", "duplicate", "duplicate"]),
        ("first", ["[2]", "skipped", "skipped"]),
        ("last", ["skipped", "skipped", "[9]"]),
    ] {
        place.write("t.toml", ITEMS.replace("\"error\"", &format!("\"{choice}\"")));
        let expected = [
            format!("2 {}", twice[0]),
            "3 not-a-number".to_owned(),
            format!("4 {}", twice[1]),
            "5 skipped".to_owned(),
            "6 [6]".to_owned(),
            "7 beyond-header".to_owned(),
            "8 [8]".to_owned(),
            format!("9 {}", twice[2]),
            "10 stray-quote".to_owned(),
        ];
        assert_eq!(explained(&place, "items.csv", "t.toml", &[]).await, expected, "{choice}");
    }
}

#[test]
fn duplicate_key_names_the_other_row() {
    let place = Place::new();
    place.write("t.toml", ITEMS);
    place.write("items.csv", "SKU,Name,Price\n1,Bolt,1\n2,Nut,1\n1,Bolt,1\n");
    for (row, other) in [("2", "4"), ("4", "2")] {
        let told = format!("keep one of them; the other is in row {other}");
        place.sheetport(["explain", "items.csv", "-t", "t.toml", "--row", row]).exits(3).shows(&[
            "The record would not be sent",
            &format!("row {row}: SKU '1' appears more than once"),
            &told,
        ]);
    }
    place.write("t.toml", ITEMS.replace("\"error\"", "\"last\""));
    place
        .sheetport(["explain", "items.csv", "-t", "t.toml", "--row", "2"])
        .exits(0)
        .shows(&["The record would be skipped", "row 2: SKU '1' appears more than once, and row 4 is used"]);
    place.sheetport(["explain", "items.csv", "-t", "t.toml", "--row", "4"]).exits(0).shows(&["\nRequest\n"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn explanation_matches_the_plan_of_grouped_records() {
    let place = Place::new();
    place.write(
        "orders.csv",
        "No,Customer,SKU,Qty\nA,c-1,a1,1\nB,c-2,b1,2\nA,,a2,1.5\nC,c-3,c1,x\nC,c-3,c2,1\nD,c-4,d1,1\nD,c-5,d2,1\nB,,b2,1\n,,e1,1\n",
    );
    for (rule, expected) in [
        (
            "",
            [
                "2 [2,4]",
                "3 rows-below",
                "4 [2,4]",
                "5 not-a-number",
                "6 not-a-number",
                "7 disagrees",
                "8 disagrees",
                "9 rows-below",
                "10 no-group",
            ],
        ),
        (
            "on_blank = \"above\"\n",
            [
                "2 [2,4]",
                "3 [3,9,10]",
                "4 [2,4]",
                "5 not-a-number",
                "6 not-a-number",
                "7 disagrees",
                "8 disagrees",
                "9 [3,9,10]",
                "10 [3,9,10]",
            ],
        ),
        (
            "rows = \"together\"\n",
            [
                "2 duplicate",
                "3 duplicate",
                "4 scattered duplicate",
                "5 not-a-number",
                "6 not-a-number",
                "7 disagrees",
                "8 disagrees",
                "9 scattered rows-below duplicate",
                "10 no-group",
            ],
        ),
    ] {
        place.write("t.toml", ORDERS.replace("[group]\n", &format!("[group]\n{rule}")));
        assert_eq!(explained(&place, "orders.csv", "t.toml", &[]).await, expected, "{rule}");
    }
    // Two groups may be called the same.
    let template = ORDERS.replace("by = \"No\"", "by = [\"No\", \"Customer\"]");
    place.write("t.toml", &template);
    place.write("orders.csv", "No,Customer,SKU,Qty\nA,c-1,a1,1\nA,c-2,a2,1\nA,c-1,a3,1\nB,c-1,b1,1\n");
    let expected = ["2 duplicate", "3 duplicate", "4 duplicate", "5 [5]"];
    assert_eq!(explained(&place, "orders.csv", "t.toml", &[]).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn explanation_matches_the_plan_of_several_sheets() {
    let place = Place::new();
    place.write("t.toml", ORDERS);
    let north: &[&str] = &["No|Customer|SKU|Qty", "A|c-1|a1|1", "B|c-2|b1|2"];
    let south: &[&str] = &["Shelf|SKU|Qty|No|Customer", "S1|a2|1|A|", "S2|c1|x|C|c-3"];
    workbook(&place, "orders.xlsx", &[("North", north), ("It's south", south)]);
    let all = ["--sheet", "*"];
    let expected = ["North!2 [2,2]", "North!3 [3]", "It's south!2 [2,2]", "It's south!3 not-a-number"];
    assert_eq!(explained(&place, "orders.xlsx", "t.toml", &all).await, expected);
    let explain = |row: &str| place.sheetport(["explain", "orders.xlsx", "-t", "t.toml", "--row", row]).args(all);
    // As a spreadsheet program writes it; and the column is that of the sheet itself.
    let said = explain("'It''s south'!3").arg("--json").exits(3).json();
    assert_eq!((&said["problems"][0]["column"], &said["problems"][0]["value"]), (&json!("C"), &json!("x")));
    explain("3").exits(0).shows(&["Row 3 of 'North'"]);
    explain("West!3").exits(2).says(&["row 3 of the sheet 'West'", "the file is read from: North, It's south"]);
    explain("North!9").exits(2).says(&["has no data in row 9 of the sheet 'North'"]);
    for wrong in ["0", "North!", "North!0", "x"] {
        explain(wrong).exits(2).says(&["expected a row number such as 17"]);
    }

    place.write("t.toml", ITEMS);
    let south: &[&str] = &["Price|SKU|Name", "1|1|Screw", "2|3|Pin"];
    workbook(&place, "items.xlsx", &[("North", &["SKU|Name|Price", "1|Bolt|1", "2|Nut|1"]), ("South", south)]);
    let expected = ["North!2 duplicate", "North!3 [3]", "South!2 duplicate", "South!3 [3]"];
    assert_eq!(explained(&place, "items.xlsx", "t.toml", &all).await, expected);
    let explain =
        |row: &str| place.sheetport(["explain", "items.xlsx", "-t", "t.toml", "--row", row]).args(all).exits(3);
    explain("2").shows(&["row 2 of 'North': SKU '1'", "the other is in row 2 of the sheet 'South'"]);
    explain("South!2").shows(&["row 2 of 'South': SKU '1'", "the other is in row 2 of the sheet 'North'"]);
}

#[test]
fn explanation_matches_the_dry_run() {
    let place = Place::new();
    for (template, sheet, rows) in [
        (ITEMS, "SKU,Name,Price\n1,\"Bolt \"\"x\"\" ü\",1.50\n2,Nut,0.10\n3,Pin,7\n", ["2", "3", "4"]),
        (ORDERS, "No,Customer,SKU,Qty\nA/1,c-1,a1,1\nB,c-2,b1,2\nA/1,,a2,1.5\nC,,c1,1\n", ["4", "3", "5"]),
    ] {
        place.write("t.toml", template);
        place.write("sheet.csv", sheet);
        let shown = place.sheetport(["upload", "sheet.csv", "-t", "t.toml", "--dry-run"]).exits(0).stdout;
        let shown: Vec<&str> = shown.lines().map(str::trim).collect();
        let first = shown.iter().position(|line| *line == "First requests").unwrap() + 1;
        for (row, planned) in rows.into_iter().zip(shown[first..].chunks(2)) {
            let said =
                place.sheetport(["explain", "sheet.csv", "-t", "t.toml", "--row", row, "--json"]).exits(0).json();
            let text = |name: &str| said["request"][name].as_str().unwrap().to_owned();
            let body: &Value = &said["request"]["body"];
            assert_eq!([format!("{} {}", text("method"), text("path")), body.to_string()], planned, "row {row}");
        }
    }
}

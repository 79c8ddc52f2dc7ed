//! Warnings: what is probably wrong is sent, and shown in summaries and reports.

use serde_json::Value;

use super::office;
use super::process::{Place, name};
use super::service::Served;
use super::{column, count, summary, table};

const TEMPLATE: &str = "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n\
    [fields.price]\ncolumn = \"Price\"\n[[rules]]\nrule = \"price < 100\"\n\
    severity = \"warning\"\nmessage = \"a high price\"\n";
const ROWS: &str = "SKU,Name,Price\nA,Bolt,5\nB,Nut,500\nC,Screw,free\nD,Rivet,900\n";

fn place() -> Place {
    let place = Place::new();
    place.write("t.toml", TEMPLATE);
    place.write("items.csv", ROWS);
    place
}

#[test]
fn warned_records_are_sent_and_counted() {
    let place = place();
    let served = Served::start(&place);
    let upload = ["upload", "items.csv", "-t", "t.toml"];
    let ended = served.sheetport(&place, upload.into_iter().chain(["--report", "out.csv", "--json"])).exits(3);
    let seen = summary(&ended);
    assert_eq!((count(&seen, "sent"), count(&seen, "rejected"), count(&seen, "warned")), (3, 1, 2), "{seen}");
    let warning = &seen["warnings"][0];
    assert_eq!((&warning["count"], &warning["rows"]), (&2.into(), &serde_json::json!([3, 5])));
    assert_eq!((&warning["column"], &warning["field"]), (&"C".into(), &"price".into()));
    assert_eq!(warning["message"], "is against a rule of the template: a high price");
    let report = table(&place.path("out.csv"));
    assert_eq!(column(&report, "sheetport_status"), ["sent", "sent", "rejected", "sent"]);
    let warnings = column(&report, "sheetport_warnings");
    assert_eq!((warnings[0], warnings[2]), ("", ""));
    assert!(warnings[1].starts_with("Price '500' is against a rule of the template: a high price"), "{warnings:?}");
    assert_eq!(column(&report, "sheetport_errors")[1], "");
    assert_eq!(column(&report, "sheetport_field"), ["", "price", "price", "price"]);
    place.sheetport(["report", "-o", "warned.csv", "--only", "warned"]).exits(0);
    assert_eq!(column(&table(&place.path("warned.csv")), "SKU"), ["B", "D"]);
    place.sheetport(["report", "-o", "problems.csv", "--only", "problems"]).exits(0);
    assert_eq!(column(&table(&place.path("problems.csv")), "SKU"), ["B", "C", "D"]);
}

#[test]
fn people_see_warnings_in_the_summary() {
    let place = place();
    let served = Served::start(&place);
    let ended = served.sheetport(&place, ["upload", "items.csv", "-t", "t.toml"]).exits(3);
    ended.shows(&["Warnings", "2 rows", "a high price", "2  warned", "probably wrong, but not held back"]);
    let resumed = served.sheetport(&place, ["resume"]).exits(3);
    resumed.shows(&["2  warned"]);
}

#[test]
fn workbooks_and_pages_show_warnings() {
    let place = place();
    let check = |report| place.sheetport(["check", "items.csv", "-t", "t.toml", "--report", report]).exits(3);
    check("out.xlsx");
    let seen = place.sheetport(["view", "out.xlsx", "--all-sheets", "--json"]).exits(0).json();
    let front = seen["sheets"][0]["rows"].to_string();
    for words in ["warned", "Warnings: what may be wrong", "a high price", "row 3", "row 5"] {
        assert!(front.contains(words), "{words}: {front}");
    }
    let row = &seen["sheets"][1]["rows"][2];
    assert!(row.to_string().contains("a high price"), "{row}");
    check("out.html");
    let html = std::fs::read_to_string(place.path("out.html")).unwrap();
    assert!(html.contains("<h2 id=\"warnings\">Warnings</h2>") && html.contains("data-cause=\"5000\""));
    let json = html.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: Value = serde_json::from_str(json).unwrap();
    let shown: Vec<_> =
        data["rows"].as_array().unwrap().iter().map(|row| (&row["row"], &row["faults"][0]["warns"])).collect();
    assert_eq!(serde_json::json!(shown), serde_json::json!([[3, true], [4, null], [5, true]]));
}

#[test]
fn a_report_with_warnings_can_be_sent_back() {
    let place = place();
    let served = Served::start(&place);
    served.sheetport(&place, ["upload", "items.csv", "-t", "t.toml", "--report", "out.xlsx"]).exits(3);
    place.write("again.csv", "");
    let retried = served.sheetport(&place, ["retry", "out.xlsx", "--json"]).exits(3);
    let seen = summary(&retried);
    assert_eq!((count(&seen, "unchanged"), count(&seen, "rejected"), count(&seen, "warned")), (3, 1, 0), "{seen}");
}

#[test]
fn unused_columns_with_amounts_are_warnings() {
    let place = Place::new();
    for (header, field) in
        [("Prix de vente TTC", "price"), ("Verkaufspreis netto", "price"), ("Prix d'achat HT", "purchasePrice")]
    {
        place.write("items.csv", format!("SKU,Name,{header}\nA,Bolt,5\n"));
        let seen = summary(&place.sheetport(["check", "items.csv", "-t", "items", "--json"]).exits(0));
        let warning = &seen["warnings"][0];
        assert_eq!((&warning["code"], &warning["field"]), (&"unused-column".into(), &field.into()), "{header}: {seen}");
        assert_eq!((&warning["column"], &warning["header"]), (&"C".into(), &header.into()));
    }
    for header in [
        "Netto",
        "Gross",
        "Dealer price",
        "Sale price",
        "MSRP",
        "RRP",
        "UVP",
        "Price ea",
        "Price / pc",
        "Preis neu",
        "Neupreis",
        "Preis ab 01.01.2026",
        "Basispreis",
        "Price GBX",
        "Preis in Rappen",
        "Rate",
    ] {
        place.write("items.csv", format!("SKU,Name,{header}\nA,Bolt,5\n"));
        let seen = summary(&place.sheetport(["check", "items.csv", "-t", "items", "--json"]).exits(0));
        assert_eq!(seen["warnings"][0]["code"], "unused-column", "{header}: {seen}");
    }
    for header in ["Price", "Weight", "Remark", "Stock"] {
        place.write("items.csv", format!("SKU,Name,{header}\nA,Bolt,5\n"));
        let seen = summary(&place.sheetport(["check", "items.csv", "-t", "items", "--json"]).exits(0));
        assert_eq!(seen["warnings"], serde_json::json!([]), "{header}");
    }
}

#[test]
fn unused_quantities_dates_and_currencies_are_warnings() {
    let place = Place::new();
    let warned = |template: &str, header: &str, row: &str| {
        place.write("in.csv", format!("{header}\n{row}\n"));
        let seen = summary(&place.sheetport(["check", "in.csv", "-t", template, "--json"]).run());
        let warnings = seen["warnings"].as_array().unwrap().iter();
        let unused =
            warnings.filter(|it| it["code"] == "unused-column").map(|it| it["field"].as_str().unwrap().to_owned());
        unused.collect::<Vec<_>>()
    };
    let order = "1,2026-01-02,i1,5,7.50";
    assert_eq!(
        warned("orders", "Order no.,Document date,Item no.,Menge (Stk),Unit price", order),
        ["orderAt", "quantity"]
    );
    assert_eq!(warned("orders", "Order no.,Order date,Item no.,Pieces,Unit price", order), ["quantity"]);
    assert!(warned("orders", "Order no.,Order date,Item no.,Qty ordered,Unit price", order).is_empty());
    assert_eq!(warned("items", "SKU,Name,Price,Ccy", "A,Bolt,5,EUR"), ["currency"]);
    assert!(
        warned("items", "SKU,Name,Price,Weight,Min qty,Created at,Updated at", "A,Bolt,5,1.5,1,2026-01-02,2026-01-02")
            .is_empty()
    );
    assert_eq!(warned("transactions", "Movement date,Type,Stock,Qty", "2026-01-02,in,L1,5"), ["transactionDate"]);
}

#[test]
fn a_quantity_that_looks_like_money_is_a_warning() {
    let place = Place::new();
    let warned = |amounts: [&str; 2]| {
        let [one, two] = amounts;
        place.write("in.csv", format!("Contract no.,Customer ID,Item ID,Amount\n1,c,i,{one}\n2,c,i,{two}\n"));
        let seen = summary(&place.sheetport(["check", "in.csv", "-t", "subscriptions", "--json"]).exits(0));
        seen["warnings"].as_array().unwrap().iter().any(|it| it["code"] == "money-as-quantity")
    };
    assert!(warned(["29.90", "59.80"]) && warned(["29.00", "9.80"]));
    assert!(!warned(["2.5", "59.80"]) && !warned(["2", "3"]) && !warned(["2.00", "3.00"]));
}

#[test]
fn a_guess_at_a_code_page_of_dos_is_a_warning() {
    let place = Place::new();
    // "Größe", "Stück", "Müller" and "Käse" in code page 850.
    place.write("dos.csv", b"SKU,Name,Price\n1,Gr\x94\xE1e,5\n2,St\x81ck,6\n3,M\x81ller,7\n4,K\x84se,8\n");
    let seen = summary(&place.sheetport(["check", "dos.csv", "-t", "items", "--json"]).exits(0));
    let warning = seen["warnings"].as_array().unwrap().iter().find(|warning| warning["value"] == "IBM850");
    assert!(warning.is_some_and(|warning| warning["message"].as_str().unwrap().contains("DOS")), "{seen}");
    let told = place.sheetport(["check", "dos.csv", "-t", "items", "--encoding", "cp850", "--json"]).exits(0);
    assert_eq!(count(&summary(&told), "warned"), 0);
    assert!(!summary(&told).to_string().contains("DOS"));
}

#[test]
fn lines_and_transactions_that_name_nothing_are_warnings() {
    let place = Place::new();
    let warnings = |template: &str, text: &str| {
        place.write("rows.csv", text);
        let seen = summary(&place.sheetport(["check", "rows.csv", "-t", template, "--json"]).exits(0));
        let warnings = seen["warnings"].as_array().expect("warnings").iter();
        let shown = warnings
            .map(|warning| serde_json::json!([warning["code"], warning["field"], warning["rows"], warning["remedy"]]));
        Value::Array(shown.collect())
    };
    let fix = |fields: &str| format!("fill in {fields}; without it, the service may refuse the record");
    let line = serde_json::json!([["incomplete", "itemExternalId", [3], fix("item_id or itemExternalId")]]);
    assert_eq!(warnings("orders", "Order no,Item no.,Qty\n1,A,2\n1,,3\n2,B,1\n"), line);
    assert_eq!(warnings("orders", "Order no,Item no.,Item ID,Qty\n1,A,,2\n1,,x,3\n"), serde_json::json!([]));
    assert_eq!(warnings("orders", "Order no,Item no.,Delivery status\n1,,shipped\n"), serde_json::json!([]), "no line");
    let inventory = fix("inventoryId or inventoryExternalId");
    assert_eq!(
        warnings("transactions", "Stock,Movement,Quantity\nL1,in,5\n,in,3\n"),
        serde_json::json!([["incomplete", "inventoryExternalId", [3], inventory]])
    );
    let update = "Transaction ID,Movement,Quantity\n019a3c00-0006-7000-8000-000000000001,in,5\n";
    assert_eq!(warnings("transactions", update), serde_json::json!([]), "an update keeps its inventory");
}

/// Writes a workbook of six items with a hidden price, and with merged cells in the columns C and E.
fn write_merged(place: &Place, file: &str, merged: &[(u32, u32, u16, &str)]) {
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    for (column, title) in (0..).zip(["SKU", "Name", "Description", "Price", "Shelf"]) {
        sheet.write_string(0, column, title).unwrap();
    }
    for row in 1..=6 {
        sheet.write_string(row, 0, format!("A-{row}")).unwrap().write_string(row, 1, "Bolt").unwrap();
        sheet.write_number(row, 3, 1.5).unwrap();
    }
    sheet.set_column_hidden(3).unwrap();
    for (first, last, column, text) in merged {
        sheet.merge_range(*first, *column, *last, *column, text, &rust_xlsxwriter::Format::new()).unwrap();
    }
    workbook.save(place.path(file)).unwrap();
}

#[test]
fn merged_cells_and_hidden_columns_are_remarked_in_every_kind_of_workbook() {
    let place = Place::new();
    // A shelf is not sent, and the last cells are below the last record.
    let merged = [(1, 3, 2, "Steel"), (5, 6, 2, "Brass"), (1, 6, 4, "7"), (8, 9, 2, "")];
    write_merged(&place, "merged.xlsx", &merged);
    let mut files = vec![place.path("merged.xlsx")];
    if office::is_there() {
        for format in ["xls", "ods", "fods"] {
            files.push(office::save_again(&place, &place.path("merged.xlsx"), format).join(format!("merged.{format}")));
        }
    }
    place.write("t.toml", "extends = \"items\"\n[sheet]\nfill_down = [\"Description\"]\n");
    let warnings = |file: &str, template: &str| -> Vec<String> {
        let checked = place.sheetport(["check", file, "-t", template, "--json"]).run().json();
        let text = |warning: &Value, key: &str| warning[key].as_str().unwrap_or_default().to_owned();
        let shown = |warning: &Value| ["code", "column", "value", "field"].map(|key| text(warning, key)).join(" ");
        checked["warnings"].as_array().unwrap().iter().map(shown).collect()
    };
    for file in files {
        let expected = ["hidden-columns D D price", "merged-cells C C2:C4, C6:C7 description"];
        assert_eq!(warnings(name(&file), "items"), expected, "{}", file.display());
        assert_eq!(warnings(name(&file), "t.toml"), expected[..1], "{}", file.display());
    }
}

#[test]
fn cells_merged_over_columns_and_columns_without_width_are_remarked() {
    let place = Place::new();
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    for (column, title) in (0..).zip(["SKU", "Name", "Description", "Price"]) {
        sheet.write_string(0, column, title).unwrap();
    }
    for row in 1..=3 {
        sheet.write_string(row, 0, format!("A-{row}")).unwrap().write_number(row, 3, 1.5).unwrap();
        sheet.write_string(row, 1, "Bolt").unwrap().write_string(row, 2, "Steel").unwrap();
    }
    sheet.set_column_width(3, 0).unwrap();
    let format = rust_xlsxwriter::Format::new();
    sheet.merge_range(2, 1, 2, 2, "Nut", &format).unwrap();
    // A heading over the whole table.
    sheet.merge_range(4, 0, 4, 3, "Brass", &format).unwrap();
    sheet.write_string(5, 0, "A-6").unwrap().write_string(5, 1, "Cog").unwrap();
    workbook.save(place.path("across.xlsx")).unwrap();
    let checked = place.sheetport(["check", "across.xlsx", "-t", "items", "--json"]).run().json();
    let warnings = checked["warnings"].as_array().unwrap();
    let of = |code: &str| warnings.iter().find(|warning| warning["code"] == code).unwrap_or(&Value::Null).clone();
    assert_eq!(
        (&of("merged-cells")["value"], &of("merged-cells")["column"]),
        (&"B3:C3".into(), &"B".into()),
        "{checked}"
    );
    assert_eq!(of("hidden-columns")["column"], "D", "{checked}");
}

#[test]
fn merged_cells_matter_if_records_lack_their_value() {
    let place = Place::new();
    write_merged(&place, "one.xlsx", &[(2, 4, 2, "Steel")]);
    let warned = ["C3:C5", "are merged cells: only row 3 has the value", "fill_down", "D", "is a hidden column"];
    place.sheetport(["check", "one.xlsx", "-t", "items"]).exits(0).shows(&warned);
    let chosen = |rows: &str| {
        let checked =
            place.sheetport(["upload", "one.xlsx", "-t", "items", "--dry-run", "--rows", rows, "--json"]).run().json();
        checked["warnings"].as_array().unwrap().iter().any(|warning| warning["code"] == "merged-cells")
    };
    assert_eq!(["2-3", "4-4", "5-7", "6-7"].map(chosen), [false, true, true, false]);
    let ranges: Vec<_> = (0..3).map(|index| (2 * index + 1, 2 * index + 2, 2, "Steel")).collect();
    write_merged(&place, "several.xlsx", &ranges);
    let warned = ["C2:C3, C4:C5, C6:C7", "are merged cells: only the first row of each has the value"];
    place.sheetport(["check", "several.xlsx", "-t", "items"]).exits(0).shows(&warned);
    place.write(
        "page.html",
        "<table><tr><th>SKU<th>Name<th>Price<tr><td>A<td rowspan=2>Bolt<td>1<tr><td>B<td>2</table>",
    );
    place.sheetport(["check", "page.html", "-t", "items"]).exits(0).shows(&["B2:B3", "only row 2 has the value"]);
    // All rows of an order have its customer.
    place.write(
        "t.toml",
        "extends = \"orders\"\n[fields.companyId]\ncolumn = \"Customer\"\n[group]\nby = \"Order no\"\non_blank = \"above\"\n",
    );
    let order = "<tr><td rowspan=2>O1<td rowspan=SPAN>c1<td>i1<td>1<tr><td>i2<td>2<tr><td>O2NEXT<td>i1<td>4";
    for (span, next, ranges) in [("2", "<td>c2", &[][..]), ("3", "", &["B2:B4"][..])] {
        let rows = order.replace("SPAN", span).replace("NEXT", next);
        place.write("page.html", format!("<table><tr><th>Order no<th>Customer<th>Item ID<th>Quantity{rows}</table>"));
        let checked = place.sheetport(["check", "page.html", "-t", "t.toml", "--json"]).run().json();
        let warnings = checked["warnings"].as_array().unwrap().iter();
        assert_eq!(warnings.map(|warning| warning["value"].as_str().unwrap()).collect::<Vec<_>>(), ranges, "{checked}");
    }
}

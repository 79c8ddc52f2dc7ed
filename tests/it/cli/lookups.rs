//! Lookup tables next to a template: found relative to its folder, or refused with the position in the template.

use rust_xlsxwriter::Workbook;

use super::accounting;
use super::process::Place;
use super::service::Served;

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

#[test]
fn other_values_are_rejected_kept_or_replaced() {
    let place = Place::new();
    place.write("items.csv", "SKU,Cur,Active\n1,euro,yes\n2,CHF,perhaps\n");
    let sent = |map: &str, active: &str| {
        let head = "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.currency]\ncolumn = \"Cur\"\n\
                    map = { Euro = \"EUR\" }\n";
        let status = "[fields.status]\ncolumn = \"Active\"\nmap = { yes = \"active\" }\n";
        place.write("t.toml", format!("{head}{map}\n{status}{active}\n"));
        place.sheetport(["explain", "items.csv", "-t", "t.toml", "--row", "3", "--json"]).run().json()
    };
    let both = sent("otherwise = \"keep\"", "otherwise = \"archived\"");
    assert_eq!(both["request"]["body"]["currency"], "CHF");
    assert_eq!(both["request"]["body"]["status"], "archived");
    let refused = sent("otherwise = \"error\"", "otherwise = \"keep\"");
    assert_eq!(refused["problems"][0]["code"], "unknown-value");
    place.write("t.toml", TEMPLATE.replace("lookup = {", "otherwise = \"keep\"\n#"));
    place
        .sheetport(["template", "check", "t.toml"])
        .exits(2)
        .says(&["otherwise is for a map or a lookup", "t.toml:6:13"]);
}

const BY_SHEET: &str = "\
record = \"item\"
[sheet]
locale = \"de\"
[fields.externalId]
column = \"SKU\"
[fields.price]
columns = [\"SKU\", \"Region\"]
lookup = { sheet = \"Prices\", from = [\"Article\", \"Country\"], to = \"Price\" }
";

/// Writes a workbook with items, and their prices by country in another sheet.
fn write_workbook(place: &Place) {
    let mut book = Workbook::new();
    let items = book.add_worksheet().set_name("Items").unwrap();
    for (row, cells) in [["SKU", "Region"], ["A", "EU"], ["A", "us"], ["B", "EU"]].iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            items.write(row as u32, column as u16, *cell).unwrap();
        }
    }
    let prices = book.add_worksheet().set_name("Prices").unwrap();
    for (row, (article, country, price)) in [("A", "EU", 1.234), ("A", "US", 1.5)].iter().enumerate() {
        let row = row as u32 + 1;
        prices.write(row, 0, *article).unwrap();
        prices.write(row, 1, *country).unwrap();
        prices.write(row, 2, *price).unwrap();
    }
    for (column, name) in ["Article", "Country", "Price"].iter().enumerate() {
        prices.write(0, column as u16, *name).unwrap();
    }
    book.save(place.path("items.xlsx")).unwrap();
}

#[test]
fn a_table_in_another_sheet_is_compared_by_several_columns_and_keeps_its_numbers() {
    let place = Place::new();
    write_workbook(&place);
    place.write("t.toml", BY_SHEET);
    let sent = |row: &str| {
        place
            .sheetport(["explain", "items.xlsx", "-t", "t.toml", "--sheet", "Items", "--row", row, "--json"])
            .run()
            .json()
    };
    assert_eq!(sent("2")["fields"][1]["value"].to_string(), "1.234", "a number is not read as German text");
    assert_eq!(sent("3")["fields"][1]["value"].to_string(), "1.5", "case does not matter");
    assert_eq!(sent("4")["fields"][1]["problem"]["message"], "is not in the lookup table");
    place.write("items.csv", "SKU,Region\nA,EU\n");
    place.sheetport(["check", "items.csv", "-t", "t.toml"]).exits(2).says(&["lookup of price in the sheet 'Prices'"]);
    place.write("t.toml", BY_SHEET.replace("columns = [\"SKU\", \"Region\"]", "column = \"SKU\""));
    let refused = place.sheetport(["template", "check", "t.toml"]).exits(2);
    refused.says(&["the lookup compares 2 columns, but the field has 1", "t.toml:8:"]);
}

#[test]
fn a_retry_reads_the_table_from_the_original_workbook() {
    let place = Place::new();
    write_workbook(&place);
    place.write("t.toml", BY_SHEET);
    let served = Served::start(&place);
    served
        .sheetport(&place, ["upload", "items.xlsx", "-t", "t.toml", "--sheet", "Items", "-q", "--report", "r.csv"])
        .exits(3);
    place.write("r.csv", std::fs::read_to_string(place.path("r.csv")).unwrap().replace("B,EU", "A,US"));
    let report = std::fs::read_to_string(place.path("r.csv")).unwrap();
    assert!(report.contains("A,US"), "{report}");
    let again = served.sheetport(&place, ["retry", "r.csv", "--dry-run", "--json"]).run();
    assert!(matches!(again.code, Some(0 | 3)), "{again:?}");
    std::fs::remove_file(place.path("items.xlsx")).unwrap();
    served.sheetport(&place, ["retry", "r.csv", "--dry-run"]).exits(2).says(&["lookup of price in the sheet 'Prices'"]);
}

#[test]
fn tables_outside_the_folder_of_the_template_need_a_permission() {
    let place = place();
    std::fs::create_dir_all(place.path("mine/tables")).unwrap();
    place.write("secret.csv", "Word,Code\nEuro,EUR\ndollar,USD\nYenn,JPY\n");
    let absolute = place.path("secret.csv").display().to_string();
    let check = |file: &str, extra: &[&str]| {
        place.write("mine/t.toml", TEMPLATE.replace("tables/cur.csv", file));
        place.sheetport(["check", "items.csv", "-t", "mine/t.toml"]).args(extra).run()
    };
    #[cfg(unix)]
    std::os::unix::fs::symlink(place.path("secret.csv"), place.path("mine/link.csv")).unwrap();
    for file in ["../secret.csv", "tables/../../secret.csv", &absolute, "link.csv"] {
        if cfg!(windows) && (file == "link.csv" || file == absolute) {
            continue;
        }
        check(file, &[]).exits(2).says(&["outside of the folder of the template", "--allow-lookup"]);
        let seen = check(file, &["--allow-lookup", "."]).exits(0);
        assert!(seen.stdout.contains("--allow-lookup ."), "{}", seen.stdout);
        seen.shows(&["lookup tables:", file]);
    }
    check("tables", &[]).exits(2).says(&["not a file"]);
    if cfg!(unix) {
        check("/proc/self/environ", &[]).exits(2).says(&["outside"]);
        check("/dev/zero", &["--allow-lookup", "/dev"]).exits(2).says(&["not a file"]);
    }
}

#[test]
fn extended_templates_outside_the_folder_need_a_permission() {
    let place = place();
    for folder in ["mine/base", "secret"] {
        std::fs::create_dir_all(place.path(folder)).unwrap();
    }
    place.write("mine/tables/cur.csv", "Word,Code\nEuro,EUR\ndollar,USD\nYenn,JPY\n");
    place.write("secret/key.pem", "-----BEGIN a-secret-line\n");
    place.write("base.toml", TEMPLATE.replace("tables/cur.csv", "mine/tables/cur.csv"));
    place.write("mine/base/inner.toml", "extends = \"../../base.toml\"\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink(place.path("secret/key.pem"), place.path("mine/link.toml")).unwrap();
    let check = |file: &str, extra: &[&str]| {
        place.write("mine/t.toml", format!("extends = '{file}'\n"));
        place.sheetport(["check", "items.csv", "-t", "mine/t.toml"]).args(extra).run()
    };
    let absolute = place.path("secret/key.pem").display().to_string();
    for file in ["../secret/key.pem", "base/../../secret/key.pem", &absolute, "link.toml", "base/inner.toml"] {
        if cfg!(windows) && file == "link.toml" {
            continue;
        }
        let ended = check(file, &[]).exits(2).says(&["outside of the folder of the template", "--allow-lookup"]);
        assert!(!ended.stderr.contains("a-secret-line"), "{}", ended.stderr);
    }
    let seen = check("base/inner.toml", &["--allow-lookup", "."]).exits(0);
    assert!(seen.stdout.contains("--allow-lookup ."), "{}", seen.stdout);
    let network = check("//server/share/t.toml", &[]).exits(2).says(&["outside of the folder of the template"]);
    assert!(!network.stderr.contains("No such file"), "{}", network.stderr);
}

#[test]
fn a_retry_uses_the_tables_of_its_run() {
    let place = place();
    let served = Served::start(&place);
    place.write("mine/tables/cur.csv", "Word,Code\nEuro,EUR\nDollar,USD\n");
    // Beside the file and in the folder of the retry, with other values.
    std::fs::create_dir_all(place.path("other/tables")).unwrap();
    for folder in ["tables", "other/tables", "other/mine/tables"] {
        std::fs::create_dir_all(place.path(folder)).unwrap();
        place.write(&format!("{folder}/cur.csv"), "Word,Code\nEuro,GBP\nDollar,GBP\n");
    }
    served.sheetport(&place, ["upload", "items.csv", "-t", "mine/t.toml", "--report", "r.csv"]).exits(3);
    let fixed = std::fs::read_to_string(place.path("r.csv")).unwrap().replace("Yenn", "Euro");
    place.write("other/r.csv", fixed);
    let retry =
        || served.sheetport(&place, ["retry", "r.csv", "--report", "again.csv"]).current_dir(place.path("other"));
    place.write("mine/tables/cur.csv", "Word,Code\nEuro,CHF\nDollar,USD\n");
    retry().exits(2).says(&["cur.csv has changed since the run has read it", "-t TEMPLATE"]);
    place.write("mine/tables/cur.csv", "Word,Code\nEuro,EUR\nDollar,USD\n");
    retry().exits(0);
    let items = served.get("/v1/public/items?page=1&limit=10");
    let currencies: Vec<&str> =
        items["data"].as_array().unwrap().iter().map(|item| item["currency"].as_str().unwrap()).collect();
    assert_eq!(currencies.iter().filter(|code| **code == "EUR").count(), 2, "{currencies:?}");
}

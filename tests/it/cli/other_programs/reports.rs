//! Reports of every kind of record, saved again by each program: a retry of such a file does what a retry of the untouched
//! report does.

use std::fs;
use std::path::{Path, PathBuf};

use rust_xlsxwriter::{ExcelDateTime, Format, Workbook};

use super::super::process::{Place, name};
use super::super::service::Served;
use super::super::{accounting, column, count, sample, summary, table};
use super::check_and_save_again;
use super::hostile_texts::{fragile_texts, hostile_texts};
use super::programs::Programs;

/// The service refuses some requests of an upload and does not answer others; it takes all requests of a retry.
const REFUSING: [&str; 4] = ["--fail", "422:0.3,reset:0.15", "--seed", "5"];
const ITEMS: &str = r#"
record = "item"
[sheet]
skip_where = 'Name == "Skipped"'
[fields.externalId]
column = "SKU"
[fields.name]
column = "Name"
[fields.description]
column = "Text"
[fields.price]
column = "Price"
[fields.currency]
column = "Currency"
allowed = ["EUR", "USD"]
[[rules]]
rule = "price < 100"
severity = "warning"
message = "a high price"
"#;

/// A file to upload, and its template.
struct Upload {
    file: &'static str,
    template: &'static str,
}

/// What a retry did: its accounting, and the state and messages of each row.
#[derive(Debug)]
struct Outcome {
    accounting: String,
    warned: u64,
    rows: Vec<[String; 3]>,
}

impl Outcome {
    /// Returns a line for the accounting and for each row that differ.
    fn differences(&self, other: &Outcome) -> impl Iterator<Item = String> {
        let totals = [(&self.accounting, self.warned), (&other.accounting, other.warned)];
        let totals = (totals[0] != totals[1]).then(|| format!("{totals:?}"));
        let count = format!("{} and {} rows", self.rows.len(), other.rows.len());
        let count = (self.rows.len() != other.rows.len()).then_some(count);
        let rows = self.rows.iter().zip(&other.rows).filter(|(one, other)| one != other);
        totals.into_iter().chain(count).chain(rows.map(|rows| format!("{rows:?}")).collect::<Vec<_>>())
    }
}

/// Returns the rows of a sample with a column of texts, and with wrong values, also in the last row.
fn sample_rows(kind: &str, right: &str) -> Vec<Vec<String>> {
    let mut rows = table(&sample(&format!("{kind}.csv")));
    let texts: Vec<String> = hostile_texts().into_iter().chain(fragile_texts()).collect();
    let wrong = rows[0].iter().position(|header| header == right).unwrap();
    let last = rows.len() - 1;
    for (number, row) in rows.iter_mut().enumerate() {
        if number > 0 && (number % 11 == 0 || number == last) {
            row[wrong] = format!("about {}, but see the {}", row[wrong], "long explanation ".repeat(10));
        }
        row.push(if number == 0 { "Remark".to_owned() } else { texts[number % texts.len()].clone() });
    }
    rows
}

fn write_csv(place: &Place, file: &str, rows: &[Vec<String>]) {
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().for_each(|row| writer.write_record(row).unwrap());
    place.write(file, writer.into_inner().unwrap());
}

/// Writes rows as a workbook with dates, percentages and amounts of money.
fn write_typed(place: &Place, file: &str, rows: &[Vec<String>]) {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    let format = |number_format: &str| Format::new().set_num_format(number_format);
    let (day, percent, money) = (format("dd.mm.yyyy"), format("0%"), format("#,##0.00 [$EUR]"));
    for (row, cells) in (0..).zip(rows) {
        for (column, cell) in (0..).zip(cells) {
            let header = rows[0][usize::from(column)].as_str();
            match (header, cell.parse::<f64>()) {
                ("Order date", _) if row > 0 => {
                    let date = ExcelDateTime::parse_from_str(cell).unwrap();
                    sheet.write_datetime_with_format(row, column, date, &day).unwrap()
                }
                ("VAT %", Ok(rate)) => sheet.write_number_with_format(row, column, rate / 100.0, &percent).unwrap(),
                ("Unit price", Ok(price)) => sheet.write_number_with_format(row, column, price, &money).unwrap(),
                ("Quantity", Ok(quantity)) => sheet.write_number(row, column, quantity).unwrap(),
                _ if cell.encode_utf16().count() > 32_767 => continue,
                _ => sheet.write_string(row, column, cell).unwrap(),
            };
        }
    }
    workbook.save(place.path(file)).unwrap();
}

/// Writes items with every hostile text.
fn write_items(place: &Place, file: &str) {
    let texts: Vec<String> = hostile_texts().into_iter().chain(fragile_texts()).collect();
    let mut rows = vec![["SKU", "Name", "Text", "Price", "Currency", "Remark"].map(str::to_owned).to_vec()];
    for (number, text) in texts.iter().enumerate() {
        let name = if number % 9 == 8 { "Skipped".to_owned() } else { format!("Item {number}") };
        let price = match number % 5 {
            0 => "free of charge".to_owned(),
            1 => "120.50".to_owned(),
            _ => format!("{number}.50"),
        };
        // The cut texts of the column can be restored. Of others, a program may change one or the other.
        let is_fragile = fragile_texts().contains(text) && text.len() < 32_767;
        let mapped = if is_fragile { "plain" } else { text };
        rows.push(vec![format!("{number:05}"), name, mapped.to_owned(), price, "EUR".to_owned(), text.clone()]);
    }
    // The last row is the longest of the sheet.
    let wrong = ["99999", "Last", "x", &"far too long to be a price ".repeat(20), "Yen, or as agreed", "'"];
    rows.push(wrong.map(str::to_owned).to_vec());
    write_csv(place, file, &rows);
}

fn write_wide(place: &Place, file: &str) {
    let header = ["SKU", "Name", "Price", "Currency"].map(str::to_owned).into_iter();
    let header: Vec<String> = header.chain((5..=3_000).map(|number| format!("Column {number}"))).collect();
    let row = |sku: &str, price: &str| {
        let cells = [sku, "Wide", price, "EUR"].map(str::to_owned).into_iter();
        cells
            .chain((5..=3_000).map(|number| if number % 7 == 0 { format!("{number:05}") } else { String::new() }))
            .collect()
    };
    let rows = (1..=16).map(|number| row(&number.to_string(), if number % 4 == 0 { "free" } else { "1.50" }));
    write_csv(place, file, &std::iter::once(header).chain(rows).collect::<Vec<_>>());
}

/// Copies the ledger, so that each retry is the first.
fn copy_home(place: &Place, home: &str) {
    fs::create_dir(place.path(home)).unwrap();
    for entry in fs::read_dir(place.path("home")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), place.path(home).join(entry.file_name())).unwrap();
        }
    }
}

#[track_caller]
fn retry(place: &Place, served: &Served, file: &Path, home: &str) -> Outcome {
    copy_home(place, home);
    let report = format!("{home}.csv");
    let folder = place.path(home);
    let retry = served.sheetport(place, ["retry", name(file), "--json"]).env("SHEETPORT_HOME", name(&folder));
    let retry = retry.csv_report(&report).run();
    assert!([Some(0), Some(3)].contains(&retry.code), "{home}: {retry:?}");
    let summary = summary(&retry);
    let report = table(&place.path(&report));
    let columns = ["sheetport_status", "sheetport_errors", "sheetport_warnings"].map(|name| column(&report, name));
    let rows = (0..report.len() - 1).map(|row| [0, 1, 2].map(|of| columns[of][row].to_owned())).collect();
    Outcome { accounting: accounting(&summary), warned: count(&summary, "warned"), rows }
}

/// Returns the items that the service has, without the times of their last change.
fn items(served: &Served) -> Vec<String> {
    let listed = served.get("/v1/public/items?page=1&limit=500");
    let item = |item: &serde_json::Value| {
        let mut item = item.clone();
        item.as_object_mut().unwrap().remove("updated_at");
        item.to_string()
    };
    let mut items: Vec<String> = listed["data"].as_array().unwrap().iter().map(item).collect();
    items.sort();
    items
}

/// Uploads the files, has each program save the reports again, and compares the retries of all. Returns the number of
/// records whose outcome is unknown.
fn compare(programs: &Programs, place: &Place, uploads: &[Upload]) -> u64 {
    let refusing = Served::demo_with(place, 0, &REFUSING);
    let port = refusing.port();
    let (mut reports, mut unknown): (Vec<PathBuf>, u64) = (Vec::new(), 0);
    for Upload { file, template } in uploads {
        let upload = ["upload", file, "-t", template, "--json", "--yes", "--concurrency", "1"];
        let upload = summary(&refusing.sheetport(place, upload).run());
        for state in ["sent", "rejected", "failed"] {
            assert_ne!(count(&upload, state), 0, "{file}: {upload}");
        }
        unknown += count(&upload, "unknown");
        let report = PathBuf::from(upload["report"].as_str().unwrap());
        assert!(report.extension().unwrap() == "xlsx");
        reports.push(report);
    }
    drop(refusing);
    let served = Served::demo_with(place, port, &[]);
    let saved = check_and_save_again(programs, place, &reports);
    let mut differences = Vec::new();
    for report in &reports {
        let stem = report.file_stem().unwrap().to_str().unwrap();
        let untouched = retry(place, &served, report, &format!("untouched-{stem}"));
        assert!(untouched.accounting.contains("sent "), "{untouched:?}");
        let items_then = items(&served);
        for (program, folder) in &saved {
            let file = folder.join(report.file_name().unwrap());
            let again = retry(place, &served, &file, &format!("{program:?}-{stem}"));
            differences.extend(untouched.differences(&again).map(|line| format!("{program:?}, {stem}: {line}")));
            let changed = items(&served).into_iter().zip(&items_then).find(|(item, then)| item != *then);
            differences
                .extend(changed.map(|(item, then)| format!("{program:?}, {stem}: sent {item} instead of {then}")));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    unknown
}

#[test]
fn reports_of_items_survive_other_programs() {
    let Some(programs) = Programs::find() else { return };
    let place = Place::new();
    place.write("t.toml", ITEMS);
    write_items(&place, "items.csv");
    write_wide(&place, "wide.csv");
    let of = |file| Upload { file, template: "t.toml" };
    place.write("wide.toml", ITEMS.replace("column = \"Text\"", "column = \"Column 14\""));
    compare(&programs, &place, &[of("items.csv"), Upload { file: "wide.csv", template: "wide.toml" }]);
}

#[test]
fn reports_of_other_records_survive_other_programs() {
    let Some(programs) = Programs::find() else { return };
    let place = Place::new();
    for (kind, amounts) in
        [("orders", "Quantity"), ("invoices", "Amount"), ("subscriptions", "Amount"), ("transactions", "Quantity")]
    {
        write_csv(&place, &format!("{kind}.csv"), &sample_rows(kind, amounts));
    }
    let uploads = [
        Upload { file: "orders.csv", template: "orders" },
        Upload { file: "invoices.csv", template: "invoices" },
        Upload { file: "subscriptions.csv", template: "subscriptions" },
        Upload { file: "transactions.csv", template: "transactions" },
    ];
    let unknown = compare(&programs, &place, &uploads);
    // In a ledger of its own: it has the same orders.
    let place = Place::new();
    write_typed(&place, "typed.xlsx", &sample_rows("orders", "Quantity"));
    let unknown = unknown + compare(&programs, &place, &[Upload { file: "typed.xlsx", template: "orders" }]);
    // Which requests fail depends on their number, and so on the time that they take.
    assert_ne!(unknown, 0);
}

//! Values arrive as they were in the sheet, or are refused: random tables in random formats and locales.

use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{TestCaseError, TestRunner};
use rust_decimal::Decimal;
use rust_xlsxwriter::{Format, Workbook};
use sheetport_ledger::Disposition;
use sheetport_mapping::load::{load, no_tables};
use sheetport_plan::Source;
use sheetport_plan::plan::{ReadMode, read};
use sheetport_sheet::Options;
use tempfile::TempDir;

use crate::environment;

/// Names, group separators and decimal separators.
const LOCALES: &[(&str, &str, &str)] = &[
    ("en", ",", "."),
    ("de", ".", ","),
    ("fr", "\u{202f}", ","),
    ("sv", "\u{a0}", ","),
    ("de-CH", "'", "."),
    ("nl", ".", ","),
];
const TEMPLATES: [&str; 3] = [
    "[fields.price]\ncolumn = \"Price\"\n",
    "[fields.price]\ntext = \"{{ Price }}\"\n",
    "[fields.price]\ncolumns = [\"Price\", \"Nothing\"]\njoin = \" \"\n",
];

#[derive(Clone, Copy, Debug)]
enum Written {
    Csv,
    /// Numbers of a workbook.
    Numbers,
    /// Numbers with a currency format.
    Money,
    /// Texts of a workbook.
    Texts,
}

#[derive(Clone, Debug)]
struct Table {
    prices: Vec<Decimal>,
    locale: usize,
    written: Written,
    /// Whether the template names the locale of the sheet.
    is_declared: bool,
    grouped: Vec<bool>,
    currency: &'static str,
    template: usize,
}

fn tables() -> impl Strategy<Value = Table> {
    let price = (0_i64..9_999_999, 0_u32..=4).prop_map(|(digits, scale)| Decimal::new(digits, scale));
    let written = prop_oneof![
        3 => Just(Written::Csv),
        1 => Just(Written::Numbers),
        1 => Just(Written::Money),
        1 => Just(Written::Texts)
    ];
    let currency = prop_oneof![Just(""), Just(" €"), Just(" EUR")];
    let cells = (prop::collection::vec(price, 1..8), prop::collection::vec(any::<bool>(), 8));
    (cells, 0..LOCALES.len(), written, any::<bool>(), currency, 0..TEMPLATES.len()).prop_map(
        |((prices, grouped), locale, written, is_declared, currency, template)| Table {
            prices,
            locale,
            written,
            is_declared,
            grouped,
            currency,
            template,
        },
    )
}

impl Table {
    /// Writes a number as in the locale.
    fn text(&self, index: usize) -> String {
        let (_, group, decimal) = LOCALES[self.locale];
        let digits = self.prices[index].to_string();
        let (whole, fraction) =
            digits.split_once('.').map_or((digits.as_str(), None), |(whole, rest)| (whole, Some(rest)));
        let groups: Vec<&str> =
            whole.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap()).collect();
        let whole = groups.join(if self.grouped[index] { group } else { "" });
        format!(
            "{whole}{}{}",
            fraction.map(|fraction| format!("{decimal}{fraction}")).unwrap_or_default(),
            self.currency
        )
    }

    fn save(&self, folder: &Path) -> PathBuf {
        let rows = (0..self.prices.len()).map(|index| (format!("A-{index}"), self.text(index)));
        if let Written::Csv = self.written {
            let delimiter = if LOCALES[self.locale].2 == "," { ";" } else { "," };
            let lines = rows.map(|(sku, price)| format!("{sku}{delimiter}\"{price}\"{delimiter}\n"));
            let path = folder.join("prices.csv");
            let header = ["SKU", "Price", "Nothing"].join(delimiter);
            std::fs::write(&path, header + "\n" + &lines.collect::<String>()).unwrap();
            return path;
        }
        let path = folder.join("prices.xlsx");
        let mut workbook = Workbook::new();
        let sheet = workbook.add_worksheet();
        for (column, name) in (0..).zip(["SKU", "Price", "Nothing"]) {
            sheet.write_string(0, column, name).unwrap();
        }
        let money = Format::new().set_num_format("#,##0.00 [$€-407]");
        for ((row, (sku, price)), number) in (1..).zip(rows).zip(&self.prices) {
            sheet.write_string(row, 0, sku).unwrap();
            let number = f64::try_from(*number).unwrap();
            match self.written {
                Written::Numbers => sheet.write_number(row, 1, number).unwrap(),
                Written::Money => sheet.write_number_with_format(row, 1, number, &money).unwrap(),
                Written::Texts | Written::Csv => sheet.write_string(row, 1, price).unwrap(),
            };
        }
        workbook.save(&path).unwrap();
        path
    }

    fn template(&self) -> String {
        let locale = if self.is_declared { LOCALES[self.locale].0 } else { "auto" };
        format!(
            "record = \"item\"\n[sheet]\nlocale = \"{locale}\"\n[fields.externalId]\ncolumn = \"SKU\"\n{}",
            TEMPLATES[self.template]
        )
    }
}

/// Returns the request bodies that would be sent, and the number of records.
fn arrived(path: &Path, template: &str) -> (Vec<serde_json::Value>, u64) {
    let template = load("prices.toml", template, &no_tables).unwrap();
    let source = Source::open(path, &template, None, &Options::default()).unwrap();
    let mut bodies = Vec::new();
    let tally = read(&source, &template, ReadMode::Records, |batch| {
        if batch.restarts {
            bodies.clear();
        }
        bodies.extend(batch.records.into_iter().filter_map(|record| match record.disposition {
            Disposition::Send(body) => Some(serde_json::from_str(&body).unwrap()),
            _ => None,
        }));
        true
    });
    let tally = tally.unwrap();
    (bodies, tally.to_send + tally.rejected)
}

impl Table {
    /// Checks the requests for the rows of a file with this table.
    fn check(&self, path: &Path) -> Result<(), TestCaseError> {
        let table = self;
        let (bodies, records) = arrived(path, &table.template());
        prop_assert_eq!(records, table.prices.len() as u64);
        for body in &bodies {
            let index: usize = body["externalId"].as_str().unwrap().trim_start_matches("A-").parse().unwrap();
            let sent: Decimal = body["price"].to_string().parse().unwrap();
            prop_assert_eq!(sent, table.prices[index], "{:?} as {}", &table, table.text(index));
            let has_currency = match table.written {
                Written::Money => true,
                Written::Csv | Written::Texts => !table.currency.is_empty(),
                Written::Numbers => false,
            };
            prop_assert_eq!(body.get("currency").is_some(), has_currency, "{:?}", body);
        }
        // Numbers of a workbook and numbers of a known locale have one reading.
        if table.is_declared || matches!(table.written, Written::Numbers | Written::Money) {
            prop_assert_eq!(bodies.len(), table.prices.len(), "{:?}", table);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn values_arrive_unchanged_or_are_refused(table in tables()) {
        let folder = TempDir::new().unwrap();
        table.check(&table.save(folder.path()))?;
    }
}

#[test]
fn values_saved_by_another_program_arrive_unchanged_or_are_refused() {
    const TABLES: usize = 60;
    if !environment::has_program("soffice") {
        return;
    }
    let mut runner = TestRunner::deterministic();
    let mut table = || tables().new_tree(&mut runner).unwrap().current();
    let workbooks = std::iter::repeat_with(&mut table).filter(|table| !matches!(table.written, Written::Csv));
    let folder = TempDir::new().unwrap();
    let saved: Vec<(Table, PathBuf)> = workbooks
        .take(TABLES)
        .enumerate()
        .map(|(index, table)| {
            let path = folder.path().join(format!("{index}.xlsx"));
            std::fs::rename(table.save(folder.path()), &path).unwrap();
            (table, path)
        })
        .collect();
    for format in ["ods", "xls"] {
        // One call, because starting the program takes longer than a file.
        let status = Command::new("soffice")
            .arg(format!("-env:UserInstallation=file://{}", folder.path().join("office").display()))
            .args(["--headless", "--convert-to", format, "--outdir"])
            .arg(folder.path())
            .args(saved.iter().map(|(_, path)| path))
            .output()
            .unwrap()
            .status;
        assert!(status.success());
        for (table, path) in &saved {
            if let Err(error) = table.check(&path.with_extension(format)) {
                panic!("{format}: {error}");
            }
        }
    }
}

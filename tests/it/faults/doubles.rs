//! Duplicate keys: all rows with the key are rejected, however far apart.

use std::fmt::Write;
use std::sync::Arc;

use sheetport_ledger::Ledger;
use sheetport_mapping::load::{load, no_tables};
use sheetport_plan::{Source, plan};
use sheetport_sheet as sheet;

use super::{about, assert_adds_up};

const TEMPLATE: &str = r#"
record = "item"
[sheet]
skip_where = { column = "Name", matches = "^Total" }
[fields.externalId]
column = "SKU"
[fields.name]
column = "Name"
[fields.price]
column = "Price"
"#;

/// Plans a sheet of 1500 rows with different keys, some of them replaced. Returns the rejected, skipped and pending records.
async fn planned(replaced: &[(usize, &str)]) -> (u64, u64, u64) {
    let mut csv = String::from("SKU,Name,Price\n");
    for number in 0..1_500 {
        match replaced.iter().find(|(place, _)| *place == number) {
            Some((_, line)) => writeln!(csv, "{line}").unwrap(),
            None => writeln!(csv, "k{number},n,1.00").unwrap(),
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("items.csv");
    std::fs::write(&path, csv).unwrap();
    let template = Arc::new(load("t", TEMPLATE, &no_tables).unwrap());
    let source = Arc::new(Source::open(&path, &template, None, &sheet::Options::default()).unwrap());
    let ledger = Ledger::open(folder.path()).await.unwrap();
    let (run, tally) = plan::plan(&ledger, None, &about(), source, template, 1, &|_| {}).await.unwrap();
    let accounting = ledger.accounting(run).await.unwrap();
    assert_adds_up(&accounting);
    assert_eq!((accounting.total, accounting.rows), (1_500, 1_500));
    assert_eq!(
        (tally.rejected, tally.skipped, tally.to_send),
        (accounting.rejected, accounting.skipped, accounting.pending)
    );
    (accounting.rejected, accounting.skipped, accounting.pending)
}

#[tokio::test]
async fn duplicate_keys_are_rejected_across_batches() {
    assert_eq!(planned(&[]).await, (0, 0, 1_500));
    assert_eq!(planned(&[(5, "x9,n,1"), (7, "x9,n,1")]).await, (2, 0, 1_498));
    assert_eq!(planned(&[(5, "x9,n,1"), (1_400, "x9,n,1")]).await, (2, 0, 1_498));
    assert_eq!(planned(&[(5, "x9,n,1"), (700, "x9,n,1"), (1_400, "x9,n,1")]).await, (3, 0, 1_497));
}

#[tokio::test]
async fn duplicate_of_a_rejected_row_is_rejected_too() {
    assert_eq!(planned(&[(5, "x9,n,oops"), (1_400, "x9,n,1")]).await, (2, 0, 1_498));
    assert_eq!(planned(&[(5, "x9,n,1"), (1_400, "x9,n,oops")]).await, (2, 0, 1_498));
}

#[tokio::test]
async fn skipped_row_does_not_take_a_key() {
    assert_eq!(planned(&[(5, "k1400,Total,1"), (1_400, "k1400,n,1")]).await, (0, 1, 1_499));
}

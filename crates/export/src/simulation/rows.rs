//! The rows of files in all formats, and the changes that a database has noted.

use std::collections::BTreeMap;
use std::path::Path;

use sheetport_datasets::testing;

/// Returns the rows of a file: ID and version.
pub(super) fn rows(path: &Path) -> Vec<(u64, u64)> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("db") => {
            let rows = testing::query(path, "SELECT id, name, price, updated_at FROM items WHERE deleted_at IS NULL");
            rows.iter().map(|row| typed_row(&row[0], &row[1], &row[2])).collect()
        }
        #[cfg(feature = "parquet")]
        Some("parquet") => {
            let value = |row: &[(String, String)], name: &str| {
                row.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone()).expect("a column")
            };
            let rows = testing::parquet_rows(path);
            rows.iter().map(|row| typed_row(&value(row, "id"), &value(row, "name"), &value(row, "price"))).collect()
        }
        _ => {
            let text = std::fs::read_to_string(path).expect("a file");
            let row = |line: &str| {
                let mut texts = line.split('"').skip(3).step_by(4).map(|text| text.parse().expect("a number"));
                (texts.next().expect("an ID"), texts.next().expect("a version"))
            };
            text.lines().map(row).collect()
        }
    }
}

/// Returns ID and version of a row, whose price is a quarter of its version.
fn typed_row(id: &str, name: &str, price: &str) -> (u64, u64) {
    let (id, version): (u64, u64) = (id.parse().expect("an ID"), name.parse().expect("a version"));
    let price: f64 = price.parse().expect("a price");
    assert!((price * 4.0 - version as f64).abs() < 0.001, "{version} {price}");
    (id, version)
}

/// Checks that the last change of each record leads to its row, and that nothing is noted twice.
pub(super) fn check_changes(path: &Path) {
    let deleted: BTreeMap<String, bool> = testing::query(path, "SELECT id, deleted_at IS NOT NULL FROM items")
        .into_iter()
        .map(|row| (row[0].clone(), row[1] == "1"))
        .collect();
    let mut last: BTreeMap<String, String> = BTreeMap::new();
    for row in testing::query(path, "SELECT id, change, before IS NULL, after IS NULL FROM changes ORDER BY rowid") {
        let [id, change, has_no_before, has_no_after] = row.as_slice() else { panic!("{row:?}") };
        let before = last.insert(id.clone(), change.clone());
        assert_eq!((has_no_before == "1", has_no_after == "1"), (change == "added", change == "removed"), "{row:?}");
        // A record of the first export has no earlier change.
        let is_alternating = match before.as_deref() {
            Some("removed") => change == "added",
            Some(_) => change != "added",
            None => true,
        };
        assert!(is_alternating, "{row:?} after {before:?}");
    }
    for (id, is_deleted) in &deleted {
        assert_eq!(last.get(id).is_some_and(|change| change == "removed"), *is_deleted, "{id}");
    }
}

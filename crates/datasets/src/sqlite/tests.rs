//! Databases over several nights, and databases that are not as an export left them.

use std::path::{Path, PathBuf};

use super::{Counts, Database, DatabaseColumn, DatabaseList, Found, Key};
use crate::error::Error;
use crate::kind::{Kind, Value};
use crate::testing::{execute, query};

const ITEMS: &str = "items";

fn list(night: &str, columns: &[(&str, Option<Kind>)], has_positions: bool) -> DatabaseList {
    let column =
        |(name, kind): &(&str, Option<Kind>)| DatabaseColumn::new((*name).to_owned(), Some((*name).to_owned()), *kind);
    DatabaseList {
        table: ITEMS.to_owned(),
        workspace: "shop".to_owned(),
        base_url: "http://service".to_owned(),
        // As a time, it is a text that is no number.
        started: format!("night {night}"),
        columns: columns.iter().map(column).collect(),
        has_positions,
    }
}

/// The columns of [`night`].
const COLUMNS: [(&str, Option<Kind>); 3] = [("id", Some(Kind::Text)), ("price", Some(Kind::NUMBER)), ("note", None)];

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("records.db")
    }

    /// Writes records, id and price, as the whole list of a night.
    fn night(&self, night: &str, records: &[(&str, &str)]) -> Result<Counts, Error> {
        let mut database = match self.path().exists() {
            true => Database::update(&self.path())?,
            false => Database::create(&self.path())?,
        };
        database.begin_list(list(night, &COLUMNS, false), 0)?;
        for (id, price) in records {
            let values = [Value::Text(id), Value::Number(price), Value::Null];
            database.row(Key { id: Some(id), position: 1 }, &values)?;
        }
        let counts =
            database.end_list(Some(records.iter().map(|(id, _)| Database::hash_of(id.as_bytes())).collect()))?;
        database.commit()?;
        Ok(counts)
    }
}

fn rows(path: &Path, sql: &str) -> Vec<String> {
    query(path, sql).iter().map(|row| row.join("|")).collect()
}

#[test]
fn records_are_updated_removed_and_come_back() {
    let place = Place::new();
    let path = place.path();
    assert_eq!(place.night("1", &[("a", "1.50"), ("b", "2")]).ok(), Some(Counts { added: 2, changed: 0, removed: 0 }));
    assert_eq!(place.night("2", &[("a", "1.5"), ("b", "2")]).ok(), Some(Counts::default()), "the same values");
    assert_eq!(place.night("3", &[("c", "3"), ("a", "9")]).ok(), Some(Counts { added: 1, changed: 1, removed: 1 }));
    assert_eq!(place.night("4", &[("a", "9")]).ok(), Some(Counts { added: 0, changed: 0, removed: 1 }));
    assert_eq!(place.night("5", &[("a", "9"), ("b", "2.25")]).ok(), Some(Counts { added: 1, changed: 0, removed: 0 }));
    assert_eq!(rows(&path, "SELECT id, price, deleted_at FROM items ORDER BY id"), ["a|9|", "b|2.25|", "c|3|night 4"]);
    assert_eq!(
        rows(&path, "SELECT at, change, id, before, after FROM changes"),
        [
            r#"night 3|added|c||{"id":"c","price":3}"#,
            r#"night 3|changed|a|{"price":1.5}|{"price":9}"#,
            r#"night 3|removed|b|{"id":"b","price":2}|"#,
            r#"night 4|removed|c|{"id":"c","price":3}|"#,
            r#"night 5|added|b||{"id":"b","price":2.25}"#,
        ]
    );
    assert_eq!(rows(&path, "PRAGMA integrity_check"), ["ok"]);
    assert!(!path.with_added_extension("journal").exists());
}

#[test]
fn elements_have_a_row_each_and_are_removed_one_by_one() {
    let place = Place::new();
    let path = place.path();
    let columns = [("id", Some(Kind::Text)), ("sku", Some(Kind::Text))];
    let night = |night: &str, records: &[(&str, &[&str])], present: &[&str]| {
        let mut database = match path.exists() {
            true => Database::update(&path).expect("opened"),
            false => Database::create(&path).expect("created"),
        };
        database.begin_list(list(night, &columns, true), 0).expect("begun");
        for (id, skus) in records {
            for (position, sku) in (1..).zip(*skus) {
                database.row(Key { id: Some(id), position }, &[Value::Text(id), Value::Text(sku)]).expect("written");
            }
        }
        database.end_list(Some(present.iter().map(|id| Database::hash_of(id.as_bytes())).collect())).expect("ended");
        database.commit().expect("committed");
    };
    night("1", &[("a", &["x", "y"]), ("b", &["z"])], &["a", "b"]);
    // Only the changed record is written.
    night("2", &[("a", &["w"])], &["a", "b"]);
    let all = "SELECT id, position, sku, deleted_at FROM items ORDER BY id, position";
    assert_eq!(rows(&path, all), ["a|1|w|", "a|2|y|night 2", "b|1|z|"]);
    night("3", &[], &["a"]);
    assert_eq!(rows(&path, all), ["a|1|w|", "a|2|y|night 2", "b|1|z|night 3"]);
    assert_eq!(
        rows(&path, "SELECT at, id, position, change FROM changes"),
        ["night 2|a|1|changed", "night 2|a|2|removed", "night 3|b|1|removed"]
    );
}

#[test]
fn new_columns_come_last_and_names_differ_in_more_than_case() {
    let place = Place::new();
    let path = place.path();
    place.night("1", &[("a", "1")]).expect("written");
    for night in ["2", "3"] {
        let mut database = Database::update(&path).expect("opened");
        let more = [("Price", Some(Kind::Text)), ("deleted_at", Some(Kind::Boolean)), ("a \"quoted\" name", None)];
        let columns: Vec<_> = COLUMNS.into_iter().chain(more).collect();
        database.begin_list(list(night, &columns, false), 0).expect("begun");
        let values =
            [Value::Text("a"), Value::Null, Value::Number("1"), Value::Text("x"), Value::Boolean(true), Value::Null];
        database.row(Key { id: Some("a"), position: 1 }, &values).expect("written");
        database.end_list(None).expect("ended");
        database.commit().expect("committed");
    }
    assert_eq!(
        rows(&path, "SELECT name, type FROM pragma_table_info('items')"),
        [
            "id|TEXT",
            "price|NUMERIC",
            "note|",
            "deleted_at|TIMESTAMP",
            "Price (2)|TEXT",
            "deleted_at (2)|BOOLEAN",
            "a \"quoted\" name|"
        ]
    );
    assert_eq!(rows(&path, "SELECT \"Price (2)\", \"deleted_at (2)\", note FROM items"), ["x|1|1"]);
    let found = Found::inspect(&path).expect("ours").expect("a database");
    let kinds: Vec<Option<Kind>> = found.list(ITEMS).expect("items").columns.iter().map(|column| column.kind).collect();
    assert_eq!(kinds[..3], [Some(Kind::Text), Some(Kind::NUMBER), None]);
}

#[test]
fn a_failure_leaves_the_database_as_it_was() {
    let place = Place::new();
    let path = place.path();
    place.night("1", &[("a", "1"), ("b", "2")]).expect("written");
    execute(
        &path,
        "CREATE TABLE mine (a); INSERT INTO mine VALUES (7); CREATE VIEW cheap AS SELECT id FROM items WHERE price < 2",
    );
    let before = std::fs::read(&path).expect("a file");
    let refused = place.night("2", &[("a", "5"), ("b", "many")]);
    assert!(
        matches!(&refused, Err(Error::Value { column, value }) if column == "price" && value == "many"),
        "{refused:?}"
    );
    let mut database = Database::update(&path).expect("opened");
    database.begin_list(list("2", &COLUMNS, false), 0).expect("begun");
    let no_id = database.row(Key { id: None, position: 1 }, &[Value::Null, Value::Null, Value::Null]);
    assert!(matches!(no_id, Err(Error::NoId { .. })));
    drop(database);
    // A full disk, as the database sees it.
    let mut database = Database::update(&path).expect("opened");
    database.limit_pages();
    database.begin_list(list("2", &COLUMNS, false), 0).expect("begun");
    let long = "x".repeat(1 << 20);
    let full = database.row(Key { id: Some("c"), position: 1 }, &[Value::Text("c"), Value::Null, Value::Text(&long)]);
    assert!(matches!(&full, Err(Error::Write(error)) if error.kind() == std::io::ErrorKind::StorageFull), "{full:?}");
    drop(database);
    assert!(std::fs::read(&path).expect("a file") == before, "nothing has changed");
    // What others have made stays.
    place.night("3", &[("b", "1")]).expect("written");
    assert_eq!(rows(&path, "SELECT a FROM mine"), ["7"]);
    assert_eq!(rows(&path, "SELECT id FROM cheap ORDER BY id"), ["a", "b"]);
}

#[test]
fn readers_see_the_state_before_until_the_end() {
    let place = Place::new();
    let path = place.path();
    place.night("1", &[("a", "1")]).expect("written");
    let mut database = Database::update(&path).expect("opened");
    database.begin_list(list("2", &COLUMNS, false), 0).expect("begun");
    database
        .row(Key { id: Some("a"), position: 1 }, &[Value::Text("a"), Value::Number("2"), Value::Null])
        .expect("written");
    assert_eq!(rows(&path, "SELECT price FROM items"), ["1"]);
    database.commit().expect("committed");
    assert_eq!(rows(&path, "SELECT price FROM items"), ["2"]);
    // A copy of the file alone is whole.
    let copy = place.folder.path().join("copy.db");
    std::fs::copy(&path, &copy).expect("copied");
    assert_eq!(rows(&copy, "SELECT price FROM items"), ["2"]);
}

#[test]
fn databases_of_others_are_recognized() {
    let place = Place::new();
    let path = place.path();
    let inspect = || Found::inspect(&path);
    assert!(matches!(inspect(), Ok(None)), "no file");
    std::fs::write(&path, "").expect("written");
    assert!(matches!(inspect(), Ok(None)), "a reserved name");
    std::fs::write(&path, "a text of somebody else, longer than the header of a database").expect("written");
    assert!(matches!(inspect(), Err(Error::Foreign)), "{:?}", inspect().err());
    std::fs::remove_file(&path).expect("removed");
    execute(&path, "CREATE TABLE items (id)");
    assert!(matches!(inspect(), Err(Error::Foreign)));
    std::fs::remove_file(&path).expect("removed");
    place.night("1", &[("a", "1")]).expect("written");
    let found = inspect().expect("ours").expect("a database");
    assert!(found.check(ITEMS, "shop", "http://service").is_ok());
    assert!(matches!(found.check(ITEMS, "other", "http://service"), Err(Error::OtherOrigin { .. })));
    execute(&path, "CREATE VIEW Orders AS SELECT 1");
    let found = inspect().expect("ours").expect("a database");
    assert!(matches!(found.check("orders", "shop", "http://service"), Err(Error::ForeignTable { .. })));
    execute(&path, "ALTER TABLE items ADD COLUMN mine TEXT");
    assert!(inspect().is_ok(), "a further column does no harm");
    execute(&path, "ALTER TABLE items RENAME COLUMN price TO cost");
    assert!(matches!(inspect(), Err(Error::ChangedColumn { column, .. }) if column == "price"));
}

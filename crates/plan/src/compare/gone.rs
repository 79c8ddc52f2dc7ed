//! The records of the service's list that a complete file lacks.

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;

use sheetport_client::pages::{Completeness, Entry, unescaped};
use sheetport_mapping::Template;
use sheetport_mapping::missing::{Missing, SetField};
use sheetport_records::{Input, listed_name};

use super::difference::WhyNot;
use super::request_body::object;
use super::service_list::{Connection, ListReader, list_of};
use crate::plan::{FileKeys, GoneRecord};

/// Looks at a list that changes while it is read.
const LOOKS: usize = 3;

/// What a file lacks of the records that a filter selects.
#[derive(Debug, Default)]
pub struct Gone {
    /// The selected records that do not have the values to set.
    pub selected: u64,
    /// Those of them that the file lacks, by identifier.
    pub records: Vec<GoneRecord>,
    /// Those that may be in the file under a similar identifier, or are twice in the list. Nothing is set in them.
    pub alike: Vec<Alike>,
}

/// A record whose identifier may be confused with another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alike {
    pub key: Box<str>,
    /// The first row of the file with the similar identifier. `None`: the service lists the record's own twice.
    pub row: Option<u64>,
}

/// Why it is not known which records a file lacks.
#[derive(Debug, thiserror::Error)]
pub enum WhyNotGone {
    #[error(transparent)]
    NotRead(#[from] WhyNot),
    #[error("the service's list does not show {0}")]
    NotShown(String),
    #[error("the condition of [missing] can't be evaluated for the record {key}: {reason}")]
    Filter { key: String, reason: String },
}

/// Reads the service's list, and finds the selected records that the file lacks. A list that changes meanwhile is read again.
///
/// # Errors
/// If it can't be known for each selected record whether the file has it.
pub fn find_gone<'a>(
    template: &'a Template,
    (missing, set): (&'a Missing, &'a [SetField]),
    keys: &'a FileKeys,
    connection: &'a Connection<'a>,
    progress: &'a (dyn Fn(u64, u64) + Sync),
) -> BoxFuture<'a, Result<Gone, WhyNotGone>> {
    Box::pin(async move {
        let mut looks = 1;
        loop {
            let mut search = Search::new(template, (missing, set), keys);
            match read(&mut search, template, connection, progress).await {
                Err(WhyNotGone::NotRead(WhyNot::Incomplete(_))) if looks < LOOKS => looks += 1,
                Err(why) => return Err(why),
                Ok(()) => return Ok(search.finish()),
            }
        }
    })
}

async fn read(
    search: &mut Search<'_>,
    template: &Template,
    connection: &Connection<'_>,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<(), WhyNotGone> {
    let (list, _) = list_of(template.record).ok_or(WhyNot::NoKeys)?;
    let mut reader = ListReader::new(connection, list);
    while !reader.is_over() {
        let pages = reader.pages().await.map_err(WhyNot::Failed)?;
        for entry in pages.iter().flat_map(|page| page.entries()) {
            search.add(&entry)?;
        }
        progress(reader.next - 1, reader.next - 1 + reader.pages_left());
    }
    reader.finish().await;
    if let Completeness::Moved(reason) | Completeness::Unproven(reason) = reader.walk.completeness() {
        return Err(WhyNot::Incomplete(reason).into());
    }
    Ok(())
}

/// The entries of the list so far.
struct Search<'a> {
    template: &'a Template,
    input: &'static Input,
    missing: &'a Missing,
    set: &'a [SetField],
    keys: &'a FileKeys,
    /// Members of the filter by name in the template, as in [`Missing::members`].
    members: Vec<(&'a str, String)>,
    /// By identifier; `None` for one that is in the list twice.
    records: BTreeMap<Box<str>, Option<Box<str>>>,
    result: Gone,
}

impl<'a> Search<'a> {
    fn new(template: &'a Template, (missing, set): (&'a Missing, &'a [SetField]), keys: &'a FileKeys) -> Search<'a> {
        let (input, members) = (template.record.input(), missing.members().collect());
        Search { template, input, missing, set, keys, members, records: BTreeMap::new(), result: Gone::default() }
    }

    /// Adds an entry of the list.
    fn add(&mut self, entry: &Entry<'_>) -> Result<(), WhyNotGone> {
        let key_name = self.input.key.first().copied().unwrap_or_default();
        let Some(key_json) = entry.field(&listed_name(key_name)) else { return Err(WhyNot::NoKeys.into()) };
        let values: Vec<Option<&str>> = self.members.iter().map(|(_, member)| entry.field(member)).collect();
        if let Some(place) = values.iter().position(Option::is_none) {
            return Err(WhyNotGone::NotShown(self.members[place].0.to_owned()));
        }
        let key = unescaped(key_json);
        // A record without an identifier of one's own can't be set by it, and no file can have it.
        if !key_json.starts_with('"') || key.trim().is_empty() {
            return Ok(());
        }
        let selects = self.missing.selects(&values, &self.template.parameters);
        if !selects.map_err(|reason| WhyNotGone::Filter { key: key.clone().into_owned(), reason })? {
            return Ok(());
        }
        let mut has_all = true;
        for SetField { field, value } in self.set {
            let json = entry.field(&listed_name(field)).ok_or_else(|| WhyNotGone::NotShown(field.clone()))?;
            has_all &= json.starts_with('"') && unescaped(json) == value.as_str();
        }
        if has_all {
            return Ok(());
        }
        self.result.selected += 1;
        if self.keys.has(&key) {
            return Ok(());
        }
        if let Some(row) = self.keys.row_alike(&key) {
            self.result.alike.push(Alike { key: key.into(), row: Some(row) });
            return Ok(());
        }
        let body = self.body(key_name, key_json);
        self.records.entry(key.into()).and_modify(|known| *known = None).or_insert(Some(body));
        Ok(())
    }

    /// Returns the request that sets the fields of a record and leaves its others as they are.
    fn body(&self, key_name: &str, key_json: &str) -> Box<str> {
        let texts: Vec<(&str, String)> = self
            .input
            .fields()
            .filter_map(|field| self.set.iter().find(|set| set.field == field.name))
            .map(|set| (set.field.as_str(), serde_json::Value::from(set.value.as_str()).to_string()))
            .collect();
        object(std::iter::once((key_name, key_json)).chain(texts.iter().map(|(name, json)| (*name, json.as_str()))))
    }

    fn finish(self) -> Gone {
        let mut gone = self.result;
        for (key, body) in self.records {
            match body {
                Some(body) => gone.records.push(GoneRecord { key, body }),
                None => gone.alike.push(Alike { key, row: None }),
            }
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use sheetport_mapping::load::{load, no_tables};

    use super::*;
    use crate::plan::{Source, file_keys};

    const TEMPLATE: &str = "record = \"item\"\n[missing]\nset = { status = \"inactive\" }\n\
                            where = 'externalId | starts_with(\"A\")'\n[fields.externalId]\ncolumn = \"SKU\"\n\
                            [fields.price]\ncolumn = \"Price\"\n";

    fn search(rows: &str, entries: &[&str]) -> Result<Gone, WhyNotGone> {
        let template = load("t.toml", TEMPLATE, &no_tables).expect("a template");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("f.csv");
        std::fs::write(&path, format!("SKU,Price\n{rows}")).expect("written");
        let source = Source::open(&path, &template, None, &Default::default()).expect("a file");
        let keys = file_keys(&source, &template).expect("read");
        let missing = template.missing.as_ref().expect("a table");
        let mut search = Search::new(&template, (missing, &missing.set), &keys);
        for entry in entries {
            search.add(&Entry::new(entry))?;
        }
        Ok(search.finish())
    }

    fn entry(key: &str, status: &str) -> String {
        format!(r#"{{"id":"u","external_id":"{key}","name":"x","status":"{status}"}}"#)
    }

    #[test]
    fn only_what_the_file_surely_lacks_is_gone() {
        for (rows, key, status, expected) in [
            ("A-1,1\n", "A-1", "active", "there"),
            ("A-1,x\n", "A-1", "active", "there"),
            ("A-2,1\n", "A-1", "active", "gone"),
            ("A-2,1\n", "A-1", "inactive", "not selected"),
            ("A-2,1\n", "B-1", "active", "not selected"),
            ("a-1,1\n", "A-1", "active", "alike 2"),
            ("A-2,1\nA 1,1\n", "A-1", "active", "alike 3"),
            ("A-2,1\n\"A-1 \",1\n", "A-1", "active", "alike 3"),
        ] {
            let found = search(rows, &[&entry(key, status)]).expect("known");
            let told = match (found.selected, found.records.as_slice(), found.alike.as_slice()) {
                (0, [], []) => "not selected".to_owned(),
                (1, [], []) => "there".to_owned(),
                (1, [gone], []) => {
                    assert_eq!(&*gone.body, format!(r#"{{"externalId":"{key}","status":"inactive"}}"#));
                    "gone".to_owned()
                }
                (1, [], [alike]) => format!("alike {}", alike.row.expect("a row")),
                other => format!("{other:?}"),
            };
            assert_eq!(told, expected, "{rows} {key} {status}");
        }
    }

    #[test]
    fn a_list_that_does_not_show_enough_says_nothing() {
        for (entry, why) in [
            (r#"{"id":"u","status":"active"}"#, "does not show by which number a record was uploaded"),
            (r#"{"id":"u","external_id":"A-1"}"#, "does not show status"),
        ] {
            let refused = search("A-2,1\n", &[entry]).expect_err("refused");
            assert!(refused.to_string().contains(why), "{refused}");
        }
        let found = search("A-2,1\n", &[r#"{"id":"u","external_id":null,"status":"active"}"#]).expect("known");
        assert_eq!(found.selected, 0, "no file can have it");
        let twice = search("A-2,1\n", &[&entry("A-1", "active"), &entry("A-1", "active")]).expect("known");
        assert_eq!((twice.records.len(), twice.alike), (0, vec![Alike { key: "A-1".into(), row: None }]));
    }
}
